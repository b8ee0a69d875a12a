#!/usr/bin/env python3
"""Spills in river networks, by the program as anybody may run it: which branch, where, when, how sure?

study_networks.py PROGRAM DATA [--method NAME] [--kind KIND]... [--make N --seed S] [--each]

DATA holds one folder a case (river.yaml, readings.csv, flow.csv) and truth.csv with a row a release, as made by
make_network_cases.py beside them; --make N makes N new ones a kind with that script, elsewhere.
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import os
import subprocess
import sys
import tempfile
import time


# Two tributaries may join at the same metre; the script then sorts by the branches themselves, which need an order. And
# some networks have no room for what it looks for: whoever takes more than two minutes is left out.
MAKE = """
import csv, importlib.util, os, random, signal, sys
script, out, seed, count, kind = sys.argv[1:]
found = importlib.util.spec_from_file_location("cases", script)
cases = importlib.util.module_from_spec(found)
found.loader.exec_module(cases)
cases.Branch.__lt__ = lambda self, other: self.name < other.name
os.makedirs(out)
rows, tries, made = [], 0, 0
def give_up(*_):
    raise TimeoutError
signal.signal(signal.SIGVTALRM, give_up)
while made < int(count):
    signal.setitimer(signal.ITIMER_VIRTUAL, 120)
    try:
        rows += cases.case(f"{kind}-{made + 1:02d}", kind, random.Random(f"{seed}/{kind}/{tries}"), out)
        made += 1
    except TimeoutError:
        pass
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    tries += 1
with open(os.path.join(out, "truth.csv"), "w", newline="") as file:
    writer = csv.DictWriter(file, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
"""


def make_cases(options, folder):
    """New cases of every kind, kinds side by side; their truths in one file."""
    script = os.path.join(options.data, "make_network_cases.py")
    with_numpy = subprocess.run([sys.executable, "-c", "import numpy"], capture_output=True).returncode == 0
    python = sys.executable if with_numpy else "/usr/bin/python3"  # Debian's python3-numpy is for Debian's Python
    kinds = options.kind or ["steady", "unsteady", "lasting", "double"]

    def make(kind):
        command = [python, "-c", MAKE, script, os.path.join(folder, kind), str(options.seed), str(options.make), kind]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(make, kinds))
    with open(os.path.join(folder, "truth.csv"), "w") as out:
        for at, kind in enumerate(kinds):
            with open(os.path.join(folder, kind, "truth.csv")) as own:
                lines = own.read().splitlines()
            out.write("\n".join(lines[0 if at == 0 else 1 :]) + "\n")
            for case in os.listdir(os.path.join(folder, kind)):
                if case.startswith(kind):
                    os.rename(os.path.join(folder, kind, case), os.path.join(folder, case))


def read_truth(folder):
    truth = collections.OrderedDict()
    with open(os.path.join(folder, "truth.csv"), newline="") as file:
        for row in csv.DictReader(file):
            truth.setdefault(row["case"], []).append(row)
    return truth


def identify(program, folder, method):
    """The answer, and the processor time and the time that the program took for all of it, in seconds."""
    command = [program, "identify", os.path.join(folder, "river.yaml"), os.path.join(folder, "readings.csv")]
    command += ["--method", method, "--format", "json"]
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as faults:
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=faults, text=True)
        text = run.stdout.read()
        _, status, usage = os.wait4(run.pid, 0)
        elapsed = time.monotonic() - began
        run.returncode = os.waitstatus_to_exitcode(status)
        faults.seek(0)
        if run.returncode != 0:
            raise SystemExit(f"{folder}: exit {run.returncode}: {faults.read().strip()}")
    return json.loads(text), usage.ru_utime + usage.ru_stime, elapsed


def within(bounds, value):
    return bounds is not None and None not in bounds and bounds[0] <= value <= bounds[1]


def regions_of(answer):
    """The stretches that hold the level; without any, the interval along the estimate's branch."""
    if answer.get("region"):
        return [(r["branch"], r["location_m"]) for r in answer["region"]]
    if answer.get("estimate") and answer.get("interval"):
        return [(answer["estimate"].get("branch"), answer["interval"]["location_m"])]
    return []


def judge(answer, seconds, elapsed, releases):
    """The release that is told of is the largest; with two the nearer of them counts."""
    estimate, interval, regions = answer["estimate"], answer["interval"] or {}, regions_of(answer)
    suspects = [c["id"] for c in answer["candidates"] if c["id"] is not None]
    best = max(releases, key=lambda r: float(r["mass_g"]))
    held_place = held_time = branch = False
    for release in releases:
        held_place |= any(b == release["branch"] and within(x, float(release["location_m"])) for b, x in regions)
        held_time |= within(interval.get("time_s"), float(release["time_s"]))
        branch |= estimate is not None and estimate.get("branch") == release["branch"]
    length = sum(x[1] - x[0] for _, x in regions)
    return {
        "place": held_place,
        "time": held_time,
        "branch": branch,
        "held": held_place and held_time,
        "first": bool(suspects) and suspects[0] == releases[0]["candidate"],
        "region": length / float(best["first_sensor_distance_m"]) if regions else None,
        "counted": len(answer.get("releases") or [None]) == len(releases),
        "refused": answer.get("trust") == "none" or estimate is None,
        "seconds": seconds,
        "elapsed": elapsed,
    }


def median(values):
    ordered = sorted(v for v in values if v is not None)
    return ordered[len(ordered) // 2] if ordered else float("nan")


def show(kind, rows):
    def share(key):
        return sum(bool(r[key]) for r in rows) / len(rows)

    print(
        f"{kind:9} {len(rows):5} {share('place'):8.2f} {share('time'):8.2f} {share('branch'):8.2f} "
        f"{share('held'):7.2f} {share('first'):10.2f} {median([r['region'] for r in rows]):8.2f} "
        f"{share('counted'):9.2f} {share('refused'):8.2f} {1e3 * median([r['seconds'] for r in rows]):8.0f} "
        f"{1e3 * median([r['elapsed'] for r in rows]):8.0f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("data")
    parser.add_argument("--method", default="posterior")
    parser.add_argument("--kind", action="append")
    parser.add_argument("--make", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", action="store_true", help="a line a case too")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if not os.path.exists(os.path.join(options.data, "truth.csv")):
        print(f"skipped: no network cases in {options.data}")
        return
    with tempfile.TemporaryDirectory() as made:
        folder = options.data
        if options.make:
            make_cases(options, made)
            folder = made
        truth = read_truth(folder)
        cases = [c for c, rows in truth.items() if not options.kind or rows[0]["kind"] in options.kind]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            answers = list(
                pool.map(lambda c: identify(options.program, os.path.join(folder, c), options.method), cases)
            )
    by_kind = collections.OrderedDict()
    for case, (answer, seconds, elapsed) in zip(cases, answers):
        row = judge(answer, seconds, elapsed, truth[case])
        by_kind.setdefault(truth[case][0]["kind"], []).append(row)
        if options.each:
            print(case, {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()})
    print(
        f"{options.method}: shares of cases; region as a multiple of the first sensor's distance (median), processor "
        "time of the program and time from start to end, which --jobs 1 leaves undisturbed (median, ms)"
    )
    print("kind      cases    place     time   branch    both  candidate   region   counted  refused       ms  elapsed")
    for kind, rows in by_kind.items():
        show(kind, rows)


main()
