# Every kind of bad river file has its sentence, its line and exit code 1.
good='hydraulics: {velocity_m_s: 1, dispersion_m2_s: 40, area_m2: 60}
search: {mass_g: [1, 2], location_m: [-9, -1], time_s: [0, 5]}
sensors: [{id: s1, location_m: 3}]'
echo 'time_s,sensor,concentration_g_m3
1,s1,0.1' > readings.csv
with() {
  printf '%b\n' "$1" > river.yaml
  try identify river.yaml readings.csv --method atgd
}
echo '# unknown key';        with "$good\ncolour: blue"
echo '# wrong type';         with 'hydraulics: 5'
echo '# wrong value';        with 'hydraulics:\n  velocity_m_s: brisk'
echo '# not a number';       with 'hydraulics:\n  velocity_m_s: 1\n  dispersion_m2_s: .nan'
echo '# infinite';           with 'hydraulics:\n  velocity_m_s: .inf'
echo '# overlapping reaches'; with "$good\nreaches:\n  - {to_m: 5}\n  - {to_m: 5}"
echo '# duplicate sensors';  with 'sensors:\n  - {id: a, location_m: 1}\n  - {id: a, location_m: 2}'
echo '# duplicate keys';     with "$good\nname: a\nname: b"
echo '# lo > hi';            with 'search:\n  mass_g: [2, 1]'
echo '# instant without offset'; with 'search:\n  time_s: [2026-03-01T00:00:00, 2026-03-02T00:00:00Z]'
echo '# missing part';       with 'name: nothing else'
echo '# no sensors';         with 'sensors: []'
echo '# a trust above 1';    with "$good\ncandidates:\n  - {id: m, location_m: -3, active: [[1, 2]], active_trust: 7}"
echo '# none of these, for certain'; with "$good\ncandidates: [{id: m, location_m: -3}]\nnone_of_these:\n  prior: 1"
echo '# two documents';      with "$good\n---\nname: second"
echo '# broken YAML';        with 'search: [1, 2\nname: x'
echo '# aliases in a circle'; with 'sensors: &s [*s]'
echo '# binary';             with 'name: \0001\0002'
echo '# empty';              : > river.yaml; try identify river.yaml readings.csv --method atgd
echo '# not there';          rm river.yaml; try identify river.yaml readings.csv --method atgd
echo '# a folder';           try identify . readings.csv --method atgd
echo '# huge';               head -c 17000000 /dev/zero | tr '\0' ' ' > river.yaml; try identify river.yaml readings.csv --method atgd
echo '# no hydraulics';      with "hydraulics: {velocity_m_s: 1, dispersion_m2_s: unknown, area_m2: 2}
search: {mass_g: [1, 2], location_m: [-9, -1], time_s: [0, 5]}
sensors: [{id: s1, location_m: 3}]"
echo '# an unknown substance'; with "$good\nsubstance: phlogiston"
echo '# a substance of numbers'; with "$good\nsubstance: {name: x, decay_per_s: -1}"
echo '# faster than the water'; with "$good\nsubstance: {name: x, retardation: 0.5}"
echo '# doubt without a factor'; with "$good\nsubstance: {name: x, volatilisation_m_s: {median: 1}}"
echo '# a nameless substance'; with "$good\nsubstance: {decay_per_s: 1}"
echo '# decay told twice';     with "substance: benzene\nhydraulics:\n  velocity_m_s: 1\n  dispersion_m2_s: 40\n  area_m2: 60\n  decay_per_s: 0
search: {mass_g: [1, 2], location_m: [-9, -1], time_s: [0, 5]}
sensors: [{id: s1, location_m: 3}]"
echo '# decay told by a reach'; with "$good\nsubstance: benzene\nreaches:\n  - {to_m: 0, decay_per_s: 1}"
echo '# neither area nor discharge: the equation has no mass, the field model answers'
sed 's/, area_m2: 37//' data/known.yaml > dry.yaml
headwater simulate data/known.yaml --source 1234,-5670,-9000 --noise-relative 0.05 > dry.csv
try identify dry.yaml dry.csv
sed 's/dispersion_m2_s: 14.2/dispersion_m2_s: unknown/' dry.yaml > dry_field.yaml
headwater identify dry_field.yaml dry.csv | grep -E '^Spill|mass is only'
