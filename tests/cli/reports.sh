# A report holds everything and asks for nothing; a map opens in map programs.
command -v gnuplot > /dev/null || { echo 'skip: no gnuplot'; exit; }
command -v sqlite3 > /dev/null || { echo 'skip: no sqlite3'; exit; }
cat > line.geojson <<'JSON'
{"type": "LineString", "coordinates": [[10.1, 50.2], [10.3, 50.25], [10.5, 50.2]]}
JSON
sed 's/^name: .*/name: Elm <\&> Ash/' data/river.yaml > river.yaml
echo 'centerline: line.geojson' >> river.yaml
headwater simulate river.yaml --source 1234,-5670,-9000 > readings.csv
headwater identify river.yaml readings.csv --method atgd --report page.html --map map.geojson > /dev/null
echo '# the page'
grep -c '<svg' page.html
grep -o '<h[12]>[^<]*</h[12]>' page.html
grep -o 'headwater identify river.yaml readings.csv.*' page.html
echo "refers to $(grep -oE '(src|href)="[^#"][^"]*"' page.html | wc -l) other files"
ls
echo '# the same answer on paper'
headwater identify river.yaml readings.csv --method atgd --report page.pdf --map map.gpkg > /dev/null
head -c 5 page.pdf; echo
ls page*
echo '# the map'
grep -o '"kind": "[a-z_]*"' map.geojson | sort | uniq -c | sed 's/^ *//'
sqlite3 map.gpkg 'PRAGMA application_id; PRAGMA integrity_check; SELECT kind, count(*) FROM places GROUP BY kind; SELECT kind, length(geom) FROM stretches'
echo '# again over an old file'
headwater identify river.yaml readings.csv --method atgd --map map.gpkg > /dev/null
sqlite3 map.gpkg 'SELECT count(*) FROM gpkg_contents'
echo '# faults'
try identify river.yaml readings.csv --report page.doc
try identify river.yaml readings.csv --map map.shp
try identify data/river.yaml readings.csv --method atgd --map map.gpkg | tail -2
try identify river.yaml readings.csv --method atgd --map /nowhere/map.geojson | tail -2
