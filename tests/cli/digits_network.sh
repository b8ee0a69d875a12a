# What the engine says on branches and in changing flow, to six digits. `make digits` writes it anew.
answer() { headwater identify "$@" --format json --threads 1 | digits; }
words() { headwater identify "$@" --threads 1 | digits; }
cat > river.yaml <<'RIVER'
hydraulics: {velocity_m_s: {median: 0.8, factor: 1.1}, dispersion_m2_s: {median: 30, factor: 1.5}, decay_per_s: 1.0e-6, velocity_exponent: 0.4}
branches:
  - {id: stem, head_m: -40000, reaches: [{to_m: -20000, discharge_m3_s: 6, velocity_m_s: 0.7}, {to_m: 0, velocity_m_s: 0.9}]}
  - {id: ash, head_m: -12000, joins: {branch: stem, at_m: -20000}, reaches: [{to_m: 0, discharge_m3_s: 2}]}
search: {mass_g: [100, 100000], time_s: [-7200, 7200]}
sensors:
  - {id: up, branch: stem, location_m: -25000, noise_relative: 0.05, noise_absolute_g_m3: 1.0e-4, detection_limit_g_m3: 1.0e-4}
  - {id: low, location_m: -15000, noise_relative: 0.05, noise_absolute_g_m3: 1.0e-4, detection_limit_g_m3: 1.0e-4}
  - {id: last, location_m: -5000, noise_relative: 0.05, noise_absolute_g_m3: 1.0e-4, detection_limit_g_m3: 1.0e-4}
candidates: [{id: mill, branch: ash, location_m: -8100}, {id: dock, branch: stem, location_m: -21000}]
intakes: [{id: brewery, branch: ash, location_m: -6000, alarm_g_m3: 0.05}, {id: town, location_m: -1000, alarm_g_m3: 0.05}]
gauges: [{id: g1, location_m: -10000}, {id: g2, branch: ash, location_m: -1000}]
RIVER
cat > flow.csv <<'FLOW'
time_s,gauge,discharge_m3_s
-20000,g1,8
0,g1,9.5
20000,g1,12
45000,g1,10
90000,g1,8
-20000,g2,2
10000,g2,3.5
30000,g2,2.5
90000,g2,2
FLOW
spill() { headwater simulate "$1" --source 5000,ash:-8000,0 --noise-relative 0.05 --every 1200 --from 6000 --to 60000 --censor; }
echo '# steady'; spill river.yaml > readings.csv; answer river.yaml readings.csv
echo '# in changing flow'; echo 'flow: flow.csv' >> river.yaml
spill river.yaml > flowing.csv; answer river.yaml flowing.csv
words river.yaml flowing.csv
for method in atgd mcmc; do echo "# $method"; answer river.yaml flowing.csv --method $method --evaluations 2000; done
echo '# where to sample next'
awk -F, 'NR == 1 || $1 <= 16000' flowing.csv > early.csv
for question in place who intake; do
  headwater advise river.yaml early.csv --for $question --crews 2 --delay 600 --format json | digits
  headwater advise river.yaml early.csv --for $question | digits
done
echo '# two releases'
headwater simulate river.yaml --source 9000,stem:-31000,4000 --noise-relative 0.05 --every 1200 --from 6000 --to 60000 --seed 2 > other.csv
headwater simulate river.yaml --source 5000,ash:-8000,0 --noise-relative 0.05 --every 1200 --from 6000 --to 60000 > one.csv
paste -d, one.csv other.csv | awk -F, 'NR == 1 { print $1 "," $2 "," $3; next } { print $1 "," $2 "," $3 + $6 }' > both.csv
answer river.yaml both.csv
words river.yaml both.csv
echo '# where to sample next, noise and limits unknown'
sed 's/, noise_relative.*-4}/}/' river.yaml > unsaid.yaml
headwater advise unsaid.yaml early.csv --format json | digits
