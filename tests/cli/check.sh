# Could the sensors identify a source? Before a spill, and at an estimate.
try check data/river.yaml --places 3
try check data/river.yaml --places 2 --mass 500 --format json
echo '# a source below every sensor is seen by none'
sed 's/location_m: \[-[0-9]*, -[0-9]*\]/location_m: [40000, 50000]/' data/river.yaml > below.yaml
headwater check below.yaml --places 2 | sed -n '/^sd/,/^No/p'
echo '# plain numbers are said to be plain, and doubt is not'
sed 's/velocity_m_s: \([0-9.]*\)/velocity_m_s: {median: \1, factor: 1.2}/' data/river.yaml > doubted.yaml
headwater check doubted.yaml --places 1 | grep -A1 'plain number'
headwater check doubted.yaml --places 1 --format json | grep plain_numbers
sed 's/dispersion_m2_s: \([0-9.]*\)/dispersion_m2_s: {median: \1, factor: 2}/' doubted.yaml > doubtful.yaml
headwater check doubtful.yaml --places 1 | grep -c 'plain number'
echo '# with readings: at the estimate'
headwater simulate data/river.yaml --source 1234,-5670,-9000 --every 300 > readings.csv
headwater check data/river.yaml readings.csv --places 1 | sed -n '/^  identifiable/,$p' | cut -d';' -f1 | cut -d: -f1,2 | sed 's/: sd at least.*//; /median/d; /curvature/d; /own assumption/d; s/[0-9][0-9.e+-]*$/N/; s/: [0-9]+ of .*//; s/, in mean squares.*//; s/: of the order.*//'
headwater check data/river.yaml readings.csv --places 1 --format json | grep -oE '"(error_bound|printed|implied|single_readings)": ."holds": [a-z]*|"definite[a-z_]*": 0'
echo '# what it cannot do'
try check data/river.yaml --places 100000
try check data/river.yaml readings.csv more.csv
sed 's/dispersion_m2_s: 14.2/dispersion_m2_s: unknown/' data/river.yaml > unknown.yaml
echo '# dispersion unknown: what rivers have in common tells'
try check unknown.yaml --places 3
try check unknown.yaml --places 1 --format json
try check unknown.yaml readings.csv
