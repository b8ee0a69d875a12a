# Rivers beyond nature: an answer, or a sentence and its code; never a number that is none.
cat > readings.csv <<'END'
time_s,sensor,concentration_g_m3
0,s1,0
300,s1,1.37
600,s1,2.4
900,s1,0
END
for change in 'area_m2: 1e300' 'area_m2: 1e-300' 'dispersion_m2_s: 1e300' 'velocity_m_s: 1e-300' 'decay_per_s: 1e300'; do
  name=${change%%:*}
  cat > plain.yaml <<'END'
name: R
hydraulics: {velocity_m_s: 1.2, dispersion_m2_s: 40, area_m2: 60, decay_per_s: 0}
search: {mass_g: [1000, 200000], location_m: [-30000, -1000], time_s: [-40000, 40000]}
sensors: [{id: s1, location_m: 0}]
END
  sed "s/$name: [0-9.]*/$change/" plain.yaml > river.yaml
  for method in posterior atgd annealing; do
    headwater identify river.yaml readings.csv --method $method > answer.txt 2> said.txt
    code=$?
    grep -ciwE -e '-?(nan|inf)' answer.txt > none.txt
    echo "$change, $method: exit $code, $(cat none.txt) lines that are no number"
    [ $code -eq 0 ] || cut -c1-100 said.txt | head -1
  done
done
