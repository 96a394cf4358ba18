# Makes the man pages from backoff.h, which is the manual: backoff(3) from its first comment, and a page for each
# function from the comment before it. Call: awk -v folder=man3 -v version=0.1.0 -f man.awk backoff.h

function plain(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.']/)
        text = "\\\&" text
    return text
}

function title(name) {
    return ".TH " toupper(name) " 3 \"\" \"libbackoff " version "\" \"Library functions\""
}

# The first comment: NAME, and the rest as it stands, examples included.
/^\/\*$/ && !overview { inside = overview = 1; page = folder "/backoff.3"; next }
inside && /^ \*\/$/ {
    print ".fi\n.SH SEE ALSO\nThe pages of the functions, such as\n.BR backoff_collide (3)\nand\n.BR backoff_retry_fail (3)." >page
    close(page)
    inside = 0
    next
}
inside {
    line = $0
    sub(/^ \* ?/, "", line)
    if (!named) {
        sub(/^libbackoff: /, "", line)
        print title("backoff") "\n.SH NAME\nbackoff \\- " plain(line) "\n.SH DESCRIPTION\n.nf" >page
        named = 1
    } else
        print plain(line) >page
    next
}

# A comment is kept until it is known what follows it.
/^\/\*\*$/ { count = 0; comment = 1; next }
comment && /^ \*\/$/ { comment = 0; next }
comment { line = $0; sub(/^ \* ?/, "", line); text[++count] = line; next }

# A declaration at the left margin with a parenthesis is a function; it ends with a semicolon, or with its body.
/^[a-z].*\(/ { declaration = ""; declaring = 1 }
declaring {
    declaration = declaration $0 "\n"
    if (/;$/ || /\)$/) {
        declaring = 0
        write_page()
    }
    next
}
/^[^ ]/ { count = 0 }

function write_page(    name, page, i, line, first) {
    name = declaration
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    page = folder "/" name ".3"
    first = text[1]
    sub(/[:.,].*/, "", first)
    print title(name) "\n.SH NAME\n" name " \\- " plain(first) >page
    print ".SH SYNOPSIS\n.nf\n.B #include <backoff.h>\n" >page
    sub(/\n$/, "", declaration)
    print plain(declaration) (declaration ~ /;$/ ? "" : ";") "\n.fi\n.SH DESCRIPTION" >page
    parameters = 0
    for (i = 1; i <= count; i++) {
        line = text[i]
        if (line ~ /^@param /) {
            if (!parameters++)
                print ".SH PARAMETERS" >page
            sub(/^@param /, "", line)
            match(line, /^[a-z_]+/)
            print ".TP\n.I " substr(line, 1, RLENGTH) >page
            line = substr(line, RLENGTH + 1)
        } else if (line ~ /^@return /) {
            print ".SH RETURN VALUE" >page
            sub(/^@return /, "", line)
        } else if (line ~ /^# Safety/) {
            print ".SH SAFETY" >page
            continue
        }
        sub(/^ +/, "", line)
        print line == "" ? ".PP" : plain(line) >page
    }
    print ".SH SEE ALSO\n.BR backoff (3)" >page
    close(page)
    count = 0
}
