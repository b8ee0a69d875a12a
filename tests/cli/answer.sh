# The answer in words and as JSON.
headwater simulate data/river.yaml --source 1234,-5670,-9000 --noise-relative 0.05 > readings.csv
try identify data/river.yaml readings.csv --method atgd | steady
try identify data/river.yaml readings.csv --method atgd --format json --seed 37 --level 0.8 | sed -E 's/"(loss|model_evaluations|gradient_evaluations|state_bytes)": [0-9.e+-]+/"\1": N/g; s/([0-9]\.[0-9]{2})[0-9]+/\1/g' | steady
echo '# the same bits on one thread and on four'
headwater identify data/river.yaml readings.csv --method mtgd --threads 1 --format json | steady > one.json
headwater identify data/river.yaml readings.csv --method mtgd --threads 4 --format json | steady | cmp one.json - && echo same
