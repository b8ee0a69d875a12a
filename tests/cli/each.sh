# With --each an estimate comes out before the next reading goes in: a live pipe works.
mkfifo in out
"$program" identify data/river.yaml - --method atgd --each < in > out &
exec 3> in 4< out
echo 'time_s,sensor,concentration_g_m3' >&3
n=0
while [ $n -lt 5 ]; do
  n=$((n + 1))
  echo "$((n * 100)),s1,0.00$n" >&3
  read -r line <&4
  echo "$line" | sed -E 's/.*("readings": [0-9]+).*/after row '$n': \1/'
done
exec 3>&-
read -r line <&4 || echo 'end'
wait $!
echo "exit $?"
echo '# every line is one JSON object with all its keys'
printf 'time_s,sensor,concentration_g_m3\n0,s1,0.001\n' | headwater identify data/river.yaml - --method atgd --each | tr ',' '\n' | grep -o '"[a-z_]*":' | tr '\n' ' '
