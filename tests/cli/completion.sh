# Completion: the scripts parse, and bash offers what it should.
scripts=$case_folder/../../completion
if ! command -v bash > /dev/null; then
  echo 'skip: no bash here'
  exit
fi
bash -n "$scripts/headwater.bash" && echo 'bash parses'
# Where the other shells are not installed their scripts go unchecked.
if command -v zsh > /dev/null; then zsh -n "$scripts/_headwater" || echo 'zsh does not parse'; fi
if command -v fish > /dev/null; then fish -n "$scripts/headwater.fish" || echo 'fish does not parse'; fi
mkdir bin
ln -s "$program" bin/headwater
offer() {
  PATH=$PWD/bin:$PATH bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _headwater; printf "%s " "${COMPREPLY[@]}"; echo' bash "$scripts/headwater.bash" headwater "$@"
}
offer id
offer --v
offer identify --me
offer identify --format ''
offer identify --method at
offer compare --methods po
offer simulate --format n
offer identify data/ca
offer identify --plot data/ca
echo '# every option a verb has is offered'
headwater identify --help | grep -oE '^  --[a-z-]+' | tr -d ' ' | while read -r option; do
  headwater identify --complete | grep -q "^$option	" || echo "missing: $option"
done
