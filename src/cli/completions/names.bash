
# Names of labs, stations and programs, keys and their values: ethbus itself says which may stand here.
_ethbus_names() {
    local name names=() words=() line=${COMP_LINE-} before word i
    # Bash breaks words at `=` and `:`; here they are whole again.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        before=${line%%"$word"*}
        [[ -z $word ]] && before=$line
        line=${line#*"$word"}
        [[ $i -eq $COMP_CWORD && $word != [=:]* ]] && word=$2
        if [[ ${#words[@]} -gt 0 && $before != *[[:space:]]* && ($word == [=:]* || ${words[-1]} == *[=:]) ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    # What comes before the part that bash completes.
    before=${words[-1]%"$2"}
    [[ $before == --*=* ]] && before=${before#*=}
    while IFS= read -r name; do
        names+=("${name#"$before"}")
    done < <(command "$1" __names "${words[@]}" 2>/dev/null)
    if [[ ${#names[@]} -gt 0 ]]; then
        COMPREPLY=("${names[@]}")
        # More follows `key=` and `replay:`.
        [[ ${#names[@]} -eq 1 && ${names[0]} == *[=:] ]] && compopt -o nospace 2>/dev/null
        return 0
    else
        _ethbus "$@"
    fi
}

