# Rivers beyond nature: a sentence and its code; at its border: an answer or a sentence, never a number that is none.
cat > readings.csv <<'END'
time_s,sensor,concentration_g_m3
0,s1,0
300,s1,1.37
600,s1,2.4
900,s1,0
END
cat > plain.yaml <<'END'
name: R
hydraulics: {velocity_m_s: 1.2, dispersion_m2_s: 40, area_m2: 60, decay_per_s: 0}
search: {mass_g: [1000, 200000], location_m: [-30000, -1000], time_s: [-40000, 40000]}
sensors: [{id: s1, location_m: 0}]
END
for change in 'velocity_m_s: 1e300' 'velocity_m_s: 1e-300' 'dispersion_m2_s: 1e300' 'area_m2: 1e-300' 'decay_per_s: 1e16' \
  'mass_g: [1000, 1e300]' 'location_m: [-1e300, 0]'; do
  name=${change%%:*}
  sed -E "s/$name: ([0-9.]+|\\[[^]]*\\])/$change/" plain.yaml > river.yaml
  try simulate river.yaml --source 50000,-12000,3600 --from 0 --to 600
done
try simulate plain.yaml --source 50000,-12000,3600 --from 0 --to 600 --noise-absolute 1e308
# Each verb once: what it printed of nan and inf.
for change in 'velocity_m_s: 1e15' 'velocity_m_s: 1e-30' 'dispersion_m2_s: 1e15' 'dispersion_m2_s: 1e-30' 'area_m2: 1e15' \
  'area_m2: 1e-30' 'decay_per_s: 1e15' 'mass_g: [1000, 1e15]'; do
  name=${change%%:*}
  sed -E "s/$name: ([0-9.]+|\\[[^]]*\\])/$change/" plain.yaml > river.yaml
  for verb in 'identify river.yaml readings.csv --method posterior' 'identify river.yaml readings.csv --method atgd' \
    'identify river.yaml readings.csv --method annealing' 'compare river.yaml readings.csv' 'regret river.yaml readings.csv' \
    'check river.yaml --format json' \
    'simulate river.yaml --source 50000,-12000,3600 --from 0 --to 6000'; do
    headwater $verb > answer.txt
    echo "$change, $(echo "$verb" | sed "s/ .*--method//; s/ river.*//"): exit $?, $(grep -ciwE -e '-?(nan|inf)' answer.txt) lines that are no number"
  done
done
