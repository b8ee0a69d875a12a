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
echo '# could these sensors tell?'; headwater check unknown.yaml --places 2 --format json | digits
headwater check unknown.yaml --places 3 | digits
