
# Names of labs, stations and programs, keys and their values: ethbus itself says which may stand here.
function __fish_ethbus_names
    set -l line (commandline -opc) (commandline -ct)
    command $line[1] __names $line 2>/dev/null
end
complete -c ethbus -f -n 'count (__fish_ethbus_names) >/dev/null' -a '(__fish_ethbus_names)'
