# How many sensors, and where.
echo '# the paper: 13 directly'
headwater plan data/river.yaml --spread 50,500,300 --source 1300,-5670,-9000 | tail -n 3
headwater plan data/river.yaml --spread 50,500,300 --source 1300,-5670,-9000 --seed 2 --format json | sed -n 2p
echo '# identifications from a file'
printf 'round,sensor,mass_g,location_m,time_s\n1,1,1300,-5600,0\n1,2,1310,-5900,60\n2,1,1290,-5650,10\n2,2,1320,-5700,0\n2,3,1300,-5710,20\n' > found.csv
try plan data/river.yaml --identifications found.csv --readings 20 --first 2 --pool 3
try plan data/river.yaml --identifications found.csv --readings 30 --first 2 --pool 3
printf '1,1,1300,x,0\n' > bad.csv
try plan data/river.yaml --identifications bad.csv
echo '# simulated sensors, the default'
headwater plan data/river.yaml --readings 50 --pool 8 --accept 2000,4000,9000 | tail -n 1
echo '# where'
headwater plan data/river.yaml --place 2 --sites -4000,4200,6 --sources 40 | tail -n 1
headwater plan data/river.yaml --place 2 --sites -4000,4200,6 --sources 40 --format json | grep -o '"layout": "[a-z]*"'
echo '# faults'
try plan data/river.yaml --first 1
try plan data/river.yaml --place 9 --sites -4000,4200,6
try plan data/river.yaml --sites 4200,-4000,6 --place 1
try plan data/river.yaml --spread 1,2,3 --identifications found.csv
