
# Names of labs, stations and programs: ethbus itself says which may stand here.
_ethbus_names() {
    local name names=()
    while IFS= read -r name; do
        names+=("$name")
    done < <(command "$1" __names "${COMP_WORDS[@]:0:COMP_CWORD}" "$2" 2>/dev/null)
    if [[ ${#names[@]} -gt 0 ]]; then
        COMPREPLY=("${names[@]}")
    else
        _ethbus "$@"
    fi
}

