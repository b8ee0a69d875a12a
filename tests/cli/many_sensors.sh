# A hundred sensors on one river: each keeps enough of its pulse for the engine's moves.
{
  echo 'name: Long River'
  echo 'hydraulics: {velocity_m_s: 1.2, dispersion_m2_s: 40, area_m2: 60, decay_per_s: 0}'
  echo 'search: {mass_g: [1000, 200000], location_m: [-30000, -1000], time_s: [-40000, 40000]}'
  echo 'sensors:'
  i=0
  while [ "$i" -lt 100 ]; do
    echo "  - {id: p$i, location_m: $((i * 100)), noise_relative: 0.05, noise_absolute_g_m3: 2.0e-5}"
    i=$((i + 1))
  done
} > river.yaml
headwater simulate river.yaml --source 50000,-12000,3600 --every 300 --from 0 --to 16000 \
  --noise-relative 0.05 --noise-absolute 2e-5 > readings.csv
wc -l < readings.csv
headwater identify river.yaml readings.csv --level 0.99 --format json > answer.json
# The 99 % interval of the place holds the truth, and is short.
sed -nE 's/^  "interval": .*"location_m": \[([-0-9.]+), ([-0-9.]+)\].*/\1 \2/p' answer.json |
  awk '{ print ($1 <= -12000 && -12000 <= $2) ? "holds" : "misses", ($2 - $1 < 300) ? "short" : "long" }'
