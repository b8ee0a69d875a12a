# What is asked less often, to six digits: readings out of order, twice and in thousands, small boxes, doubts of single
# reaches, a dye by depth, noise that wanders below a limit. `make digits` writes it anew.
answer() { headwater identify "$@" --format json --threads 1 | digits; }
words() { headwater identify "$@" --threads 1 | digits; }
cp data/known.yaml .
spill() { headwater simulate "$@" --source 1234,-5670,-9000 --noise-relative 0.04 --noise-absolute 0.00005; }
sed -e 's/velocity_m_s: 0.8, dispersion_m2_s: 14.2/velocity_m_s: {median: 0.75, factor: 1.2, local: 1.1}, dispersion_m2_s: {median: 20, factor: 2, local: 1.2}/' known.yaml > doubted.yaml
sed 's/velocity_m_s: 0.8, dispersion_m2_s: 14.2/velocity_m_s: {median: 0.8, factor: 1.3}, dispersion_m2_s: unknown/' known.yaml > field.yaml
spill known.yaml --every 300 --from -6000 --to 12000 > full.csv
rows() { awk -F, "NR == 1 || ($1)" "${2:-full.csv}"; }

echo '# the last reading first, some of them twice, and once more with another number'
{ head -n 1 full.csv; tail -n +2 full.csv | sort -t, -k1,1nr; rows '$1 % 1500 == 0' | tail -n +2; echo '-600,s1,0.5'; } > backwards.csv
answer doubted.yaml backwards.csv
answer field.yaml backwards.csv
echo '# thousands of readings, a third of them non-detects, with gaps'
spill known.yaml --every 4 --from -6000 --to 12000 |
  awk -F, 'NR > 1 && NR % 3 == 0 && $3 < 0.0005 { $3 = "<0.0006" } $1 < 7000 || $1 > 7400 { print $1 "," $2 "," $3 }' > thousands.csv
answer field.yaml thousands.csv
answer doubted.yaml thousands.csv
echo '# a box of ten minutes and three hundred metres'
for river in known doubted; do
  sed 's/location_m: \[[^]]*\]/location_m: [-5800, -5500]/; s/time_s: \[[^]]*\]/time_s: [-9300, -8700]/' $river.yaml > small.yaml
  words small.yaml full.csv
done
sed 's/location_m: \[[^]]*\]/location_m: [-5671, -5669]/; s/time_s: \[[^]]*\]/time_s: [-9000.5, -8999.5]/' doubted.yaml > point.yaml
answer point.yaml full.csv
echo '# only the velocity in doubt, only the dispersion'
sed 's/dispersion_m2_s: {[^}]*}/dispersion_m2_s: 14.2/' doubted.yaml > velocity.yaml
words velocity.yaml full.csv
sed 's/velocity_m_s: {[^}]*}/velocity_m_s: 0.8/' doubted.yaml > dispersion.yaml
words dispersion.yaml full.csv
echo '# a box that ends short of it'
sed 's/location_m: \[[^]]*\]/location_m: [-4500, -1000]/; s/time_s: \[[^]]*\]/time_s: [-8000, 0]/' doubted.yaml > short.yaml
words short.yaml full.csv
words known.yaml full.csv --level 0.5
echo '# other units'
awk -F, 'NR > 1 { $3 *= 1000 } { print $1 "," $2 "," $3 }' full.csv > units.csv
words doubted.yaml units.csv
awk -F, 'NR > 1 { $3 /= 40 } { print $1 "," $2 "," $3 }' full.csv > small.csv
words doubted.yaml small.csv
echo '# one sensor of two or three in its own unit, its pulse whole, clipped, half of it, of a release of hours'
awk -F, '$2 == "s2" { $3 *= 1.6 } { print $1 "," $2 "," $3 }' full.csv > scaled.csv
words doubted.yaml scaled.csv
awk -F, 'NR > 1 && $3 > 0.0221 { $3 = ">0.0221" } { print $1 "," $2 "," $3 }' scaled.csv > clipped.csv
words doubted.yaml clipped.csv
rows '$2 == "s1" || $1 < 3600' scaled.csv > half.csv
words doubted.yaml half.csv
spill known.yaml --duration 5400 --every 300 --from -6000 --to 20000 | awk -F, '$2 == "s2" { $3 *= 1.6 } { print $1 "," $2 "," $3 }' > stretched.csv
words doubted.yaml stretched.csv
echo '# noise stated far too small, at both sensors and at one; a dead sensor; noise that goes on; a level that steps'
sed 's/noise_relative: 0.05/noise_relative: 0.0004/' doubted.yaml > sure.yaml
words sure.yaml full.csv
sed '/id: s1/s/noise_relative: 0.05/noise_relative: 0.0004/' doubted.yaml > half.yaml
words half.yaml full.csv
awk -F, 'NR > 1 && $2 == "s2" { $3 = 0.0007 } { print $1 "," $2 "," $3 }' full.csv > dead.csv
words doubted.yaml dead.csv
words field.yaml dead.csv
awk -F, 'NR > 1 { e[$2] = 0.9 * e[$2] + 2e-4 * sin(7 * NR * NR); $3 += 0.0021 + e[$2] } { print $1 "," $2 "," $3 }' full.csv > goes_on.csv
answer doubted.yaml goes_on.csv
words field.yaml goes_on.csv
awk -F, 'NR > 1 && $1 > 9000 { $3 += 0.006 } { print $1 "," $2 "," $3 }' full.csv > steps.csv
answer doubted.yaml steps.csv
words field.yaml steps.csv
echo '# two releases, the second of them read thrice'
headwater simulate known.yaml --source 1900,-3100,-2000 --noise-relative 0.04 --every 300 --from -6000 --to 12000 --seed 2 > other.csv
paste -d, full.csv other.csv | awk -F, 'NR == 1 { print $1 "," $2 "," $3; next } $1 < 600 || $1 % 1500 == 0 { print $1 "," $2 "," $3 + $6 }' > two.csv
words doubted.yaml two.csv
answer field.yaml two.csv
echo '# a release of hours, seen whole and while it goes on'
spill known.yaml --duration 12000 --every 300 --from -6000 --to 24000 > hours.csv
answer field.yaml hours.csv
words field.yaml hours.csv
rows '$1 < 6000' hours.csv > going.csv
words field.yaml going.csv
answer doubted.yaml going.csv
echo '# a background half hidden below the limit'
rows '1' | awk -F, 'NR > 1 && $3 < 0.0004 { $3 = int(NR / 2) % 2 ? 0.0003 + NR % 5 * 1e-5 : "<0.0003" } { print $1 "," $2 "," $3 }' > hidden.csv
answer field.yaml hidden.csv
answer doubted.yaml hidden.csv
echo '# reaches in doubt, a substance that lags by a doubtful factor, and reaches that are wrong'
substance='substance: {name: dye, decay_per_s: {median: 1.0e-5, factor: 1.5}, volatilisation_m_s: {median: 1.0e-6, factor: 1.3}, retardation: {median: 1.1, factor: 1.2}}'
reaches() { echo "reaches: [{to_m: -3000, velocity_m_s: {median: $1, factor: 1.05, local: 1.02}, dispersion_m2_s: {median: 20, factor: 1.2}}, {to_m: 12000, velocity_m_s: $2, dispersion_m2_s: {median: 30, factor: 6}}]"; }
{ sed 's/, decay_per_s: 0//; s/area_m2: 37/discharge_m3_s: 29.6/' doubted.yaml; reaches 0.7 0.9; echo "$substance"; } > lags.yaml
spill lags.yaml --every 600 > lagged.csv
answer lags.yaml lagged.csv
{ cat doubted.yaml; reaches 1.5 1.7; } > wrong.yaml
answer wrong.yaml full.csv
echo '# ten sensors, the field model; velocity unknown; a dye by depth'
{ sed '/^sensors/,$d' field.yaml; echo 'sensors:'; for x in 370 1200 2400 3600 5000 6300 7700 9100 11000 13000; do echo "  - {id: x$x, location_m: $x, noise_relative: 0.05, depth_m: 1.1}"; done; } > ten.yaml
sed 's/{median: 0.8, factor: 1.3}, dispersion_m2_s: unknown/0.8, dispersion_m2_s: 14.2/' ten.yaml > made.yaml
spill made.yaml --every 900 --from -6000 --to 26000 > ten.csv
answer ten.yaml ten.csv
{ sed 's/, decay_per_s: 0//; s/velocity_m_s: {[^}]*}/velocity_m_s: unknown/' ten.yaml; echo 'substance: rhodamine_wt'; echo 'intakes: [{id: low, location_m: 19000, alarm_g_m3: 0.002}]'; } > dye.yaml
answer dye.yaml ten.csv
{ sed '/^sensors/,$d' doubted.yaml; sed -n '/^sensors/,$p' ten.yaml; } > many.yaml
answer many.yaml ten.csv
words many.yaml ten.csv --seed 3
awk -F, '$2 == "x5000" { $3 *= 1.4 } $2 == "x3600" && $3 > 0.0121 { $3 = ">0.0121" } { print $1 "," $2 "," $3 }' ten.csv > tens.csv
words many.yaml tens.csv
sed 's/noise_relative: 0.05/&, gain_factor: 1.2/' many.yaml > gains.yaml
words gains.yaml tens.csv
spill made.yaml --duration 5400 --every 900 --from -6000 --to 30000 | awk -F, '$2 == "x5000" { $3 *= 1.7 } { print $1 "," $2 "," $3 }' > longer.csv
words gains.yaml longer.csv
echo '# nothing on a network; what the reaches of branches say of themselves'
spill made.yaml --every 900 --from -6000 --to 26000 | head -n 1 > quiet.csv
for t in 0 1200 2400 3600 4800; do for s in up low last; do echo "$t,$s,0.0000$((t / 1200))" >> quiet.csv; done; done
words data/confluence.yaml quiet.csv
sed -e 's/discharge_m3_s: 2}/area_m2: 3.7, velocity_m_s: 0.6}/; s/to_m: 0, velocity_m_s: 0.9/to_m: 0, velocity_m_s: {median: 0.9, factor: 1.2, local: 1.1}/' \
  -e 's/to_m: -20000, discharge_m3_s: 6/to_m: -30000}, {to_m: -20000, discharge_m3_s: 6/' data/confluence.yaml > spoken.yaml
headwater simulate spoken.yaml --source 5000,ash:-8000,0 --noise-relative 0.05 --every 1200 --from 6000 --to 60000 > spoken.csv
answer spoken.yaml spoken.csv
for method in atgd mcmc genetic; do words spoken.yaml spoken.csv --method $method --evaluations 2000; done
words known.yaml thousands.csv --method mcmc --evaluations 300
words known.yaml thousands.csv --method annealing --evaluations 300
echo '# one river whose flow changes, and falls to little'
{ sed 's/area_m2: 37/discharge_m3_s: 29.6, velocity_exponent: 0.4/' doubted.yaml; echo 'gauges: [{id: g, location_m: 0}]'; echo 'flow: falling.csv'; } > flowing.yaml
printf 'time_s,gauge,discharge_m3_s\n-20000,g,60\n-7000,g,45\n0,g,12\n9000,g,7\n20000,g,33\n' > falling.csv
spill flowing.yaml --every 900 --from -6000 --to 20000 > flowed.csv
answer flowing.yaml flowed.csv
words flowing.yaml flowed.csv --method tgd
headwater advise flowing.yaml flowed.csv --now 1200 --format json | digits
headwater check flowing.yaml flowed.csv --places 2 | digits
