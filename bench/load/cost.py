"""What a change costs the service: cost.py OLD NEW [--rounds N] [--readings N]

OLD and NEW are two builds of the program. Each is started in turn, round after round, and given the same readings over
HTTP; what is compared is the processor time that the service took for a reading, which other work on the machine
disturbs far less than the time on the clock, and readings per second, which it does. Medians over the rounds, and the
ratio NEW/OLD with the quartiles of the rounds' own ratios."""

import argparse
import http.client
import os
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
    """User and system time so far."""
    fields = open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--readings", type=int, default=200000)
    chosen = parser.parse_args()
    for program in (chosen.old, chosen.new):
        subprocess.run([program, "--version"], check=True, stdout=subprocess.DEVNULL)
    print(f"load average at the start {os.getloadavg()[0]:.1f}; us: processor time of the service a reading")
    for kind, (batch, clients) in KINDS.items():
        count = chosen.readings if batch > 1 else chosen.readings // 20
        pairs = [
            [measure(program, batch, clients, count) for program in (chosen.old, chosen.new)]
            for _ in range(chosen.rounds)
        ]
        ratios = [[new[i] / old[i] for old, new in pairs] for i in (0, 1)]
        middle = lambda which, i: statistics.median(pair[which][i] for pair in pairs)  # noqa: E731
        quarters = [statistics.quantiles(r, n=4) for r in ratios]
        print(
            f"{kind}: old {middle(0, 0):.2f} us, {middle(0, 1):.0f}/s; new {middle(1, 0):.2f} us, {middle(1, 1):.0f}/s;"
            f" time {quarters[0][1]:.3f} ({quarters[0][0]:.3f} to {quarters[0][2]:.3f}),"
            f" readings/s {quarters[1][1]:.3f} ({quarters[1][0]:.3f} to {quarters[1][2]:.3f})",
            flush=True,
        )


main()
