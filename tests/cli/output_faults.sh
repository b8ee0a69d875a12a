# A full disk is the machine's fault (3); a reader that went away is nobody's: quiet.
if ! [ -c /dev/full ]; then
  echo 'skip: no /dev/full here'
  exit
fi
headwater simulate data/river.yaml --source 1234,-5670,-9000 > readings.csv
full() { "$program" "$@" 2>&1 > /dev/full; echo "exit $?"; }
full methods
full --help
full --version
full identify --help
full simulate data/river.yaml --source 1234,-5670,-9000
full identify data/river.yaml readings.csv --method atgd
full identify data/river.yaml readings.csv --method atgd --each
full compare data/river.yaml readings.csv --methods atgd,tgd
echo '# closed pipe'
"$program" simulate data/river.yaml --source 1234,-5670,-9000 --every 0.01 2> stderr | head -n 1
cat stderr
"$program" identify data/river.yaml readings.csv --method atgd --each 2> stderr | head -c 10
echo
cat stderr
