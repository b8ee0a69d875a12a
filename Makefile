# A thin front for people; the build itself is Meson and Ninja.
#
#   make          build build/headwater
#   make demo     identify the source of a bundled spill and draw it
#   make test     everything, from a fresh machine to "N passed, 0 failed"
#   make bench    how fast, as ratios in one run
#   make install  program, library, headers, man pages (PREFIX=/usr/local)
#   make deb      Debian packages (build-deb/): program and service, library, headers, Python, documentation
#   make test-deb install, upgrade and remove them on this machine (as root)
#   make reproduce   the paper's figures and tables: reproduce-output/index.html and docs/results.md
#   make pages       every shipped page that shows what the program says: that one, the session and table in README.md,
#                    docs/spill.svg, the answers in docs/manual.md and docs/start-*.md;
#                    PAGES=quick leaves out the long sections
#   make study-online   do the learners reach the best fit? 100 random rivers
#   make study-posterior is the engine, dispersion known, as good as its equations allow?
#   make study-rivers   coverage and errors of the field model on held-out rivers
#   make study-networks which branch? spills in networks, table by kind; NETWORKS="--make 40 --seed 7 --method atgd"
#   make study-weeks    is an answer right about its own doubt? 2,000 random weeks; WEEKS="--cases 200 --stratum censored"
#   make study-density  do more readings ever make an answer worse? every 1200 s to every second, and a million
#   make study-advise   is one advised sample worth more than one at a fixed place, or anywhere? ADVISE="20" a network
#   make study-field    a real incident, conductivity, releases that last, small streams
#   make fit-population refit its constants, data/population.def
#   make choose-population how far rivers stray: distributions compared on held-out rivers (ten minutes)
#
#   make serve    the live service with a bundled spill, on http://127.0.0.1:8080/ (SERVE="--listen 127.0.0.1:9090")
#   make pictures the pictures of the dashboard in docs/ (needs Chromium)
#   make bench-advice how long "where to sample next" takes over HTTP, by question
#   make newcomer how long from git clone until that shows a live incident
#   make load     readings per second over HTTP and MQTT against bare SQLite; LOAD="--soak 600" for ten minutes,
#                 LOAD="--store postgresql://..." for the service on PostgreSQL
#   make torture  200 kills under load, a failing disk, a broker that goes: nothing lost, nothing doubled
#   make powercut power cuts on a file system that forgets what was not synced (FUSE): SQLite, and NATS with sync_interval: always
#   make faults   50 faults to a cluster of three NATS nodes and three workers, and its leader cut off ten times: it says what one machine says
#   make scale    readings per second, latency, take-over and space of a cluster against one machine
#   make demo-songhua   the Songhua in 2005, told from its bulletins day by day, and drawn
#   make demo-cluster   a cluster on this machine, two spills, a node and a worker killed on the way
#   make fuzz     every parser, FUZZ_SECONDS=60 each
#   make digits   what tests/cli/digits_*.sh compare to six digits, written anew; read the difference before you commit it
#   make format   every C, Python and TypeScript file in the one layout that `make test` asks for
#   make coverage lines and branches the tests run, of src/ and the service's parsers (llvm-cov)
#   make damage   30 damaged bytes in the WAL, 300 in the file: whatever changes the log is told
#   make strangers 10,000 connections, wrong tokens timed, hostile names in a real browser
#   make ten-million  ten million readings through the engine: time and memory
#   make many-sensors a service with a million sensors: its start, and the first pages of its long answers
#   make mutate   200 changed operators: do the tests notice? Hours; MUTATE="--count 20 src/io/csv.c" for less
#   make study-detect   false alarms per sensor-year and delay of the service's detection
#
# Each target installs the Debian packages it needs (packages.txt) if they are missing.

PREFIX ?= /usr/local
BUILD := build
HEADWATER := $(BUILD)/headwater
# The field data, where they are at hand.
TRUCKEE := ../shared/data/truckee

FUZZ_SECONDS ?= 60
LOAD ?=
SERVE ?=
MUTATE ?=
FAULTS ?=
POWERCUT ?=
SCALE ?=
DEMO ?=
PAGES ?=
WEEKS ?=

.PHONY: ten-million program serve newcomer load torture powercut damage strangers coverage faults scale demo-cluster demo-songhua fuzz mutate study-detect
.PHONY: all pages deb test-deb reproduce demo test bench install clean study-online study-posterior study-rivers study-weeks study-density study-field fit-population choose-population
all: program
	@ninja --quiet -C $(BUILD)

# The program alone, without tests and studies: enough for a first look.
program:
	@tools/need build
	@tools/need web || echo 'no Node and npm: the dashboard is left out' >&2
	@[ -f $(BUILD)/build.ninja ] || meson setup $(BUILD) --prefix=$(PREFIX) >$(BUILD).log || { cat $(BUILD).log; exit 1; }
	@ninja --quiet -C $(BUILD) headwater

demo: all
	@tools/need demo
	@examples/demo

test:
	@tools/need build demo test lint
	@tools/need web || echo 'no Node and npm: the dashboard is left out' >&2
	@tools/nats-server
	@tools/check

install: all
	@meson configure $(BUILD) --prefix=$(abspath $(PREFIX)) >/dev/null
	@meson install -C $(BUILD)

deb:
	@tools/need build deb
	@tools/need web || echo 'no Node and npm: the dashboard is left out' >&2
	@tools/deb

test-deb: deb
	@tests/debian.sh build-deb

.PHONY: pictures
pictures: program
	@node tools/pictures.mjs $(HEADWATER) web docs

reproduce: all
	@tools/need demo
	@$(HEADWATER) reproduce --markdown docs/results.md

pages: all
	@tools/need demo
	@tools/pages $(PAGES)

study-online: all
	@$(BUILD)/experiments/study_online

study-posterior: all
	@$(BUILD)/experiments/study_posterior

study-rivers: all
	@$(BUILD)/experiments/study_rivers ../shared/data

.PHONY: study-networks
study-networks: all
	@tools/need study
	@python3 experiments/study_networks.py $(BUILD)/headwater ../shared/data/networks $(NETWORKS)

.PHONY: bench-advice
bench-advice: all
	@python3 bench/load/advice.py $(HEADWATER)

.PHONY: study-advise
study-advise: all
	@$(BUILD)/experiments/study_advise ../shared/data $(ADVISE)

study-field: all
	@$(BUILD)/experiments/study_field ../shared/data/field

choose-population: all
	@$(BUILD)/experiments/choose_population ../shared/data/rivers

# Stopped and started again it goes on where it was.
study-weeks: all
	@$(BUILD)/experiments/study_weeks --results $(BUILD)/weeks.txt --candidates $(WEEKS)

study-density: all
	@$(BUILD)/experiments/study_density

# Through a second file: the shipped constants stay as they are when the data are absent.
fit-population: all
	@$(BUILD)/experiments/fit_population ../shared/data/rivers >$(BUILD)/population.def
	@mv $(BUILD)/population.def data/population.def

bench: all
	@tools/need bench
	@meson configure $(BUILD) -Dbench=true
	@ninja --quiet -C $(BUILD)
	@if [ -f $(TRUCKEE)/readings.csv ]; then \
	  $(BUILD)/bench/bench_online $(TRUCKEE)/river-paper.yaml $(TRUCKEE)/readings.csv; \
	else \
	  $(HEADWATER) simulate examples/truckee/river.yaml --source 1300,-22106,2026-05-04T03:25:00Z --every 400 \
	    --noise-relative 0.05 >$(BUILD)/bench.csv && \
	  $(BUILD)/bench/bench_online examples/truckee/river.yaml $(BUILD)/bench.csv; \
	fi
	@$(BUILD)/bench/bench_posterior 1000000 examples/truckee/river.yaml examples/truckee/readings.csv
	@/usr/bin/python3 bench/compare_emcee.py $(HEADWATER)

serve: program
	@echo "a spill is played in at 400 times its speed; Ctrl-C stops it, and a second start goes on where it was"
	@$(HEADWATER) serve examples/truckee/river.yaml --replay examples/truckee/readings.csv --speed 400 --db $(BUILD)/serve.db $(SERVE)

# From git clone to a live incident on the screen, timed on a clone of its own.
newcomer:
	@python3 bench/newcomer.py

load: all
	@tools/need test
	@$(BUILD)/bench/load/load $(HEADWATER) --folder $(BUILD) $(LOAD)

torture: all
	@tools/need test
	@python3 tests/service/torture.py $(HEADWATER)
	@python3 tests/service/postgres.py python3 tests/service/torture.py $(HEADWATER)
	@python3 tests/service/postgres.py python3 tests/service/whole.py $(HEADWATER) all
	@python3 tests/service/outage.py $(HEADWATER)

powercut: all
	@tools/need test powercut
	@tools/nats-server
	@python3 tests/powercut/powercut.py $(HEADWATER) $(POWERCUT)
	@python3 tests/powercut/powercut.py $(HEADWATER) --cuts 3 --careless

damage: all
	@tools/need test
	@python3 tests/service/damage.py $(HEADWATER) --trials 30

strangers: all
	@tools/need test
	@python3 tests/service/strangers.py $(HEADWATER)

ten-million: all
	@python3 bench/ten_million.py $(HEADWATER)

.PHONY: many-sensors
many-sensors: all
	@python3 bench/many_sensors.py $(HEADWATER)

coverage:
	@tools/need build test
	@tools/coverage

faults: all
	@tools/need test
	@tools/nats-server
	@python3 tests/cluster/faults.py $(HEADWATER) $(FAULTS)
	@python3 tests/cluster/faults.py $(HEADWATER) --split 10 $(FAULTS)

scale: all
	@tools/need test
	@tools/nats-server
	@python3 bench/scale/scale.py $(HEADWATER) $(SCALE)

demo-songhua: all
	@tools/need demo
	@ninja --quiet -C $(BUILD) experiments/demo_songhua
	@mkdir -p demo-output
	@$(BUILD)/experiments/demo_songhua examples/songhua demo-output/songhua.svg

demo-cluster: all
	@tools/need cluster
	@tools/nats-server
	@python3 examples/demo-cluster $(HEADWATER) $(DEMO)

mutate:
	@tools/need build test
	@tools/mutate $(MUTATE)

.PHONY: digits
digits: all
	@for case in tests/cli/digits_*.sh; do tests/cli/run.sh $(HEADWATER) $$case --accept || exit 1; done

.PHONY: format
format:
	@tools/need lint
	@tools/format

fuzz:
	@tools/need build
	@tests/fuzz/run.sh $(FUZZ_SECONDS)

study-detect: all
	@$(BUILD)/experiments/study_detect

clean:
	rm -rf build build-deb build-clang build-sanitize build-fuzz build-coverage build-mutate build*.log demo-output
