# Records that are not one release in this river, or hardly, and what is said of them, to six digits. `make digits` writes
# it anew.
words() { headwater identify "$@" --threads 1 | digits; }
river() { # VELOCITY DISPERSION [SEARCH]
  echo "hydraulics: {velocity_m_s: $1, dispersion_m2_s: $2, area_m2: 37}"
  echo "search: {${3:-mass_g: [100, 20000], location_m: [-12000, -1000], time_s: [-20000, 0]}}"
  echo 'sensors:'
  for at in s1:370 s2:4200 s3:6100 s4:8000; do
    echo "  - {id: ${at%:*}, location_m: ${at#*:}, noise_relative: 0.05, noise_absolute_g_m3: 2.0e-4}"
  done
}
river 0.8 14.2 > known.yaml
river '{median: 0.75, factor: 1.2}' '{median: 20, factor: 2}' > doubted.yaml
river '{median: 0.8, factor: 1.3}' unknown > field.yaml
spill() { headwater simulate known.yaml "$@" --noise-relative 0.05 --noise-absolute 0.0002 --every 600 --from -6000 --to 18000; }
spill --source 5000,-5670,-9000 > full.csv
spill --source 5000,-3100,-2000 --seed 2 > other.csv
change() { awk -F, -v OFS=, "NR > 1 { $1 } { print \$1, \$2, \$3 }" full.csv > changed.csv; }
all() { for model in known doubted field; do words $model.yaml changed.csv; done; }

echo '# a sensor that stays at its highest value'
change 'if ($2 == "s1" && $3 > 0.05) $3 = 0.05'
words doubted.yaml changed.csv
words field.yaml changed.csv
echo '# one that is dead, one in another unit, one that shows the pulse of another release, one that shows nothing'
change 'if ($2 == "s3") $3 = 0.0017'; words doubted.yaml changed.csv
change 'if ($2 == "s3") $3 *= 1000'; all
awk -F, 'NR == FNR { other[$1 $2] = $3; next } $2 == "s3" { $3 = other[$1 $2] } { print $1 "," $2 "," $3 }' other.csv full.csv > changed.csv; all
change 'if ($2 == "s3") $3 = 0.0002 * sin(NR)'; all
echo '# two of two that contradict each other'
awk -F, 'NR == FNR { other[$1 $2] = $3; next } $2 == "s2" { $3 = other[$1 $2] } NR < 2 || $2 ~ /sensor|s1|s2/ { print $1 "," $2 "," $3 }' other.csv full.csv > changed.csv; all
awk -F, '$2 == "s2" { $3 = 0.0002 * sin(NR) } $2 ~ /sensor|s1|s2/ { print $1 "," $2 "," $3 }' full.csv > changed.csv; all
echo '# noise that looks like little'
change '$3 = 0.0003 + 0.0003 * sin(NR * NR) + ($2 == "s1" && $1 == 1200) * 0.0021'; all
change '$3 = 0.0003 * sin(NR * NR) + ($2 == "s1" && $1 >= 0 && $1 <= 3600) * 0.0007'; all
change '$3 = 0.0003 * sin(NR * NR) + $1 / 18000 * 0.002'; all
echo '# read once just when it passes'
change 'if (!($3 > 0.02 && seen[$2]++ == 0)) $3 = 0.0002 * sin(NR)'; all
echo '# two releases, and a sensor that hardly tells them from its noise'
spill --source 4000,-5670,-2000 --seed 3 > second.csv
paste -d, full.csv second.csv | awk -F, 'NR == 1 { print $1 "," $2 "," $3; next } { print $1 "," $2 "," $3 + $6 }' > both.csv
words doubted.yaml both.csv
awk -F, 'NR > 1 && $2 == "s4" { $3 += 0.02 * sin(NR * NR) } { print $1 "," $2 "," $3 }' both.csv > weak.csv
sed '/id: s4/s/2.0e-4/0.015/' doubted.yaml > weak.yaml
words weak.yaml weak.csv
words weak.yaml weak.csv --seed 4
sed '/id: s1/s/2.0e-4/0.015/' doubted.yaml > weak.yaml
awk -F, 'NR > 1 && $2 == "s1" { $3 += 0.02 * sin(NR * NR) } { print $1 "," $2 "," $3 }' both.csv > weak.csv
words weak.yaml weak.csv
echo '# a velocity or a dispersion that is wrong'
river '{median: 1.3, factor: 1.05}' '{median: 14.2, factor: 1.1}' > doubted.yaml
river 1.3 14.2 > known.yaml
words known.yaml full.csv
words doubted.yaml full.csv
river '{median: 0.8, factor: 1.05}' '{median: 300, factor: 1.2}' > doubted.yaml
words doubted.yaml full.csv
river '{median: 1.3, factor: 1.05}' unknown > field.yaml
words field.yaml full.csv
echo '# boxes that end short, of place, time and mass'
for box in 'mass_g: [100, 20000], location_m: [-4000, -1000], time_s: [-6000, 0]' 'mass_g: [100, 3000], location_m: [-12000, -1000], time_s: [-20000, 0]' \
  'mass_g: [5500, 20000], location_m: [-12000, -1000], time_s: [-20000, 0]' 'mass_g: [100, 20000], location_m: [-5000, -4900], time_s: [-20000, 0]' \
  'mass_g: [100, 20000], location_m: [-12000, -1000], time_s: [-4000, 0]' 'mass_g: [100, 20000], location_m: [-12000, -8000], time_s: [-20000, 0]'; do
  river '{median: 0.75, factor: 1.2}' '{median: 20, factor: 2}' "$box" > boxed.yaml
  words boxed.yaml full.csv
  river '{median: 0.8, factor: 1.3}' unknown "$box" > boxed.yaml
  words boxed.yaml full.csv
done
