# What simulate prints, to the digit.
try simulate data/river.yaml --source 1234,-5670,-9000 --every 1200
echo '# noise depends on the seed, and on nothing else'
headwater simulate data/river.yaml --source 1234,-5670,-9000 --every 1200 --noise-relative 0.05 --noise-absolute 1e-5 --seed 7 > a.csv
headwater simulate data/river.yaml --source 1234,-5670,-9000 --every 1200 --noise-relative 0.05 --noise-absolute 1e-5 --seed 7 | cmp a.csv -
headwater simulate data/river.yaml --source 1234,-5670,-9000 --every 1200 --noise-relative 0.05 --noise-absolute 1e-5 --seed 8 | cmp -s a.csv - || echo 'another seed differs'
sed -n 2,4p a.csv
echo '# a given window, with non-detects'
try simulate data/river.yaml --source 1234,-5670,-9000 --from -3000 --to -1000 --every 1000 --censor
echo '# a sensor above the source'
try simulate data/river.yaml --source 1234,400,-9000 --every 3000
echo '# unknown hydraulics'
sed 's/dispersion_m2_s: 14.2/dispersion_m2_s: unknown/' data/river.yaml > unknown.yaml
try simulate unknown.yaml --source 1234,-5670,-9000
