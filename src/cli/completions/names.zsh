# Names of labs, stations and programs, keys and their values: ethbus itself says which may stand here.
_ethbus_names() {
    local -a line names
    line=("${(@Q)${(z)LBUFFER}}")
    [[ $LBUFFER == *[[:space:]] ]] && line+=('')
    names=("${(@f)$("${line[(r)*ethbus]}" __names "${line[@]}" 2>/dev/null)}")
    names=("${(@)names:#}")
    if (( ${#names} )); then
        local -a begun
        # More follows `key=` and `replay:`.
        begun=("${(@M)names:#*[=:]}")
        names=("${(@)names:#*[=:]}")
        (( ${#begun} )) && compadd -S '' -a begun
        (( ${#names} )) && compadd -a names
        return 0
    else
        _default
    fi
}

