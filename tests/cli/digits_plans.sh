# Plans, regrets, checks and simulated readings, to six digits. `make digits` writes it anew.
headwater simulate data/river.yaml --source 1234,-5670,-9000 --every 900 --noise-relative 0.05 --noise-absolute 1e-5 > readings.csv
echo '# simulated'; digits < readings.csv
echo '# regret'; headwater regret data/river.yaml readings.csv --methods atgd,mtgd --starts 3 --threads 1 | digits
echo '# could they tell?'; headwater check data/river.yaml --places 3 --format json | digits
headwater check data/river.yaml readings.csv --places 2 --format json | digits
headwater check data/river.yaml readings.csv --places 4 | digits
echo '# all methods beside the truth'
headwater compare data/river.yaml readings.csv --methods atgd,backward,tgd --truth 1234,-5670,-9000 --format json | digits
echo '# how many'; headwater plan data/river.yaml --spread 50,500,300 --source 1300,-5670,-9000 --format json | digits
headwater plan data/river.yaml --readings 30 --pool 5 --accept 2000,4000,9000 --format json | digits
echo '# where'; headwater plan data/river.yaml --place 2 --sites -4000,4200,6 --sources 20 --format json | digits
headwater plan data/river.yaml --place 3 --sites -4000,4200,6 --sources 20 | digits
cat > network.yaml <<'RIVER'
hydraulics: {velocity_m_s: 0.8, dispersion_m2_s: 30, decay_per_s: 0}
branches:
  - {id: stem, head_m: -40000, reaches: [{to_m: -20000, discharge_m3_s: 6}, {to_m: 0}]}
  - {id: ash, head_m: -12000, joins: {branch: stem, at_m: -20000}, reaches: [{to_m: 0, discharge_m3_s: 2}]}
search: {mass_g: [100, 100000], time_s: [-7200, 7200]}
sensors:
  - {id: up, branch: stem, location_m: -25000, noise_relative: 0.05}
  - {id: low, location_m: -5000, noise_relative: 0.05}
RIVER
headwater plan network.yaml --place 2 --beside --pool 9 --sources 30 --format json | digits
headwater plan network.yaml --place 2 --pool 9 --sources 30 | digits
sed 's/dispersion_m2_s: 14.2/dispersion_m2_s: unknown/' data/river.yaml > unknown.yaml
headwater plan unknown.yaml --place 1 --sites -4000,4200,4 --sources 8 --format json | digits
