# Every fault of the command line has its sentence and exit code 2.
try
try identfy
try --verison
try identify
try identify a b c
try identify --mthod atgd
try identify -m
try identify a b --method atdg
try identify a b --method
try identify a b --each=1
try identify a b --level 0
try identify a b --level 1.5
try identify a b --window 0
try identify a b --window 3.5
try identify a b --seed -1
try identify a b --format jsn
try identify a b --variant original
try identify a b --start 1,2
try identify a b --start 1,2,x
try identify a b --tolerance nan
try identify a b --threads 1000000000
try compare a b --methods atgd,nope
try compare a b --methods ,
try compare a b --truth 1
try simulate
try simulate data/river.yaml
try simulate data/river.yaml --source 1,2
try simulate data/river.yaml --source -1,2,3
try simulate data/river.yaml --source 1e300,-5000,0
try simulate data/river.yaml --source 100,-1e300,0
try simulate data/river.yaml --source 100,-5000,0 --every 0
try simulate data/river.yaml --source 100,-5000,0 --every 1e-300
try simulate data/river.yaml --source 100,-5000,0 --every 1e-300 --from 0 --to 60
try simulate data/river.yaml --source 100,-5000,0 --every 0.01 --from 0 --to 31557600
try simulate data/river.yaml --source 100,-5000,0 --from -1e300 --to 1e300
try simulate data/river.yaml --source 100,-5000,0 --duration 1e300
try simulate data/river.yaml --source 100,-5000,0 --from 10 --to 5
try simulate data/river.yaml --source 100,-5000,2026-03-01T00:00:00Z
try methods extra
try methods --format xml
try plan data/river.yaml --readings 1000000000000
try plan data/river.yaml --round 1000000000000
try plan data/river.yaml --pool 1000000000
try plan data/river.yaml --place 2 --sources 1000000000
try plan data/river.yaml --place 2 --sites -4000,4200,5000 --sources 2001
try serve data/river.yaml --threads 100000
# Without the lines of the log, which carry the time.
refused() {
  timeout 10 "$program" serve data/river.yaml --listen 127.0.0.1:0 --store refused.db "$@" 2>&1 >/dev/null | grep -v '^{'
}
refused --body-limit 18446744073709551615
refused --keep 0.5
refused --keep 1e300
refused --verify 1e-300
