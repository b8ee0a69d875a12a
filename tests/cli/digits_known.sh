# What the engine says where the hydraulics are known, to six digits: whatever changes a number shows here. `make digits`
# writes it anew.
answer() { headwater identify "$@" --format json --threads 1 | digits; }
words() { headwater identify "$@" --threads 1 | digits; }
cp data/known.yaml .
headwater simulate known.yaml --source 1234,-5670,-9000 --noise-relative 0.05 --censor --every 600 > readings.csv
echo '# known hydraulics, non-detects';  answer known.yaml readings.csv
echo '# two releases'
headwater simulate known.yaml --source 1234,-5670,-9000 --noise-relative 0.03 --every 600 --from -5400 --to 12000 > one.csv
headwater simulate known.yaml --source 2000,-3100,-2000 --noise-relative 0.03 --every 600 --from -5400 --to 12000 --seed 2 > two.csv
paste -d, one.csv two.csv | awk -F, 'NR == 1 { print $1 "," $2 "," $3; next } { print $1 "," $2 "," $3 + $6 }' > both.csv
answer known.yaml both.csv
echo '# two sensors whose pulses contradict each other'
awk -F, 'NR == 1 || $2 == "s1"' one.csv > apart.csv
awk -F, '$2 == "s2"' two.csv >> apart.csv
answer known.yaml apart.csv
echo '# nothing was spilled'
awk -F, 'NR == 1 { print; next } { print $1 "," $2 "," 0.0001 * (NR % 3) }' one.csv > clean.csv
answer known.yaml clean.csv
words known.yaml clean.csv
