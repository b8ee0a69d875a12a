# Where to sample next, to six digits. `make digits` writes it anew.
spill() { headwater simulate "$@" --noise-relative 0.05 --every 1200 --from 6000 --to 60000; }
{ cat data/confluence.yaml; echo 'flow: data/flow.csv'; } > river.yaml
spill river.yaml --source 5000,ash:-8000,0 --censor | awk -F, 'NR == 1 || $1 <= 16000' > early.csv
advise() { headwater advise "$@" | digits; }
for question in place who intake; do
  echo "# $question"
  advise river.yaml early.csv --for $question --crews 2 --delay 600 --format json
  advise river.yaml early.csv --for $question
done
echo '# noise and limits unknown'
sed 's/, noise_relative.*-4}/}/' river.yaml > unsaid.yaml
advise unsaid.yaml early.csv --format json
echo '# dispersion unknown'
sed 's/dispersion_m2_s: [0-9.]*/dispersion_m2_s: unknown/; s/mass_g: \[1000, 3000\]/mass_g: [100, 10000]/' data/truckee.yaml > unknown.yaml
headwater simulate data/truckee.yaml --source 1300,-22106,-14000 --noise-relative 0.05 --every 600 --censor | awk -F, 'NR == 1 || $1 <= 1800' > front.csv
for question in place who; do advise unknown.yaml front.csv --for $question --format json; done
