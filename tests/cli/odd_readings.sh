# Odd but right files give the same answer as the plain one.
simulate() { headwater simulate data/river.yaml --source 1234,-5670,-9000; }
simulate > plain.csv
answer() { headwater identify data/river.yaml "$1" --method atgd | grep -E '^  (mass|place|released)'; }
answer plain.csv > plain.txt
cat plain.txt
same() { answer "$1" | diff plain.txt - && echo "same: $1"; }
sed 's/$/\r/' plain.csv > crlf.csv; same crlf.csv
{ printf '\357\273\277'; cat plain.csv; } > bom.csv; same bom.csv
{ printf '# station log\n\n'; sed '3s/$/ # checked/' plain.csv; } > comments.csv; same comments.csv
awk -F, 'NR == 1 { print "note," $3 ",x," $2 "," $1; next } { print "\"a, b\"," $3 ",," "\"" $2 "\"," $1 }' plain.csv > columns.csv; same columns.csv
awk -F, 'NR == 1 { print "time_h,sensor,concentration_ug_l"; next } { printf "%.15g,%s,%.15g\n", $1 / 3600, $2, $3 * 1000 }' plain.csv > units.csv; same units.csv
awk -F, 'NR > 1 { printf "{\"time_s\": %s, \"sensor\": \"%s\", \"concentration_mg_l\": %s, \"tags\": {\"a\": [1]}}\n", $1, $2, $3 }' plain.csv > rows.ndjson; same rows.ndjson
headwater simulate data/river.yaml --source 1234,-5670,-9000 --format ndjson > own.ndjson; same own.ndjson
{ cat plain.csv; sed 1d plain.csv; } > twice.csv; same twice.csv
tr ',' '\t' < plain.csv > tabs.tsv; same tabs.tsv
same - < plain.csv
echo '# what was passed over is counted'
{ cat plain.csv; sed -n '2,3p' plain.csv; echo '99999,s1,'; printf '%s' '-8000,s1,0.001'; } > mixed.csv
headwater identify data/river.yaml mixed.csv --method atgd | grep -E '^Rows|cut short'
headwater identify data/river.yaml mixed.csv --method atgd --format json | grep -E '"(skipped|out_of_order)"'
