# What every learner and baseline says, to six digits. `make digits` writes it anew.
answer() { headwater identify data/river.yaml "$@" --format json --threads 1 | digits | grep -E '"(estimate|interval|region|loss|stop|cost)":' | grep -v '^  "releases'; }
headwater simulate data/river.yaml --source 1234,-5670,-9000 --noise-relative 0.05 --every 900 --censor > readings.csv
for method in tgd atgd aptgd mtgd mptgd bandit bandit1 bandit2 backward; do
  echo "# $method"; answer readings.csv --method $method --starts 4
done
for method in de annealing genetic mcmc; do echo "# $method"; answer readings.csv --method $method --evaluations 3000; done
for variant in corrected printed; do
  for method in tgd atgd aptgd mtgd; do
    echo "# $method, $variant"; answer readings.csv --method $method --variant $variant --starts 3
  done
  for search in armijo generic exact constant; do
    echo "# atgd, $variant, $search"; answer readings.csv --method atgd --variant $variant --line-search $search
  done
done
