# What the engine says where the hydraulics are doubted, to six digits. `make digits` writes it anew.
answer() { headwater identify "$@" --format json --threads 1 | digits; }
words() { headwater identify "$@" --threads 1 | digits; }
cp data/known.yaml .
sed -e 's/velocity_m_s: 0.8, dispersion_m2_s: 14.2/velocity_m_s: {median: 0.8, factor: 1.15, local: 1.1}, dispersion_m2_s: {median: 14.2, factor: 1.6}/' \
  -e 's/noise_relative: 0.05/noise_relative: 0.05, gain_factor: 1.2/' known.yaml > doubted.yaml
sed '/id: s2/a\  - {id: s3, location_m: 6000, noise_relative: 0.1}' doubted.yaml > three.yaml
echo '# doubted, with gains, a background to learn and a reading above what a sensor can tell'
headwater simulate known.yaml --source 1234,-5670,-9000 --noise-relative 0.05 --noise-absolute 0.0001 --every 450 --from -6000 --to 9000 |
  awk -F, 'NR == 1 { print; next } { c = $3 + ($2 == "s1" ? 0.0011 : 0.0007); print $1 "," $2 "," (c > 0.0148 ? ">0.0148" : c) }' > level.csv
answer doubted.yaml level.csv
echo '# a release that lasts, the third sensor a grab sample'
headwater simulate known.yaml --source 1234,-5670,-9000 --duration 3600 --noise-relative 0.03 --every 600 > lasting.csv
echo '7200,s3,0.0121' >> lasting.csv
answer three.yaml lasting.csv
words three.yaml lasting.csv
echo '# it may have lasted, or not'
headwater simulate known.yaml --source 1234,-5670,-9000 --duration 2100 --noise-relative 0.05 --every 600 > short.csv
sed 's/, gain_factor: 1.2//' doubted.yaml > gainless.yaml
answer gainless.yaml short.csv
echo '# a broken sensor beside two sound ones'
headwater simulate three.yaml --source 1234,-5670,-9000 --noise-relative 0.05 --every 600 --from -5400 --to 9000 |
  awk -F, '$2 == "s2" { $3 = 0.004 } { print $1 "," $2 "," $3 }' > broken.csv
answer three.yaml broken.csv
words three.yaml broken.csv
headwater simulate known.yaml --source 1234,-5670,-9000 --noise-relative 0.03 --every 600 --from -5400 --to 12000 > one.csv
echo '# early, while the pulse is still rising'
awk -F, 'NR == 1 || $1 <= -2400' one.csv > early.csv
answer doubted.yaml early.csv
echo '# so many readings that they are merged'
headwater simulate known.yaml --source 1234,-5670,-9000 --noise-relative 0.05 --noise-absolute 0.0001 --every 15 --from -6000 --to 9000 > dense.csv
answer doubted.yaml dense.csv
