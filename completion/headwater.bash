# bash completion for headwater. The program itself lists verbs, options and values (--complete).
_headwater() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]} values
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" --complete 2> /dev/null | cut -f 1) --help --version" -- "$current")
    return
  fi
  if [[ $previous == --* ]]; then
    values=$("$program" "${COMP_WORDS[1]}" --complete 2> /dev/null | awk -F '\t' -v option="$previous" '$1 == option { print $3 }')
    # A word in capitals names a kind of value, not a value.
    if [[ $values && $values != *[A-Z]* ]]; then
      mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
      return
    fi
  fi
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$("$program" "${COMP_WORDS[1]}" --complete 2> /dev/null | cut -f 1)" -- "$current")
    return
  fi
  compopt -o filenames 2> /dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$current")
}
complete -F _headwater headwater
