# What the engine says of two releases at once, to six digits. `make digits` writes it anew.
answer() { headwater identify "$@" --format json --threads 1 | digits; }
words() { headwater identify "$@" --threads 1 | digits; }
spill() { headwater simulate "$@" --noise-relative 0.05 --every 1200 --from 6000 --to 60000; }
{ cat data/confluence.yaml; echo 'flow: data/flow.csv'; } > river.yaml
spill river.yaml --source 9000,stem:-31000,4000 --seed 2 > other.csv
spill river.yaml --source 5000,ash:-8000,0 > one.csv
paste -d, one.csv other.csv | awk -F, 'NR == 1 { print $1 "," $2 "," $3; next } { print $1 "," $2 "," $3 + $6 }' > both.csv
answer river.yaml both.csv
words river.yaml both.csv
