# A release in a network: who sees it, and how diluted.
cp data/network.yaml river.yaml
echo '# from the tributary';  try simulate river.yaml --source 5000,ash:-8000,0 --every 3600
echo '# from the stem';       try simulate river.yaml --source 5000,-22000,0 --every 3600 --from 28800 --to 28800
echo '# an unknown branch';   try simulate river.yaml --source 5000,oak:-8000,0
echo '# above the head';      try simulate river.yaml --source 5000,ash:-13000,0
echo '# found again, branch and all'
headwater simulate river.yaml --source 5000,ash:-8000,0 --every 600 --from 0 --to 43200 > readings.csv
try identify river.yaml readings.csv --method atgd | steady
try identify river.yaml readings.csv --method atgd --format json | grep -o '"branch": "[a-z]*"' | sort -u
echo '# could these sensors tell where?'; try check river.yaml --places 5
echo '# with readings: on which branch'
try check river.yaml readings.csv --places 1 | sed -n '/^At the/,$p' | sed 's/: sd at least.*//'
try check river.yaml readings.csv --places 1 --format json | grep -oE '"estimate": ."branch": "[a-z]*"|"error_bound": null'
echo '# which confluence should get the next sensor?'
sed -i '/id: side/d' river.yaml
try plan river.yaml --place 1 --beside --pool 12
try plan river.yaml --place 1 --beside --pool 12 --format json | grep -o '"layout": "exact".*branch_told": [0-9.]*'
try plan river.yaml --place 1 --sites 0,1000,5
try plan river.yaml --beside
echo '# what stands on one river'
try regret river.yaml readings.csv
try plan river.yaml
