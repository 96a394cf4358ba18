# Names of labs, stations and programs: ethbus itself says which may stand here.
_ethbus_names() {
    local -a line names
    line=("${(@Q)${(z)LBUFFER}}")
    [[ $LBUFFER == *[[:space:]] ]] && line+=('')
    names=("${(@f)$("${line[(r)*ethbus]}" __names "${line[@]}" 2>/dev/null)}")
    names=("${(@)names:#}")
    if (( ${#names} )); then
        compadd -a names
    else
        _default
    fi
}

