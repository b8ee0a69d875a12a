# One table for all methods; errors beside the truth; "needs hydraulics" where that is so.
headwater simulate data/river.yaml --source 1234,-5670,-9000 --noise-relative 0.05 > readings.csv
headwater compare data/river.yaml readings.csv --methods tgd,atgd --truth 1234,-5670,-9000 | awk '/^of way/ { print; next } { $6 = $7 = "T"; print }' | sed 1s/.*/TABLE/
sed 's/dispersion_m2_s: 14.2/dispersion_m2_s: unknown/' data/river.yaml > unknown.yaml
headwater compare unknown.yaml readings.csv --methods tgd,de | sed 1d
echo '# JSON'
headwater compare data/river.yaml readings.csv --methods atgd --truth 1234,-5670,-9000 --format json | steady |
  grep -oE '"(schema|truth|results|method|relative_error|loss|failure)": ?[^,]*'
headwater compare unknown.yaml readings.csv --methods atgd --format json | grep -E '"(truth|estimate|failure|relative_error)"'
