# fish completion for headwater. The program itself lists verbs, options and values (--complete).
function __headwater_verb
    set -l words (commandline -opc)
    test (count $words) -ge 2; and echo $words[2]
end
function __headwater_no_verb
    test (count (commandline -opc)) -eq 1
end
function __headwater_options
    set -l verb (__headwater_verb)
    test -n "$verb"; and headwater $verb --complete 2>/dev/null | cut -f 1,2
end
# The values of the option before the cursor; a word in capitals names a kind of value, not a value.
function __headwater_values
    set -l words (commandline -opc)
    set -l verb (__headwater_verb)
    headwater $verb --complete 2>/dev/null | while read -l -d \t name help values
        if test "$name" = "$words[-1]"; and not string match -qr '[A-Z]' -- "$values"
            string split ' ' -- $values
        end
    end
end
complete -c headwater -n __headwater_no_verb -f -a '(headwater --complete 2>/dev/null)'
complete -c headwater -n __headwater_no_verb -f -a '--help --version'
complete -c headwater -n 'not __headwater_no_verb' -a '(__headwater_values)'
complete -c headwater -n 'not __headwater_no_verb; and string match -q -- "-*" (commandline -ct)' -f -a '(__headwater_options)'
