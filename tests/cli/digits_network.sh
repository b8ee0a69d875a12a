# What the engine says on branches and in changing flow, to six digits. `make digits` writes it anew.
answer() { headwater identify "$@" --format json --threads 1 | digits; }
words() { headwater identify "$@" --threads 1 | digits; }
spill() { headwater simulate "$@" --noise-relative 0.05 --every 1200 --from 6000 --to 60000; }
echo '# steady'
spill data/confluence.yaml --source 5000,ash:-8000,0 --censor > readings.csv
answer data/confluence.yaml readings.csv
echo '# in changing flow'
{ cat data/confluence.yaml; echo 'flow: data/flow.csv'; } > river.yaml
spill river.yaml --source 5000,ash:-8000,0 --censor > flowing.csv
answer river.yaml flowing.csv
words river.yaml flowing.csv
for method in atgd mcmc; do echo "# $method"; answer river.yaml flowing.csv --method $method --evaluations 2000; done
echo '# no probability is above 1, not by a last digit either'
sed 's/alarm_g_m3: 0.05/alarm_g_m3: 0.0002/g; s/\[100, 100000\]/[1, 100000]/' data/confluence.yaml > sensitive.yaml
spill sensitive.yaml --source 25,ash:-8000,0 --noise-absolute 0.0001 > weak.csv
headwater identify sensitive.yaml weak.csv --format json | grep -oE '"(probability|exceeds_alarm|spill)": 1[.][0-9]+'
