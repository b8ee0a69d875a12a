# Calendar time from end to end.
headwater simulate data/calendar.yaml --source 1500,-5000,2026-03-01T01:23:45Z --every 600 --noise-relative 0.02 > readings.csv
head -n 3 readings.csv
headwater identify data/calendar.yaml readings.csv --method atgd | grep -E 'place|released'
headwater identify data/calendar.yaml readings.csv --method atgd --format json | grep '"estimate"' | sed -E 's/.*("time": "2026-03-01T01:2)[^"]*".*/\1.../'
echo '# a box in seconds counts from the first reading'
headwater identify data/river.yaml readings.csv --method atgd | grep -E 'place|released'
