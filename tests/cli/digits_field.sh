# What the field model says, to six digits. `make digits` writes it anew.
answer() {
  headwater identify "$@" --format json --threads 1 | digits
  headwater identify "$@" --threads 1 | digits
}
sed 's/dispersion_m2_s: [0-9.]*/dispersion_m2_s: unknown/; s/mass_g: \[1000, 3000\]/mass_g: [100, 10000]/' data/truckee.yaml > unknown.yaml
headwater simulate data/truckee.yaml --source 1300,-22106,-14000 --noise-relative 0.05 --every 900 --censor > readings.csv
echo '# four sensors'; answer unknown.yaml readings.csv
echo '# one sensor, and the front of a second'
awk -F, '$2 ~ /sensor|s1/ || ($2 == "s2" && n++ < 4)' readings.csv > front.csv
answer unknown.yaml front.csv
echo '# velocity unknown too, sections measured'
sed 's/velocity_m_s: 1.3333/velocity_m_s: unknown/; s/location_m: 0,/location_m: 0, discharge_m3_s: 80, section_velocity_m_s: 1.2, width_m: 40, depth_m: 1.6,/' unknown.yaml > blind.yaml
answer blind.yaml readings.csv
echo '# a grab sample that fits, and one that does not; a sensor that stayed quiet while the pulse went past it'
awk -F, '$2 ~ /sensor|s1|s2/ || ($2 == "s3" && $1 >= 13000 && !n++)' readings.csv > grab.csv
answer unknown.yaml grab.csv
sed 's/^\(.*,s3,\).*/\10.9/' grab.csv > stray.csv
answer unknown.yaml stray.csv
awk -F, '$2 == "s3" { $3 = "<2e-05" } { print $1 "," $2 "," $3 }' readings.csv > quiet.csv
answer unknown.yaml quiet.csv
echo '# every minute, a background under it'
headwater simulate data/truckee.yaml --source 1300,-22106,-14000 --noise-relative 0.05 --noise-absolute 1e-5 --every 60 |
  awk -F, 'NR > 1 { $3 += 0.0003 } { print $1 "," $2 "," $3 }' > dense.csv
answer unknown.yaml dense.csv
echo '# a release of four hours'
headwater simulate data/truckee.yaml --source 2600,-22106,-20000 --duration 14400 --noise-relative 0.05 --every 900 > lasting.csv
answer unknown.yaml lasting.csv
echo '# hydraulics that the pulses refute: the field model answers instead'
sed 's/velocity_m_s: 1.3333, dispersion_m2_s: 40.5/velocity_m_s: 0.9, dispersion_m2_s: 40.5/; s/mass_g: .1000, 3000./mass_g: [100, 10000]/' data/truckee.yaml > wrong.yaml
answer wrong.yaml readings.csv
echo '# a dye that is lost on the way, by depth where it is known'
{ sed 's/, decay_per_s: 1.667e-10//' blind.yaml; echo 'substance: rhodamine_wt'; } > dye.yaml
answer dye.yaml readings.csv
echo '# could these sensors tell?'; headwater check unknown.yaml --places 2 --format json | digits
headwater check unknown.yaml --places 3 | digits
