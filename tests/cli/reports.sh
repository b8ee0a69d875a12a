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
grep -oE '<h[12][^>]*>[^<]*</h[12]>' page.html
grep -o 'headwater identify river.yaml readings.csv.*' page.html
echo "refers to $(grep -oE '(src|href)="[^#"][^"]*"' page.html | wc -l) other files"
ls
echo "for A4: $(grep -c '@page{size:A4' page.html)"
echo '# what was taken for what stands in it'
sed '1s/.*/Zeit (s);Stelle;Konz (mg\/l)/; s/,/;/g' readings.csv > other.csv
headwater identify river.yaml other.csv --method atgd --report other.html > /dev/null 2>&1
sed -n '/What was taken/,/<\/pre>/p' other.html
rm other.html
echo '# the same answer on paper'
headwater identify river.yaml readings.csv --method atgd --report page.pdf --map map.gpkg > /dev/null
head -c 5 page.pdf; echo
# where the file shows it: some versions of cairo hide it in a stream
if grep -aq '/MediaBox' page.pdf && ! grep -aqE '/MediaBox \[ ?0 0 595[.0-9]* 84[12]' page.pdf; then echo 'not A4'; fi
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
echo '# the map of a network: every branch on its own line, both releases, and where they may have come from'
echo '{"type": "LineString", "coordinates": [[7.0, 50.0], [7.1, 50.1], [7.0, 50.4]]}' > stem.geojson
echo '{"type": "LineString", "coordinates": [[7.3, 50.1], [7.0, 50.2]]}' > ash.geojson
sed 's/id: stem,/&  centerline: stem.geojson,/; s/id: ash,/& centerline: ash.geojson,/; /^gauges/d' data/confluence.yaml > river.yaml
for source in 6000,ash:-8000,0 4000,ash:-8000,25000; do
  headwater simulate river.yaml --source $source --every 600 --from -7200 --to 72000 > $source.csv
done
paste -d, 6000*.csv 4000*.csv | awk -F, 'NR == 1 {print $1 "," $2 "," $3; next} {printf "%s,%s,%.6g\n", $1, $2, $3 + $6}' > readings.csv
sed -i 's/time_s: \[-7200, 7200\]/time_s: [-20000, 40000]/' river.yaml
headwater identify river.yaml readings.csv --map map.geojson > /dev/null
{ tr -d ' \n' < map.geojson; echo; } | sed 's/{"type":"Feature",/\n/g' |
  sed -nE 's/^"geometry":(null|\{"type":"([A-Za-z]*)").*"properties":(.*)/\2 \3/p' |
  sed -E 's/^([A-Za-z]*) .*"branch":"([a-z]*)".*"kind":"([a-z_]*)".*/\3 \2 \1/; s/^([A-Za-z]*) .*"kind":"([a-z_]*)".*/\2 \1/'
headwater identify river.yaml readings.csv --map map.gpkg > /dev/null
sqlite3 map.gpkg "SELECT kind, count(*) FROM stretches GROUP BY kind; SELECT probability > 0.9 FROM places WHERE kind = 'release'"
