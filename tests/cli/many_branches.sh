# 500 branches and 1,000 sensors load in less than a second of processor time: whoever needs more is ended.
awk 'BEGIN {
  srand(3)
  print "hydraulics: {velocity_m_s: {median: 0.7, factor: 1.15}, dispersion_m2_s: {median: 40, factor: 1.8}}"
  print "substance: chloride\nbranches:\n  - {id: b0, head_m: -400000, reaches: [{to_m: 0, discharge_m3_s: 600}]}"
  length_of[0] = 400000
  for (i = 1; i < 500; i++) {
    parent = i < 6 ? 0 : int((i - 1) * rand())
    own = length_of[parent] * (0.3 + 0.3 * rand()); own = own < 3000 ? 3000 : own; length_of[i] = own
    printf "  - {id: b%d, head_m: %d, joins: {branch: b%d, at_m: %d}, reaches: [{to_m: 0, discharge_m3_s: 1}]}\n",
      i, -own, parent, -length_of[parent] * (0.1 + 0.8 * rand())
  }
  print "search: {mass_g: [10, 100000], time_s: [-43200, 166500]}\nsensors:"
  for (k = 0; k < 1000; k++) {
    printf "  - {id: s%d, branch: b%d, location_m: %d, noise_relative: 0.05}\n", k, k % 500,
      -length_of[k % 500] * (0.02 + 0.8 * rand())
  }
}' > river.yaml
(ulimit -t 1; headwater simulate river.yaml --source 50000,b0:-30000,0 --every 3600 --from 0 --to 0 2>&1) | grep -c '^0,s'
