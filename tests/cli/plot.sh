# Pictures: SVG and PNG, with the script beside them; names that gnuplot would stumble over are refused.
if ! command -v gnuplot > /dev/null; then
  echo 'skip: gnuplot is not installed'
  exit
fi
cat > river.yaml <<'Y'
name: A river with 'quotes', `touch pwned` and {braces}_^
hydraulics: {velocity_m_s: 0.8, dispersion_m2_s: 14.2, area_m2: 37}
search: {mass_g: [100, 5000], location_m: [-9000, -1000], time_s: [-20000, 0]}
sensors: [{id: "s'1`touch pwned`", location_m: 370, noise_absolute_g_m3: 1.0e-5}, {id: "s2_{x}", location_m: 4200, noise_absolute_g_m3: 1.0e-5}]
candidates: [{id: "m'ill`", location_m: -5600}]
intakes: [{id: town, name: "Town's `touch pwned` intake", location_m: 9000, alarm_g_m3: 0.001}]
Y
headwater simulate river.yaml --source 1234,-5670,-9000 > readings.csv
for method in atgd posterior; do
  for kind in svg png; do
    headwater identify river.yaml readings.csv --method $method --plot "fit $method.$kind" > answer.txt
    echo "exit $?: $(head -c 5 "fit $method.$kind" | tr -dc 'A-Za-z<?')"
  done
  ls "fit $method."*
  ! [ -e pwned ] || echo 'a backquote was run'
done
echo '# run again by hand'
rm 'fit atgd.png'
gnuplot 'fit atgd.png.gp' 2> gnuplot.txt && ls 'fit atgd.png'
echo '# into another folder'
mkdir out
try identify river.yaml readings.csv --method atgd --plot out/fit.svg > answer.txt
ls out
echo '# faults'
try identify river.yaml readings.csv --method atgd --plot fit.pdf
try identify river.yaml readings.csv --method atgd --plot "f'it.png"
headwater identify river.yaml readings.csv --method atgd --plot no/such/fit.png | tail -n 1
mkdir empty
(PATH=$PWD/empty; "$program" identify river.yaml readings.csv --method atgd --plot fit.png 2>&1 > answer.txt; echo "exit $?")
echo '# a network as a tree'
cp data/network.yaml tree.yaml
headwater simulate tree.yaml --source 5000,ash:-8000,0 --every 600 --from 0 --to 43200 > tree.csv
try identify tree.yaml tree.csv --method atgd --plot tree.svg > answer.txt
grep -c 'Where in the network' tree.svg.gp
grep -o 'Sensor low at stem km -5.00' tree.svg.gp
