# Flow in time: a release drifts with it, and every kind of bad flow file has its sentence, its line and exit code 1.
cat > river.yaml <<'RIVER'
hydraulics: {velocity_m_s: 0.8, dispersion_m2_s: 30, discharge_m3_s: 6, decay_per_s: 0, velocity_exponent: 0.5}
search: {mass_g: [100, 100000], location_m: [-40000, -6000], time_s: [-7200, 7200]}
sensors: [{id: low, location_m: -5000, noise_relative: 0.05}]
gauges: [{id: g1, location_m: -4000}]
flow: flow.csv
RIVER
with() {
  printf '%b\n' "$1" > flow.csv
  try simulate river.yaml --source 5000,-14000,0 --every 3600
}
echo '# as the river says';     with 'time_s,gauge,discharge_m3_s\n0,g1,6'
echo '# four times as much: twice as fast'; with 'gauge,time_h,discharge_m3_s # odd order\n\ng1,0,24'
echo '# for half an hour';      with 'time_s,gauge,discharge_m3_s\n0,g1,6'; try simulate river.yaml --source 5000,-14000,0 --duration 1800 --every 3600
echo '# a long silence';        with 'time_s,gauge,discharge_m3_s\n0,g1,6\n90000,g1,6'
headwater simulate river.yaml --source 5000,-14000,0 --every 600 --from 0 --to 21600 > readings.csv
note() {
  printf '%b\n' "$1" > flow.csv
  try identify river.yaml readings.csv | grep -E 'flow.csv|peak  |exit'
}
printf 'time_s,gauge,discharge_m3_s\n0,g1,6\n9000,g1,18\n' > flow.csv
headwater simulate river.yaml --source 5000,-14000,0 --every 600 --from 0 --to 21600 > risen.csv
echo '# the bound of readings stands on steady flow, and so does the paper'
try check river.yaml risen.csv --places 1 | sed -n '/^At the/,$p'
try check river.yaml risen.csv --places 1 --format json | grep -o '"bound": null'
try regret river.yaml risen.csv
try plan river.yaml
sed -i '$a intakes: [{id: town, location_m: 21000, alarm_g_m3: 0.001}]' river.yaml
echo '# known to the end: no doubt of the flow';   note 'time_s,gauge,discharge_m3_s\n0,g1,6\n40000,g1,6'
echo '# nothing known of what has still to come';  note 'time_s,gauge,discharge_m3_s\n0,g1,6'
echo '# a long silence is said, and is in the forecast'; note 'time_s,gauge,discharge_m3_s\n0,g1,6\n90000,g1,6'
echo '# two discharges for one instant'; note 'time_s,gauge,discharge_m3_s\n0,g1,24\n0,g1,6\n40000,g1,6'
echo '# zero';                  with 'time_s,gauge,discharge_m3_s\n0,g1,6\n60,g1,0'
echo '# negative';              with 'time_s,gauge,discharge_m3_s\n0,g1,-6'
echo '# a gap';                 with 'time_s,gauge,discharge_m3_s\n0,g1,6\n60,g1,\n120,g1,6'
echo '# no number';             with 'time_s,gauge,discharge_m3_s\n0,g1,much'
echo '# an unknown gauge';      with 'time_s,gauge,discharge_m3_s\n0,g2,6'
echo '# no gauge column';       with 'time_s,sensor,discharge_m3_s\n0,g1,6'
echo '# another clock';         with 'time,gauge,discharge_m3_s\n2026-03-01T00:00:00Z,g1,6'
echo '# a time that is none';   with 'time_s,gauge,discharge_m3_s\nnoon,g1,6'
echo '# a short row';           with 'time_s,gauge,discharge_m3_s\n0,g1'
echo '# empty';                 : > flow.csv; try simulate river.yaml --source 5000,-14000,0
echo '# not there';             rm flow.csv; try simulate river.yaml --source 5000,-14000,0
echo '# no gauges';             grep -v gauges river.yaml > bare.yaml; echo 'time_s,gauge,discharge_m3_s' > flow.csv; try simulate bare.yaml --source 5000,-14000,0
