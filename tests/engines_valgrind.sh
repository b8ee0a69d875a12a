#!/bin/sh
# engines_valgrind.sh PROGRAM: one answer of every model of the engine and of every learner, under valgrind. The
# sanitizers run all their tests; only valgrind sees a number that was never set.
set -eu
program=$(realpath "$1")
tests=$(dirname "$(realpath "$0")")
command -v valgrind >/dev/null || { echo 'skip: no valgrind'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >known.yaml <<'RIVER'
hydraulics: {velocity_m_s: 0.8, dispersion_m2_s: 14.2, area_m2: 37, decay_per_s: 0}
search: {mass_g: [100, 5000], location_m: [-9000, -1000], time_s: [-20000, 0]}
sensors:
  - {id: s1, location_m: 370, noise_relative: 0.05, detection_limit_g_m3: 2.0e-4}
  - {id: s2, location_m: 4200, noise_relative: 0.05, detection_limit_g_m3: 2.0e-4}
candidates: [{id: mill, location_m: -5700}]
intakes: [{id: works, location_m: 9000, alarm_g_m3: 0.01}]
RIVER
sed 's/dispersion_m2_s: 14.2/dispersion_m2_s: unknown/' known.yaml >unknown.yaml
cp "$tests/cli/data/network.yaml" network.yaml
"$program" simulate known.yaml --source 1234,-5670,-9000 --noise-relative 0.05 --censor >readings.csv
"$program" simulate network.yaml --source 5000,ash:-8000,0 --noise-relative 0.05 --every 1800 >network.csv

# looked_at RIVER READINGS METHOD: the answer comes, and valgrind has nothing against how
looked_at() {
  valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite,possible \
    "$program" identify "$1" "$2" --method "$3" --threads 1 >answer.txt || { cat answer.txt; echo "$3 on $1"; exit 1; }
  grep -q 'mass ' answer.txt || { cat answer.txt; echo "$3 on $1: no answer, expected one"; exit 1; }
}
for river in known unknown; do looked_at $river.yaml readings.csv posterior; done
looked_at network.yaml network.csv posterior
for method in atgd aptgd mptgd; do looked_at known.yaml readings.csv $method; done
