# Tables of other programs: what is proposed for each, and that a proposal is what identify reads by.
cat > two.yaml <<'YAML'
name: Elm
hydraulics: {velocity_m_s: 1.1, dispersion_m2_s: 30, area_m2: 40, decay_per_s: 0}
search: {mass_g: [10, 100000], location_m: [-30000, -1000], time_s: [-90000, 24000]}
sensors:
  - {id: s1, location_m: 0, noise_relative: 0.05}
  - {id: s2, location_m: 4000, noise_relative: 0.05}
YAML
cp data/exports/* .
for file in german.csv german-utf16.csv autumn.tsv korexo.csv hobo.csv hobo-german.txt turner.txt turner-cat.txt hach-hq.txt hydrolab.csv usgs.rdb toa5.dat wide-excel.csv us.csv; do
  echo "# $file"
  try columns "$file" --river two.yaml
done
echo '# what is known already need not be guessed'
try columns us.csv --columns 'unit=ug/l,timezone=America/New_York'
echo '# our own way, and no table at all'
headwater simulate two.yaml --source 1234,-5670,-9000 > plain.csv
try columns plain.csv
try columns /dev/zero
echo '# a spreadsheet gives the same answer as the plain file'
answer() { headwater identify "$@" --method atgd | grep -E '^(!|  (mass|place|released))'; }
awk -F, 'NR == 1 { print "Zeit (s);Stelle;Konz (ppb)"; next } { v = sprintf("%.17g", $3 * 1000); gsub(/\./, ",", v); print $1 ";" $2 ";" v }' plain.csv > spread.csv
answer two.yaml plain.csv
answer two.yaml spread.csv
headwater columns spread.csv --river two.yaml | grep -v "^!" > mapping.yaml
answer two.yaml spread.csv --columns mapping.yaml
cat two.yaml mapping.yaml > mapped.yaml
answer mapped.yaml spread.csv
answer mapped.yaml plain.csv
echo '# from a pipe'
answer mapped.yaml - < spread.csv
echo '# faults of the command line'
try identify two.yaml spread.csv --columns 'unit=furlong'
try identify two.yaml spread.csv --columns nowhere.yaml
try identify two.yaml us.csv --columns 'unit=ug/l' --timezone Nowhere/At_all
