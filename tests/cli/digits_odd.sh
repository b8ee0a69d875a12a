# What is said of rivers and records as they come rather than as one would choose them, to six digits: sensors out of
# order, several intakes and candidates, a box that does not fit, gaps, spikes, drifts, many readings at once, branches of
# branches. `make digits` writes it anew.
answer() { headwater identify "$@" --format json --threads 1 | digits; }
words() { headwater identify "$@" --threads 1 | digits; }
both() { answer "$@"; words "$@"; }
sources='candidates: [{id: mill, location_m: -5700, prior: 0.3}, {id: farm, location_m: -8000, extent_m: 700}, {id: dock, location_m: -370, prior: 0.1}]
none_of_these: {prior: 0.25}
intakes: [{id: low, location_m: 9000, alarm_g_m3: 0.002}, {id: high, location_m: -2000, alarm_g_m3: 0.0037}, {id: still, location_m: 5200}]'
sensors='sensors:
  - {id: s2, location_m: 4200, noise_relative: 0.07, noise_absolute_g_m3: 1.0e-4, detection_limit_g_m3: 2.0e-4}
  - {id: s3, location_m: 6100, noise_relative: 0.05, noise_absolute_g_m3: 2.0e-4, background_g_m3: 0.0004}
  - {id: s1, location_m: 370, noise_relative: 0.05, noise_absolute_g_m3: 1.0e-4, detection_limit_g_m3: 2.0e-4, gain_factor: 1.15}
  - {id: s0, location_m: -7000, noise_relative: 0.05, noise_absolute_g_m3: 1.0e-4}'
river() { # HYDRAULICS [SEARCH]
  echo "hydraulics: {$1}"
  printf 'search: {%s}\n' "${2:-mass_g: [100, 5000], location_m: [-12000, -1000], time_s: [-20000, 0]}"
  echo "$sensors"
  echo "$sources"
}
known='velocity_m_s: 0.8, dispersion_m2_s: 14.2, area_m2: 37'
doubted='velocity_m_s: {median: 0.75, factor: 1.2, local: 1.1}, dispersion_m2_s: {median: 20, factor: 2, local: 1.2}, area_m2: 37, decay_per_s: 1.0e-6'
river "$known" > known.yaml
river "$doubted" > doubted.yaml
river 'velocity_m_s: {median: 0.8, factor: 1.3}, dispersion_m2_s: unknown, area_m2: 37' > field.yaml
spill() { headwater simulate "$@" --noise-relative 0.04 --noise-absolute 0.00005; }
spill known.yaml --source 1234,-5670,-9000 --every 900 --from -6000 --to 12000 > full.csv
rows() { awk -F, "NR == 1 || ($1)" "${2:-full.csv}"; }

echo '# four sensors out of order, one of them above the release'
both known.yaml full.csv
both doubted.yaml full.csv
both field.yaml full.csv
echo '# level and seed'
answer doubted.yaml full.csv --level 0.5 --seed 7
echo '# after every reading of a short record'
rows '$2 == "s1" && $1 > -4000 && $1 <= 2400' > rising.csv
headwater identify known.yaml rising.csv --each --threads 1 | digits | cut -c 1-420
headwater identify field.yaml rising.csv --each --threads 1 | digits | cut -c 1-420
echo '# a spike, a dip, and the same reading twice'
rows '1' | awk -F, '$2 == "s1" && n++ == 3 { $3 = 0.21 } $2 == "s2" && m++ == 9 { $3 = 0 } { print $1 "," $2 "," $3 }' > spikes.csv
both doubted.yaml spikes.csv
words field.yaml spikes.csv
echo '# a gap where the pulse passed, and grab samples'
rows '$2 != "s1" || $1 < -3000 || $1 > 1000' > gap.csv
both doubted.yaml gap.csv
rows '($2 == "s1" && $1 == -600) || ($2 == "s2" && $1 == 3000) || ($2 == "s3" && $1 == 5700)' > grabs.csv
both known.yaml grabs.csv
both field.yaml grabs.csv
echo '# limits and values in turn, every ten seconds, more than a view holds'
headwater simulate known.yaml --source 1234,-5670,-9000 --noise-relative 0.04 --every 10 --from -4000 --to 4000 |
  awk -F, '$2 == "s1" && NR % 2 { $3 = "<" (0.003 + $3) } { print $1 "," $2 "," $3 }' | rows '$2 == "s1"' - > turns.csv
answer doubted.yaml turns.csv
echo '# a background that drifts under it, and one that steps'
rows '1' | awk -F, 'NR > 1 { $3 += 0.002 + $1 * 1e-7 } { print $1 "," $2 "," $3 }' > drift.csv
both doubted.yaml drift.csv
rows '1' | awk -F, 'NR > 1 && $1 > 6000 { $3 += 0.004 } { print $1 "," $2 "," $3 }' > step.csv
answer doubted.yaml step.csv
answer field.yaml step.csv
echo '# the box is too small, too early, too late, on the wrong side of a sensor'
for box in 'location_m: [-4000, -1000], time_s: [-20000, 0]' 'location_m: [-12000, -1000], time_s: [-90000, -60000]' \
  'location_m: [-12000, -1000], time_s: [3000, 9000]' 'location_m: [1000, 3000], time_s: [-20000, 0]'; do
  river "$known" "mass_g: [100, 5000], $box" > box.yaml
  words box.yaml full.csv
  river 'velocity_m_s: {median: 0.8, factor: 1.3}, dispersion_m2_s: unknown, area_m2: 37' "mass_g: [100, 5000], $box" > box.yaml
  words box.yaml full.csv
  words box.yaml rising.csv
done
river "$known" 'mass_g: [3000, 5000], location_m: [-12000, -1000], time_s: {median: -7000, sd_s: 900}' > heavy.yaml
both heavy.yaml full.csv
echo '# nothing was seen, or too little to tell'
rows '1' | awk -F, 'NR > 1 { $3 = 0.0004 + 0.0001 * (NR % 3) } { print $1 "," $2 "," $3 }' > quiet.csv
both field.yaml quiet.csv
answer doubted.yaml quiet.csv
headwater simulate known.yaml --source 100,-11000,-9000 --noise-relative 0.1 --noise-absolute 0.0002 --every 900 --from 3000 --to 16000 > weak.csv
both doubted.yaml weak.csv
words field.yaml weak.csv
echo '# reaches, and what the field model makes of how fast the water is'
reaches='reaches: [{to_m: -3000, velocity_m_s: 0.6}, {to_m: 2000, velocity_m_s: {median: 0.9, factor: 1.1}, dispersion_m2_s: 30}, {to_m: 12000, velocity_m_s: 0.7, discharge_m3_s: 40}]'
{ cat known.yaml; echo "$reaches"; } > reaches.yaml
headwater simulate reaches.yaml --source 1234,-5670,-9000 --noise-relative 0.04 --every 900 | grep -v '^!' > stretched.csv
both reaches.yaml stretched.csv
dispersed=$(echo "$reaches" | sed 's/velocity_m_s: 0.[67]/&, dispersion_m2_s: 20/g')
{ cat field.yaml; echo "$dispersed"; } > stretches.yaml
both stretches.yaml stretched.csv
{ river 'velocity_m_s: unknown, dispersion_m2_s: unknown, area_m2: 37'; echo "$dispersed"; } > unknown.yaml
words unknown.yaml stretched.csv
{ river 'velocity_m_s: 1.6, dispersion_m2_s: 14.2, area_m2: 37'; echo "$reaches"; } > refuted.yaml
both refuted.yaml stretched.csv
for said in 'discharge_m3_s: 30' 'section_velocity_m_s: 0.9, width_m: 30' 'discharge_m3_s: 30, section_velocity_m_s: 0.9, width_m: 30, depth_m: 1.1'; do
  river 'velocity_m_s: unknown, dispersion_m2_s: unknown' | sed "s/location_m: 370,/location_m: 370, $said,/" > said.yaml
  both said.yaml full.csv
done
river 'velocity_m_s: unknown, dispersion_m2_s: unknown, discharge_m3_s: 29' |
  sed 's/location_m: 370,/location_m: 370, discharge_m3_s: 0.2,/; s/location_m: 4200,/location_m: 4200, discharge_m3_s: 30,/' > slip.yaml
both slip.yaml full.csv
river 'velocity_m_s: unknown, dispersion_m2_s: unknown' |
  sed 's/location_m: 370,/location_m: 370, discharge_m3_s: 12,/; s/location_m: 4200,/location_m: 4200, discharge_m3_s: 20,/; s/location_m: 6100,/location_m: 6100, discharge_m3_s: 45,/' > growing.yaml
both growing.yaml rising.csv
echo '# branches of branches, sensors out of order on them, noise that nobody stated'
cat > tree.yaml <<'END'
hydraulics: {velocity_m_s: {median: 0.8, factor: 1.15}, dispersion_m2_s: {median: 30, factor: 1.5}, decay_per_s: 2.0e-6}
branches:
  - {id: beck, head_m: -5000, joins: {branch: ash, at_m: -4000}, reaches: [{to_m: 0, discharge_m3_s: 0.7, velocity_m_s: 0.5}]}
  - {id: stem, head_m: -40000, reaches: [{to_m: -20000, discharge_m3_s: 6}, {to_m: 0, velocity_m_s: 0.9, dispersion_m2_s: 40}]}
  - {id: ash, head_m: -12000, joins: {branch: stem, at_m: -20000}, reaches: [{to_m: 0, discharge_m3_s: 2}]}
search: {mass_g: [100, 100000], time_s: [-7200, 7200]}
sensors:
  - {id: last, branch: stem, location_m: -5000}
  - {id: side, branch: ash, location_m: -500, noise_relative: 0.05, noise_absolute_g_m3: 1.0e-4}
  - {id: up, branch: stem, location_m: -25000, noise_relative: 0.05, noise_absolute_g_m3: 1.0e-4}
candidates: [{id: mill, branch: ash, location_m: -8100}, {id: dairy, branch: beck, location_m: -2500, extent_m: 300}, {id: dock, branch: stem, location_m: -21000}, {id: works, branch: ash, location_m: -1500, prior: 0.5}, {id: quay, branch: stem, location_m: -9000}]
intakes: [{id: town, branch: stem, location_m: -1000, alarm_g_m3: 0.05}, {id: pond, branch: beck, location_m: -370, alarm_g_m3: 0.3}, {id: weir, branch: stem, location_m: -30000}]
END
for source in 5000,beck:-2600,0 5000,stem:-31000,-3600 5000,ash:-8000,600; do
  headwater simulate tree.yaml --source $source --noise-relative 0.05 --noise-absolute 0.00005 --every 1800 --from -3600 --to 60000 > tree.csv
  both tree.yaml tree.csv
done
echo '# the first hours of it'
awk -F, 'NR == 1 || $1 <= 14400' tree.csv > first.csv
both tree.yaml first.csv
sed 's/dispersion_m2_s: {median: 30, factor: 1.5}/dispersion_m2_s: 30/; s/velocity_m_s: {median: 0.8, factor: 1.15}/velocity_m_s: 0.8/' tree.yaml > sure.yaml
for method in atgd tgd backward; do echo "# $method"; words sure.yaml tree.csv --method $method; done
echo '# grab samples beside records, in doubt; a release that lasts, and a spike while it passes'
rows '$2 == "s1" || ($2 == "s2" && $1 == 3000) || ($2 == "s3" && $1 == 5700)' > beside.csv
both doubted.yaml beside.csv
headwater simulate known.yaml --source 1234,-5670,-9000 --duration 4500 --noise-relative 0.04 --every 600 --from -6000 --to 16000 |
  awk -F, '$2 == "s3" && n++ == 22 { $3 = 0.09 } { print $1 "," $2 "," $3 }' > lasting.csv
both doubted.yaml lasting.csv
echo '# each sensor alone, in rounds'
words known.yaml full.csv --per-sensor --method atgd
words known.yaml full.csv --per-sensor --round 7 --method mtgd --starts 2
echo '# where to sample next'
for now in -2000 3000; do
  for question in place who intake; do
    awk -F, "NR == 1 || \$1 <= $now" full.csv > until.csv
    headwater advise doubted.yaml until.csv --for $question --crews 2 --now $now --delay 300 --format json | digits
    headwater advise field.yaml until.csv --for $question --now $now --horizon 7200 --format json | digits
  done
done
awk -F, 'NR == 1 || $1 <= 30000' tree.csv > later.csv
for question in place who intake; do headwater advise tree.yaml later.csv --for $question --crews 3 --format json | digits; done
echo '# could they tell, where to put more, and what is lost by how one learns'
headwater check doubted.yaml --places 3 | digits
headwater check tree.yaml --places 2 --format json | digits
headwater check reaches.yaml stretched.csv --places 3 --format json | digits
headwater plan reaches.yaml --place 2 --sites -4000,9000,7 --sources 20 --format json | digits
headwater plan tree.yaml --place 2 --pool 7 --sources 20 --format json | digits
headwater regret reaches.yaml stretched.csv --methods atgd,mtgd --starts 2 --threads 1 | digits
headwater compare reaches.yaml stretched.csv --methods atgd,backward,mcmc --truth 1234,-5670,-9000 --format json | digits
headwater compare sure.yaml tree.csv --methods atgd,backward --truth 5000,ash:-8000,600 --format json | digits
