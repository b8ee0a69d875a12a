# What the engine says where the hydraulics are known or doubted, to six digits: whatever changes a number shows here.
# `make digits` writes it anew.
answer() { headwater identify "$@" --format json --threads 1 | digits; }
words() { headwater identify "$@" --threads 1 | digits; }
cat data/river.yaml > known.yaml
cat >> known.yaml <<'END'
candidates:
  - {id: mill, location_m: -5700, prior: 0.3}
  - {id: tannery, location_m: -3100, extent_m: 400, active: [[-12000, -6000]], active_trust: 0.8}
intakes: [{id: town, location_m: 8000, alarm_g_m3: 0.002}]
END
headwater simulate known.yaml --source 1234,-5670,-9000 --noise-relative 0.05 --censor --every 600 > readings.csv
echo '# known hydraulics, non-detects';  answer known.yaml readings.csv
echo '# doubted, with gains, a background to learn and a reading above what a sensor can tell'
sed -e 's/velocity_m_s: 0.8, dispersion_m2_s: 14.2/velocity_m_s: {median: 0.8, factor: 1.15, local: 1.1}, dispersion_m2_s: {median: 14.2, factor: 1.6}/' \
  -e 's/noise_relative: 0.05/noise_relative: 0.05, gain_factor: 1.2/' known.yaml > doubted.yaml
headwater simulate known.yaml --source 1234,-5670,-9000 --noise-relative 0.05 --noise-absolute 0.0001 --every 450 --from -6000 --to 9000 |
  awk -F, 'NR == 1 { print; next } { c = $3 + ($2 == "s1" ? 0.0011 : 0.0007); print $1 "," $2 "," (c > 0.0148 ? ">0.0148" : c) }' > level.csv
answer doubted.yaml level.csv
echo '# a release that lasts, the third sensor a grab sample'
sed '/id: s2/a\  - {id: s3, location_m: 6000, noise_relative: 0.1}' doubted.yaml > three.yaml
headwater simulate known.yaml --source 1234,-5670,-9000 --duration 3600 --noise-relative 0.03 --every 600 > lasting.csv
echo '7200,s3,0.0121' >> lasting.csv
answer three.yaml lasting.csv
words three.yaml lasting.csv
echo '# it may have lasted, or not'
headwater simulate known.yaml --source 1234,-5670,-9000 --duration 2100 --noise-relative 0.05 --every 600 > short.csv
sed 's/, gain_factor: 1.2//' doubted.yaml > gainless.yaml
answer gainless.yaml short.csv
echo '# two releases'
headwater simulate known.yaml --source 1234,-5670,-9000 --noise-relative 0.03 --every 600 --from -5400 --to 12000 > one.csv
headwater simulate known.yaml --source 2000,-3100,-2000 --noise-relative 0.03 --every 600 --from -5400 --to 12000 --seed 2 > two.csv
paste -d, one.csv two.csv | awk -F, 'NR == 1 { print $1 "," $2 "," $3; next } { print $1 "," $2 "," $3 + $6 }' > both.csv
answer known.yaml both.csv
echo '# a broken sensor beside two sound ones, and early, while the pulse is still rising'
headwater simulate three.yaml --source 1234,-5670,-9000 --noise-relative 0.05 --every 600 --from -5400 --to 9000 |
  awk -F, '$2 == "s2" { $3 = 0.004 } { print $1 "," $2 "," $3 }' > broken.csv
answer three.yaml broken.csv
words three.yaml broken.csv
awk -F, 'NR == 1 || $1 <= -2400' one.csv > early.csv
answer doubted.yaml early.csv
echo '# on the calendar, a substance that decays and lags, an hour that is likely'
cat > dated.yaml <<'END'
hydraulics: {velocity_m_s: {median: 0.8, factor: 1.1}, dispersion_m2_s: {median: 14.2, factor: 1.3}, discharge_m3_s: 29.6}
substance: {name: dye, decay_per_s: {median: 1.0e-5, factor: 1.5}, volatilisation_m_s: 1.0e-6, retardation: 1.1}
search: {mass_g: [100, 5000], location_m: [-9000, -1000], time_s: {median: 2026-03-01T02:00:00Z, sd_s: 3600}}
reaches: [{to_m: -2000, velocity_m_s: {median: 0.7, factor: 1.2}}, {to_m: 20000, velocity_m_s: {median: 0.9, factor: 1.15, local: 1.1}, dispersion_m2_s: {median: 20, factor: 1.4}}]
sensors:
  - {id: s1, location_m: 370, noise_relative: 0.05, noise_absolute_g_m3: 1.0e-4, background_g_m3: 0.001, detection_limit_g_m3: 2.0e-4}
  - {id: s2, location_m: 4200, noise_relative: 0.05, noise_absolute_g_m3: 1.0e-4, background_g_m3: 0.002, detection_limit_g_m3: 2.0e-4}
candidates: [{id: mill, location_m: -5700, active: [[2026-03-01T00:00:00Z, 2026-03-01T03:00:00Z]]}, {id: farm, location_m: -8000}]
none_of_these: {prior: 0.4}
intakes: [{id: town, location_m: 9000, alarm_g_m3: 0.01}]
END
headwater simulate dated.yaml --source 1234,-5670,2026-03-01T01:30:00Z --noise-relative 0.05 --every 900 > dated.csv
answer dated.yaml dated.csv --level 0.5 --seed 7
words dated.yaml dated.csv --level 0.5 --seed 7
echo '# nothing was spilled'
awk -F, 'NR == 1 { print; next } { print $1 "," $2 "," 0.0001 * (NR % 3) }' one.csv > clean.csv
answer known.yaml clean.csv
words known.yaml clean.csv
echo '# two sensors whose pulses contradict each other'
awk -F, 'NR == 1 || $2 == "s1"' one.csv > apart.csv
awk -F, '$2 == "s2"' two.csv >> apart.csv
answer known.yaml apart.csv
