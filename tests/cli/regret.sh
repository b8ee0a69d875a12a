# Regret after every reading: CSV by default, a summary, JSON; the same bits on any number of threads.
headwater simulate data/river.yaml --source 1234,-5670,-9000 --every 600 --noise-relative 0.05 > readings.csv
headwater regret data/river.yaml readings.csv --methods atgd,mtgd --starts 4 --threads 1 > one.csv
headwater regret data/river.yaml readings.csv --methods atgd,mtgd --starts 4 --threads 3 | cmp one.csv - && echo 'threads do not matter'
sed -n 1p one.csv
sed -n 6p one.csv
awk -F, '!/^#/ && NR > 6 { rows[$3]++; if ($7 < -1e-9) low++; if ($4 + 0 < local[$3]) fell++; if ($4 > $6) above++; local[$3] = $4 }
  END { print rows["atgd"], rows["mtgd"], "rows;", low + 0, "negative,", fell + 0, "falling,", above + 0, "above the bound" }' one.csv
echo '# the summary'
headwater regret data/river.yaml readings.csv --methods atgd --budget 1000 --format text | sed -E 's/[0-9][0-9.e+-]*/N/g'
echo '# as printed: the loss, its window and its tolerance are those the learners run with'
headwater regret data/river.yaml readings.csv --methods tgd,atgd --variant printed --format text | grep -oE 'window [0-9]+, tolerance [^;]*|best window.*'
headwater regret data/river.yaml readings.csv --methods tgd,atgd --variant printed --window 4 --tolerance 0.001 --format text | grep -oE 'window [0-9]+, tolerance [^;]*'
echo '# JSON'
headwater regret data/river.yaml readings.csv --methods atgd --format json | grep -oE '"(schema|river|window|method|best_window)": [^,]*'
echo '# faults'
try regret data/river.yaml readings.csv --methods nobody
try regret data/river.yaml readings.csv --step 0
sed 's/dispersion_m2_s: 14.2/dispersion_m2_s: unknown/' data/river.yaml > unknown.yaml
try regret unknown.yaml readings.csv
