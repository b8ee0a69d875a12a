# Every kind of bad network has its sentence, its line and exit code 1.
common='hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 40, discharge_m3_s: 8, decay_per_s: 0}
search: {mass_g: [1, 2], time_s: [0, 5]}
sensors: [{id: s1, location_m: -900, noise_relative: 0.05}]'
stem='  - {id: stem, head_m: -60000, reaches: [{to_m: -30000}, {to_m: 0}]}'
ash='  - {id: ash, head_m: -21000, joins: {branch: stem, at_m: -31000}}'
with() {
  printf '%b\n' "$1" > river.yaml
  try simulate river.yaml --source 1,-5000,0 --every 100000
}
echo '# a loop';                  with "$common\nbranches:\n$stem\n  - {id: a, head_m: -9, joins: {branch: b, at_m: -1}}\n  - {id: b, head_m: -9, joins: {branch: a, at_m: -1}}"
echo '# two outlets';             with "$common\nbranches:\n$stem\n  - {id: ash, head_m: -21000}"
echo '# none at all';             with "$common\nbranches:\n  - {id: a, head_m: -9, joins: {branch: b, at_m: -1}}\n  - {id: b, head_m: -9, joins: {branch: a, at_m: -1}}"
echo '# joins itself';            with "$common\nbranches:\n$stem\n  - {id: ash, head_m: -21000, joins: {branch: ash, at_m: -3}}"
echo '# joins nobody known';      with "$common\nbranches:\n$stem\n  - {id: ash, head_m: -21000, joins: {branch: oak, at_m: -3}}"
echo '# joins above the head';    with "$common\nbranches:\n$stem\n  - {id: ash, head_m: -21000, joins: {branch: stem, at_m: -60001}}"
echo '# joins below the end';     with "$common\nbranches:\n$stem\n  - {id: ash, head_m: -21000, joins: {branch: stem, at_m: 1}}"
echo '# joins nowhere';           with "$common\nbranches:\n$stem\n  - {id: ash, head_m: -21000, joins: {branch: stem}}"
echo '# a head below the mouth';  with "$common\nbranches:\n$stem\n  - {id: ash, head_m: 3, joins: {branch: stem, at_m: -5}}"
echo '# a reach below the mouth'; with "$common\nbranches:\n$stem\n  - {id: ash, head_m: -3, joins: {branch: stem, at_m: -5}, reaches: [{to_m: 1}]}"
echo '# a reach above the head';  with "$common\nbranches:\n$stem\n  - {id: ash, head_m: -3, joins: {branch: stem, at_m: -5}, reaches: [{to_m: -4}]}"
echo '# no branches';             with "$common\nbranches: []"
echo '# one id twice';            with "$common\nbranches:\n$stem\n$stem"
echo '# reaches of both kinds';   with "$common\nbranches:\n$stem\nreaches: [{to_m: 0}]"
echo '# location_m';              with "hydraulics: {velocity_m_s: 1, dispersion_m2_s: 2, area_m2: 3}\nsensors: [{id: s1, location_m: -1}]\nsearch:\n  mass_g: [1, 2]\n  time_s: [0, 5]\n  location_m: [-9, 0]\nbranches:\n$stem"
echo '# locations of an unknown branch'; with "hydraulics: {velocity_m_s: 1, dispersion_m2_s: 2, area_m2: 3}\nsensors: [{id: s1, location_m: -1}]\nsearch:\n  mass_g: [1, 2]\n  time_s: [0, 5]\n  locations: {oak: [-9, 0]}\nbranches:\n$stem"
echo '# locations above the head'; with "hydraulics: {velocity_m_s: 1, dispersion_m2_s: 2, area_m2: 3}\nsensors: [{id: s1, location_m: -1}]\nsearch:\n  mass_g: [1, 2]\n  time_s: [0, 5]\n  locations: {stem: [-90000, 0]}\nbranches:\n$stem"
echo '# locations without branches'; with "hydraulics: {velocity_m_s: 1, dispersion_m2_s: 2, area_m2: 3}\nsensors: [{id: s1, location_m: -1}]\nsearch:\n  mass_g: [1, 2]\n  time_s: [0, 5]\n  locations: {stem: [-9, 0]}"
echo '# a gauge on an unknown branch'; with "$common\nbranches:\n$stem\ngauges:\n  - {id: g1, branch: oak, location_m: -1}"
echo '# a sensor on an unknown branch'; with "hydraulics: {velocity_m_s: 1, dispersion_m2_s: 2, area_m2: 3}\nsearch: {mass_g: [1, 2], time_s: [0, 5]}\nbranches:\n$stem\nsensors:\n  - {id: s1, branch: oak, location_m: -1}"
echo '# a branch where there are none'; with "hydraulics: {velocity_m_s: 1, dispersion_m2_s: 2, area_m2: 3}\nsearch: {mass_g: [1, 2], time_s: [0, 5], location_m: [-9, 0]}\nsensors:\n  - {id: s1, branch: stem, location_m: -1}"
echo '# a sensor above the head';    with "hydraulics: {velocity_m_s: 1, dispersion_m2_s: 2, area_m2: 3}\nsearch: {mass_g: [1, 2], time_s: [0, 5]}\nbranches:\n$stem\nsensors:\n  - {id: s1, branch: stem, location_m: -60001}"
echo '# a candidate above the head'; with "$common\nbranches:\n$stem\ncandidates:\n  - {id: mill, branch: stem, location_m: -60001}"
echo '# an intake below the mouth';  with "$common\nbranches:\n$stem\n$ash\nintakes:\n  - {id: reno, branch: ash, location_m: 1}"
echo '# a gauge above the head';     with "$common\nbranches:\n$stem\ngauges:\n  - {id: g1, branch: stem, location_m: -70000}"
echo '# no discharge anywhere';     with "hydraulics: {velocity_m_s: 1, dispersion_m2_s: 2}\nsearch: {mass_g: [1, 2], time_s: [0, 5]}\nsensors: [{id: s1, location_m: -1}]\nbranches:\n$stem\n$ash"
echo '# no discharge below a tributary'; with "hydraulics: {velocity_m_s: 1, dispersion_m2_s: 2}\nsearch: {mass_g: [1, 2], time_s: [0, 5]}\nsensors: [{id: s1, location_m: -1}]\nbranches:\n  - {id: ash, head_m: -21000, joins: {branch: stem, at_m: -31000}, reaches: [{to_m: 0, discharge_m3_s: 2}]}\n  - {id: stem, head_m: -60000}"
echo '# dispersion unknown';         with "search: {mass_g: [1, 2], time_s: [0, 5]}\nsensors: [{id: s1, location_m: -1}]\nhydraulics:\n  velocity_m_s: 1\n  dispersion_m2_s: unknown\nbranches:\n  - {id: stem, head_m: -60000}\n$ash"
echo '# an exponent of one';         with "hydraulics:\n  velocity_m_s: 1\n  velocity_exponent: 1"
echo '# more branches than a sentence can name'
many=$(seq 1 30 | sed "s/.*/  - {id: a-brook-with-a-long-name-&, head_m: -21000, joins: {branch: stem, at_m: -31000}}\\\\n/" | tr -d '\n')
with "$common\nbranches:\n$stem\n${many}gauges:\n  - {id: g1, branch: oak, location_m: -1}"
