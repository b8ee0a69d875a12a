# Memory does not grow with the readings: what the program holds after 150,000 of them is what it holds at the end.
# HEADWATER_TEST_ROWS=20000000 makes it a stream of 300 MB.
if ! [ -r /proc/self/status ]; then
  echo 'skip: no /proc here'
  exit
fi
mkfifo in
"$program" identify data/river.yaml - --method tgd --window 1 --iterations 1 --format json < in > answer.json &
child=$!
exec 3> in
rows() { awk -v from="$1" -v to="$2" 'BEGIN { for (i = from; i < to; i++) printf "%d,s%d,0.00%02d\n", i / 2, 1 + i % 2, i % 97 }' >&3; }
peak_kb() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$child/status"; }
echo 'time_s,sensor,concentration_g_m3' >&3
rows 0 150000
early=$(peak_kb)
rows 150000 "${HEADWATER_TEST_ROWS:-250000}"
late=$(peak_kb)
exec 3>&-
wait $child
echo "exit $?"
grep -o '"readings": [0-9]*' answer.json
[ "$late" -lt $((early + 8192)) ] && echo 'memory steady' || echo "grew from $early to $late kB"
