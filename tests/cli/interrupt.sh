# Ctrl-C ends the readings: the estimate so far comes out, with a note, and the exit code is 130.
mkfifo in
# A shell's background job ignores SIGINT; env gives it back.
env --default-signal=INT "$program" identify data/river.yaml - --method atgd --format json < in > answer.json 2> stderr &
child=$!
exec 3> in
printf 'time_s,sensor,concentration_g_m3\n0,s1,0.001\n300,s1,0.002\n' >&3
sleep 0.5
kill -INT $child
wait $child
echo "exit $?"
cat stderr
grep -E '"readings"|interrupted' answer.json
