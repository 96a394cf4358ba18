# Makes the man pages of a header: backoff(3) from the first comment of backoff.h, and a page for each function, struct and
# enumeration from the comment before it, and those of its fields and numbers.
# Call: awk -v folder=man3 -v version=1.0.0 -v header=backoff.h -f man.awk backoff.h

function plain(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.']/)
        text = "\\\&" text
    return text
}

# Text that is filled anyway, in lines that mandoc likes.
function fold(text, page,    words, count, i, line) {
    count = split(text, words, " ")
    line = ""
    for (i = 1; i <= count; i++) {
        if (line != "" && length(line) + length(words[i]) > 76) {
            print plain(line) >page
            line = ""
        }
        line = line (line == "" ? "" : " ") words[i]
    }
    if (line != "")
        print plain(line) >page
}

function title(name) {
    return ".TH " toupper(name) " 3 \"2026-11-21\" \"libbackoff " version "\" \"Library functions\""
}

# The first comment: NAME, and the rest as it stands, examples included.
/^\/\*$/ && header != "backoff.h" && !overview { overview = skipped = 1; next }
skipped { skipped = !/^ \*\/$/; next }
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
/^\/\*\* .* \*\/$/ { text[1] = substr($0, 5, length($0) - 7); count = 1; next }
/^\/\*\*$/ { count = 0; comment = 1; next }
comment && /^ \*\/$/ { comment = 0; next }
comment { line = $0; sub(/^ \* ?/, "", line); text[++count] = line; next }
# The same inside of a body, further in.
body && /^ +\/\*\* .* \*\/$/ {
    text[1] = $0
    sub(/^ +\/\*\* /, "", text[1])
    sub(/ \*\/$/, "", text[1])
    count = 1
    next
}
body && /^ +\/\*\*$/ { count = 0; inner = 1; next }
body && inner && /^ +\*\/$/ { inner = 0; next }
body && inner { line = $0; sub(/^ +\* ?/, "", line); text[++count] = line; next }

# A declaration at the left margin with a parenthesis is a function; it ends with a semicolon, or with its body. What it
# tells the compiler besides is not for readers.
/^[a-z].*\(/ { declaration = ""; declaring = 1 }
declaring {
    line = $0
    sub(/ BACKOFF_DIRECT;$/, ";", line)
    declaration = declaration line "\n"
    if (/;$/ || (/^static inline .*\)$/)) {
        declaring = 0
        write_page()
    }
    next
}
# A struct or an enumeration: what its fields or numbers are, until its brace.
/^(struct|enum) [a-z_]+ ?\{?$/ || /^typedef struct [a-z_]+ \{/ { start_body() }
body && /^}/ { end_body(); count = 0; next }
body && /^ +[A-Za-z].*[;,]$/ { member($0); count = 0; next }
body { next }
/^BACKOFF_CHECKED$/ { next }
/^[^ ]/ { count = 0 }

function write_page(    name, page, i, line, first) {
    name = declaration
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    page = folder "/" name ".3"
    first = text[1]
    sub(/[:.,].*/, "", first)
    print title(name) "\n.SH NAME\n" name " \\- " plain(first) >page
    print ".SH SYNOPSIS\n.nf\n.B #include <" header ">\n" >page
    sub(/\n$/, "", declaration)
    print plain(declaration) (declaration ~ /;$/ ? "" : ";") "\n.fi\n.SH DESCRIPTION" >page
    parameters = blank = 0
    fresh = 1
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
            fresh = 1
            continue
        }
        sub(/^ +/, "", line)
        if (line == "") {
            blank = 1
            continue
        }
        # A paragraph that follows nothing, or a heading, is none.
        if (blank && !fresh && text[i] !~ /^(@|# )/)
            print ".PP" >page
        blank = fresh = 0
        fold(line, page)
    }
    print ".SH SEE ALSO\n.BR backoff (3)" >page
    close(page)
    count = 0
}

function start_body(    name, first, i) {
    if (!count || body)
        return
    name = $2 == "struct" ? $3 : $2
    sub(/\{.*/, "", name)
    kept = name
    body_page = folder "/" name ".3"
    body = 1
    first = text[1]
    sub(/[:.,].*/, "", first)
    print title(name) "\n.SH NAME\n" name " \\- " plain(first) >body_page
    print ".SH SYNOPSIS\n.nf\n.B #include <" header ">\n" >body_page
    print ($1 == "enum" ? "enum " : "struct ") name ";\n.fi\n.SH DESCRIPTION" >body_page
    for (i = 1; i <= count; i++) {
        if (text[i] == "" && i < count)
            print ".PP" >body_page
        else
            fold(text[i], body_page)
    }
    print ".SH " ($1 == "enum" ? "VALUES" : "FIELDS") >body_page
    count = 0
}

function member(line,    i) {
    sub(/^ +/, "", line)
    sub(/[;,]$/, "", line)
    print ".TP\n.B " plain(line) >body_page
    for (i = 1; i <= count; i++) {
        if (text[i] == "" && i < count)
            print ".IP" >body_page
        else
            fold(text[i], body_page)
    }
    if (!count)
        print "As its name says." >body_page
}

function end_body() {
    print ".SH SEE ALSO\n.BR backoff (3)" >body_page
    close(body_page)
    body = 0
}
