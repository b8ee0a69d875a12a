"""What a change costs the service: cost.py OLD NEW [--rounds N] [--readings N] [--instructions]

OLD and NEW are two builds of the program, which are given the same readings over HTTP. Compared is the processor time
that the service took for a reading, which other work on the machine disturbs far less than the time on the clock, and
readings per second, which it does disturb. Rounds are short and each asks both programs, in alternating order, so that
both meet the same disturbances. Told are the medians, and the median of the rounds' ratios NEW/OLD with an interval
that holds it in 95 of 100 cases (bootstrap).

With --instructions both run under callgrind instead, one client, and what is told is the instructions executed for a
reading, kernel excluded: the same to about one per cent in every run, at any load."""

import argparse
import glob
import http.client
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "service"))
from serving import RIVER, Service  # noqa: E402

KINDS = {
    "batches of 1000, 4 clients": (1000, 4),
    "batches of 100, 16 clients": (100, 16),
    "one by one, 16 clients": (1, 16),
}


def spent_s(process):
    """User and system time so far: the processor clock of another process (clock_getcpuclockid), finer than ticks."""
    return time.clock_gettime((~process.pid << 3) | 2)


def send(service, number, batch, count):
    connection = http.client.HTTPConnection("127.0.0.1", int(service.address.rsplit(":", 1)[1]))
    for at in range(0, count, batch):
        body = "time_s,sensor,concentration_g_m3\n" + "".join(
            f"{1e6 * number + at + i},s{i % 2 + 1},0.00001\n" for i in range(batch)
        )
        connection.request("POST", "/v1/readings?river=demo", body, {"Content-Type": "text/csv"})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status


def measure(program, batch, clients, count):
    """(microseconds of processor time a reading, readings per second)"""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        with Service(program, folder, "--method", "atgd", "--rate", "100000", river=RIVER) as service:
            threads = [
                threading.Thread(target=send, args=(service, n, batch, count // clients)) for n in range(clients)
            ]
            before, began = spent_s(service.process), time.time()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            took = time.time() - began
            service.settle(60)
            return 1e6 * (spent_s(service.process) - before) / count, count / took


def instructions(program, batch, count):
    """All that were executed from the start to the end."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        counted = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counted.%p"]
        options = ("--method", "atgd", "--rate", "100000")
        with Service(program, folder, *options, river=RIVER, prefix=counted) as service:
            send(service, 0, batch, count)
            service.settle(120)
        (told,) = glob.glob(f"{folder}/counted.*")
        return next(int(line.split()[1]) for line in open(told) if line.startswith(("summary:", "totals:")))


def a_reading(program, batch, count):
    """Instructions for a reading, without those of starting, stopping and waiting."""
    return (instructions(program, batch, 3 * count) - instructions(program, batch, count)) / (2 * count)


def interval(ratios, seed=1):
    """Where the median of the rounds lies, in 95 of 100 cases."""
    draw = random.Random(seed)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(4000))
    return medians[100], medians[3899]


def ratio_text(ratios):
    low, high = interval(ratios)
    return f"{statistics.median(ratios):.3f} ({low:.3f} to {high:.3f})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--readings", type=int, default=100000)
    parser.add_argument("--instructions", action="store_true")
    chosen = parser.parse_args()
    both = (chosen.old, chosen.new)
    for program in both:
        subprocess.run([program, "--version"], check=True, stdout=subprocess.DEVNULL)
    if chosen.instructions:
        for batch, count in ((1000, 20000), (100, 20000), (1, 500)):
            old, new = (a_reading(program, batch, count) for program in both)
            print(
                f"batches of {batch}: old {old:.0f}, new {new:.0f} instructions a reading: {new / old:.3f}", flush=True
            )
        return
    print(f"load average at the start {os.getloadavg()[0]:.1f}; us: processor time of the service a reading")
    for kind, (batch, clients) in KINDS.items():
        count = chosen.readings if batch > 1 else chosen.readings // 20
        pairs = []
        for turn in range(chosen.rounds):
            order = (0, 1) if turn % 2 else (1, 0)
            told = {which: measure(both[which], batch, clients, count) for which in order}
            pairs.append((told[0], told[1]))
        middle = lambda which, i: statistics.median(pair[which][i] for pair in pairs)  # noqa: E731
        time_, rate = ([new[i] / old[i] for old, new in pairs] for i in (0, 1))
        print(
            f"{kind}: old {middle(0, 0):.2f} us, {middle(0, 1):.0f}/s; new {middle(1, 0):.2f} us, {middle(1, 1):.0f}/s;"
            f" time {ratio_text(time_)}, readings/s {ratio_text(rate)}",
            flush=True,
        )


main()
