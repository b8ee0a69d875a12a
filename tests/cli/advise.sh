# Where to sample next, while the first pulse still rises and there is a plain something to learn. Digits that hang on a random stream are left out; what is asked and refused is not.
sed 's/velocity_m_s: 0.8, dispersion_m2_s: 14.2/velocity_m_s: {median: 0.8, factor: 1.15}, dispersion_m2_s: {median: 14.2, factor: 1.6}/' data/river.yaml > river.yaml
cat >> river.yaml <<'END'
candidates: [{id: mill, location_m: -5670}, {id: tannery, location_m: -3100}]
intakes: [{id: town, location_m: 8000, alarm_g_m3: 0.002}]
END
headwater simulate data/river.yaml --source 1234,-5670,-9000 --every 300 --to -2400 --noise-relative 0.05 > readings.csv
words() { sed -E 's/-?[0-9]+([.][0-9]+)?(e-?[0-9]+)?/N/g; s/ (to km N|to N h N min)//g'; }
headwater advise river.yaml readings.csv | words | sort -u
headwater advise river.yaml readings.csv --for intake --crews 2 --delay 600 | words | sort -u
echo '# as JSON, and the same again'
headwater advise river.yaml readings.csv --format json > first.json
headwater advise river.yaml readings.csv --format json | cmp - first.json && grep -oE '"(schema|question|seed|now_s|now|crews)": [^,]*' first.json
echo '# nothing before the delay is over'
headwater advise river.yaml readings.csv --delay 3600 --format json | grep -oE '"from_s": [0-9.e+-]+' | awk '$2 < -2400 + 3600 { print "too early" }'
echo '# what it cannot do'
printf 'time_s,sensor,concentration_g_m3\n0,s1,<0.0002\n300,s1,<0.0002\n600,s1,<0.0002\n' > clean.csv
try advise river.yaml clean.csv
try advise data/river.yaml readings.csv --for who
try advise river.yaml readings.csv --for moon
try advise river.yaml readings.csv --crews 9
try advise river.yaml readings.csv --now 2026-03-01T08:00:00Z
try advise river.yaml
