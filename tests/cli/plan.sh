# How many sensors, and where.
echo '# the paper: 13 directly'
headwater plan data/river.yaml --spread 50,500,300 --source 1300,-5670,-9000 | tail -n 3
headwater plan data/river.yaml --spread 50,500,300 --source 1300,-5670,-9000 --seed 2 --format json | sed -n 2p
echo '# identifications from a file'
printf 'round,sensor,mass_g,location_m,time_s\n1,1,1300,-5600,0\n1,2,1310,-5900,60\n2,1,1290,-5650,10\n2,2,1320,-5700,0\n2,3,1300,-5710,20\n' > found.csv
try plan data/river.yaml --identifications found.csv --readings 20 --first 2 --pool 3
try plan data/river.yaml --identifications found.csv --readings 30 --first 2 --pool 3
printf '1,1,1300,x,0\n' > bad.csv
try plan data/river.yaml --identifications bad.csv
echo '# every sensor alone on real readings, and what follows for the number of sensors'
headwater simulate data/river.yaml --source 1234,-5670,-9000 --every 120 --noise-relative 0.05 > readings.csv
headwater identify data/river.yaml readings.csv --method atgd --per-sensor > alone.csv
sed -E 's/-?[0-9]+[.][0-9]+|-?[0-9]{3,}/N/g' alone.csv
headwater identify data/river.yaml readings.csv --method atgd --per-sensor --round 20 | grep -c '^[0-9]'
headwater identify data/river.yaml readings.csv --method atgd --per-sensor --format json | grep -oE '"(schema|method|round|sensor)": [^,]*'
headwater plan data/river.yaml --identifications alone.csv | sed -n '3,4p;$p' | sed -E 's/ +/ /g'
try identify data/river.yaml readings.csv --per-sensor --each
try identify data/river.yaml readings.csv --round 5
echo '# dispersion unknown'
sed 's/dispersion_m2_s: 14.2/dispersion_m2_s: unknown/' data/river.yaml > unknown.yaml
headwater plan unknown.yaml --readings 30 --pool 30 --accept 2000,4000,9000 --source 1234,-5670,-9000 | tail -n 1 | grep -oE 'Install|intervals no longer than.*'
try plan unknown.yaml --place 2
echo '# simulated sensors, the default'
headwater plan data/river.yaml --readings 50 --pool 8 --accept 2000,4000,9000 | tail -n 1
echo '# where'
headwater plan data/river.yaml --place 2 --sites -4000,4200,6 --sources 40 | tail -n 1
headwater plan data/river.yaml --place 2 --sites -4000,4200,6 --sources 40 --format json | grep -o '"layout": "[a-z]*"'
echo '# faults'
try plan data/river.yaml --first 1
try plan data/river.yaml --place 9 --sites -4000,4200,6
try plan data/river.yaml --sites 4200,-4000,6 --place 1
try plan data/river.yaml --spread 1,2,3 --identifications found.csv
echo '# a river written as one branch has the same plan'
cat > line.yaml <<'END'
name: Elm
hydraulics: {velocity_m_s: {median: 0.7, factor: 1.15}, dispersion_m2_s: {median: 30, factor: 1.8}, area_m2: 20}
reaches: [{to_m: -20000, velocity_m_s: 0.6, discharge_m3_s: 10}, {to_m: 0, velocity_m_s: 0.8, discharge_m3_s: 10}]
search: {mass_g: [100, 100000], location_m: [-40000, -20000], time_s: [-50000, 20000]}
sensors: [{id: s1, location_m: -18000, noise_absolute_g_m3: 2.0e-5}, {id: s2, location_m: -3000}]
END
sed -e 's/^reaches: \(.*\)$/branches: [{id: stem, head_m: -60000, reaches: \1}]/' \
  -e 's/location_m: \(\[-40000, -20000\]\)/locations: {stem: \1}/' line.yaml > branch.yaml
for format in text json; do
  headwater plan line.yaml --place 2 --sources 40 --format $format | grep -v '^!' > line.out
  headwater plan branch.yaml --place 2 --sources 40 --format $format | grep -v '^!' > branch.out
  cmp line.out branch.out && tail -n 1 branch.out | grep -c .
done
