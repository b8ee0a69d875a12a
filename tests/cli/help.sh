# Help, version and the list of methods.
try --version
headwater --help | head -n 3
for verb in identify compare simulate methods; do
  headwater "$verb" --help | sed -n '1p;3p'
done
echo '# the learners of the paper are there'
headwater methods | awk '{ print $1 }' | grep -E '^a?p?m?p?tgd$' | tr '\n' ' '
echo
headwater methods --format json | head -n 2
echo '# every verb is in the help'
headwater --complete | cut -f 1 | while read -r verb; do headwater --help | grep -q "^  $verb " || echo "missing: $verb"; done
