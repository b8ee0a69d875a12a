# Odd records on branches, steady and in changing flow, to six digits. `make digits` writes it anew.
answer() { headwater identify "$@" --format json --threads 1 | digits; }
words() { headwater identify "$@" --threads 1 | digits; }
cp data/confluence.yaml steady.yaml
{ cat steady.yaml; echo 'flow: data/flow.csv'; } > flowing.yaml
sed -e 's/{median: 0.8, factor: 1.1}/0.8/; s/{median: 30, factor: 1.5}/30/' steady.yaml > known.yaml
spill() { headwater simulate "$@" --noise-relative 0.05 --noise-absolute 0.0001 --every 1200 --from 0 --to 70000; }
change() { awk -F, -v OFS=, "NR > 1 { $1 } { print \$1, \$2, \$3 }" "${2:-one.csv}" > changed.csv; }
both() { for river in steady flowing; do words $river.yaml changed.csv; done; }

spill steady.yaml --source 5000,ash:-8000,0 > one.csv
echo '# known hydraulics'
words known.yaml one.csv
answer known.yaml one.csv --level 0.5 --seed 9
echo '# a release of hours'
for river in steady flowing; do
  spill $river.yaml --source 9000,stem:-31000,1000 --duration 15000 > lasting.csv
  answer $river.yaml lasting.csv
done
awk -F, 'NR == 1 || $1 < 30000' lasting.csv > going.csv
words flowing.yaml going.csv
echo '# one sensor dead, in another unit, of another release, silent, clipped; the first hours'
change 'if ($2 == "last") $3 = 0.0021'; both
change 'if ($2 == "low") $3 *= 1000'; both
spill steady.yaml --source 9000,stem:-31000,4000 --seed 2 > other.csv
awk -F, 'NR == FNR { other[$1 $2] = $3; next } $2 == "last" { $3 = other[$1 $2] } { print $1 "," $2 "," $3 }' other.csv one.csv > changed.csv; both
change 'if ($2 == "last") $3 = 0.0001 * sin(NR)'; both
change 'if ($2 == "low" && $3 > 0.1) $3 = ">0.1"'; both
awk -F, 'NR == 1 || $1 < 24000' one.csv > changed.csv; both
echo '# grab samples, and a sensor above all of it'
awk -F, '$2 != "last" || $1 == 40800' one.csv > changed.csv; both
change '$3 += 0.002 + 0.0002 * sin(NR * NR)'; both
echo '# hydraulics that are wrong, a box that ends short'
sed 's/median: 0.8, factor: 1.1/median: 1.4, factor: 1.05/; s/, velocity_m_s: 0.[79]//g' steady.yaml > fast.yaml
words fast.yaml one.csv
sed 's/time_s: \[-7200, 7200\]/time_s: [3000, 7200]/' steady.yaml > late.yaml
words late.yaml one.csv
sed 's/mass_g: \[100, 100000\]/mass_g: [100, 1000]/' steady.yaml > light.yaml
words light.yaml one.csv
for question in place who; do
  awk -F, 'NR == 1 || $1 < 24000' one.csv > early.csv
  headwater advise known.yaml early.csv --for $question --format json | digits
done
headwater check known.yaml --places 2 --format json | digits
echo '# where to look, branch by branch'
sed 's/time_s: \[-7200/locations: {ash: [-11000, -5000], stem: [-35000, -22000]}, &/' flowing.yaml > located.yaml
answer located.yaml one.csv
words located.yaml lasting.csv
echo '# nobody can have been it, and somebody must have'
{ sed '/^candidates/d' located.yaml; echo 'candidates: [{id: dock, branch: stem, location_m: -21000}]'; echo 'none_of_these: {prior: 0}'; } > nobody.yaml
words nobody.yaml one.csv
