# Every kind of bad readings file has its sentence, its line and exit code 1.
with() {
  printf '%b' "$1" > readings.csv
  try identify data/river.yaml readings.csv --method atgd
}
head='time_s,sensor,concentration_g_m3\n'
echo '# no time column';    with 'when,sensor,concentration_g_m3\n1,s1,2\n'
echo '# no sensor column';  with 'time_s,concentration_g_m3\n1,2\n'
echo '# no concentration';  with 'time_s,sensor,value\n1,s1,2\n'
echo '# two times';         with 'time_s,time_h,sensor,concentration_g_m3\n'
echo '# bad time';          with "${head}noon,s1,2\n"
echo '# instant without offset'; with 'time,sensor,concentration_g_m3\n2026-03-01T08:15:00,s1,2\n'
echo '# unknown sensor';    with "${head}1,s7,2\n"
echo '# bad value';         with "${head}1,s1,2\n2,s1,high\n"
echo '# not a number';      with "${head}1,s1,nan\n"
echo '# infinite';          with "${head}1,s1,1e999\n"
echo '# beyond any substance'; with "${head}1,s1,1e300\n"
echo '# beyond any time';   with "${head}1e300,s1,1\n"
echo '# decimal comma';     with "${head}1,s1,0,5\n"
echo '# open quote';        with "${head}1,\"s1,0.5\n"
echo '# truncated row';     with "${head}1,s1,0.5\n2,s"
echo '# header alone';      with "$head"
echo '# only missing values'; with "${head}1,s1,\n2,s1,\n"
echo '# empty';             with ''
echo '# binary';            head -c 4096 "$program" > readings.csv; try identify data/river.yaml readings.csv --method atgd
echo '# UTF-16';            with '\0377\0376t\0000i\0000'
echo '# a line of a megabyte'; { printf "$head"; printf '1,s1,'; head -c 1048576 /dev/zero | tr '\0' 7; } > readings.csv
try identify data/river.yaml readings.csv --method atgd
echo '# a header of a megabyte'; head -c 1048576 /dev/zero | tr '\0' , > readings.csv; try identify data/river.yaml readings.csv --method atgd
echo '# broken NDJSON';     with '{"time_s": 1, "sensor": "s1", "concentration_g_m3": 2\n'
echo '# NDJSON without a key'; with '{"time_s": 1, "sensor": "s1"}\n'
echo '# numeric times under a calendar box'; printf "${head}1,s1,2\n" > readings.csv; try identify data/calendar.yaml readings.csv --method atgd
echo '# not there';         rm readings.csv; try identify data/river.yaml readings.csv --method atgd
echo '# from standard input'; printf "${head}x,s1,2\n" | try identify data/river.yaml - --method atgd
