"""What a cluster brings and costs, against one embedded process, in one run on one machine.

  scale.py HEADWATER [--rivers 1000] [--workers 1,2,4] [--kills 10] [--rounds 3]

The processor times are the lasting part: a machine that does other work beside, or has few cores for three NATS nodes,
workers, a service and the senders, shows rates of its own, but a reading costs what it costs.
"""
import argparse
import os
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "cluster"))
from load import (
    HEADER,
    Line,
    Watch,
    cpu_s,
    folder_bytes,
    make_rivers,
    partition,
    quantile,
    quiet,
    rss_mb,
    send_all,
    spilled,
)  # noqa: E402
from nodes import wait_for  # noqa: E402
from systems import PARTITIONS, Embedded, Spread  # noqa: E402

BATCH = 99  # readings of a request: 33 minutes of a river with three sensors
SENDERS = {BATCH: 4, 1: 32}  # gateways that batch; sensors that speak for themselves
SPILLS_PER_PARTITION = 2
SINGLES_S = 100_000  # readings handed in one by one start here
SPILL_S = 200_000  # and the spills here, later than all quiet readings


def say(text):
    print(text, flush=True)


def throughput(system, ids, rounds, batch, first_s, stored):
    """Of so many requests a river, each with a batch of its readings; `stored` readings are there already."""
    requests = [(river, quiet(river, first_s + 20 * batch * turn, batch)) for turn in range(rounds) for river in ids]
    total = len(requests) * batch
    before = {role: cpu_s(processes) for role, processes in system.roles.items()}
    began = time.monotonic()
    acknowledged_s = send_all(system.display.port, requests, SENDERS[batch])
    wait_for("all readings are worked", lambda: system.worked() >= stored + total, 300)
    worked_s = time.monotonic() - began
    used = {role: (cpu_s(processes) - before[role]) / total * 1e6 for role, processes in system.roles.items()}
    return {"acknowledged": total / acknowledged_s, "worked": total / worked_s, "us": used, "total": total}


def spilling(ids):
    """Some rivers of every partition."""
    chosen = {}
    for river in ids:
        chosen.setdefault(partition(river, PARTITIONS), []).append(river)
    return [river for group in chosen.values() for river in group[:SPILLS_PER_PARTITION]]


def open_incidents(system, rivers):
    """The plume passes the first sensor and nears the second."""
    times = range(SPILL_S, SPILL_S + 6000, 120)
    for river in rivers:
        rows = [spilled(river, SPILL_S, t, s) for t in times for s in range(3)]
        while not system.display.post(river, HEADER + "".join(rows)):
            time.sleep(0.1)
    watch = Watch(system.display.db)
    watch.start()
    wait_for("every spill is noticed and worked", lambda: all(watch.when(river, times[-1]) for river in rivers), 240)
    watch.stop()


class Probe(threading.Thread):
    """Goes on sending a reading of every spilled river, again and again, and remembers when."""

    def __init__(self, system, rivers, first_s, pause_s):
        super().__init__(daemon=True)
        self.line, self.rivers, self.time_s, self.pause_s = Line(system.display.port), rivers, first_s, pause_s
        self.sent, self.ended = [], False  # (when the round began, time of its readings)

    def run(self):
        while not self.ended:
            began = time.monotonic()
            self.time_s += 2  # the plume is to last: a closed incident has no new estimates
            self.sent.append((began, self.time_s))
            for river in self.rivers:
                while not self.line.post(river, HEADER + spilled(river, SPILL_S, self.time_s, 1), 4) and not self.ended:
                    time.sleep(0.05)
            time.sleep(max(0.0, self.pause_s - (time.monotonic() - began)))

    def stop(self):
        self.ended = True
        self.join()


def latency(system, rivers, first_s, rounds=10):
    """Seconds from handing a reading in to seeing its estimate, for each river and round; CPU per estimate by role."""
    watch = Watch(system.display.db)
    watch.start()
    line, waits, time_s = Line(system.display.port), [], first_s
    before = {role: cpu_s(processes) for role, processes in system.roles.items()}
    for _ in range(rounds):
        time_s += 120
        sent = {}
        for river in rivers:
            sent[river] = time.monotonic()
            while not line.post(river, HEADER + spilled(river, SPILL_S, time_s, 1)):
                time.sleep(0.05)
        until = time.monotonic() + 30
        while any(watch.when(river, time_s) is None for river in rivers) and time.monotonic() < until:
            time.sleep(0.02)
        waits += [watch.when(river, time_s) - sent[river] for river in rivers if watch.when(river, time_s)]
    watch.stop()
    used = sum(cpu_s(processes) - before[role] for role, processes in system.roles.items())
    return {"waits": waits, "cpu_ms": 1000 * used / len(waits), "time_s": time_s}


def after(watch, probe, rivers, moment, seconds=90):
    """When the last of the rivers had an estimate of a reading sent after the moment, in seconds from it."""

    def all_there():
        later = [time_s for began, time_s in list(probe.sent) if began > moment]
        return (
            later
            and all(watch.when(river, later[0]) for river in rivers)
            and max(watch.when(river, later[0]) for river in rivers)
        )

    return wait_for("every river has a new estimate", all_there, seconds) - moment


def take_overs(system, rivers, first_s, kills):
    watch, probe = Watch(system.display.db, 0.03), Probe(system, rivers, first_s, 0.5)
    watch.start(), probe.start()
    took, worked = [], []
    for number in range(kills):
        worker = system.workers[number % len(system.workers)]
        moment, clock = time.monotonic(), time.time()
        worker.kill()
        worked.append(after(watch, probe, rivers, moment))
        took.append(max(at for at, _ in system.taken()) - clock)
        worker.start()
        system.balance()
    probe.stop(), watch.stop()
    return took, worked, probe.time_s


def whole_recovery(system, rivers, first_s):
    """Everything is killed at once and started at once."""
    everything = system.cluster.nodes + system.workers + [system.display]
    for process in everything:
        process.kill()
    moment = time.monotonic()
    for process in everything:
        process.start()
    line = Line(system.display.port)
    while not line.post(rivers[0], HEADER + spilled(rivers[0], SPILL_S, first_s + 120, 1), 4):
        time.sleep(0.05)
    acknowledged_s = time.monotonic() - moment
    watch, probe = Watch(system.display.db), Probe(system, rivers, first_s + 120, 0.5)
    watch.start(), probe.start()
    worked_s = after(watch, probe, rivers, moment, 180)
    probe.stop(), watch.stop()
    return acknowledged_s, worked_s


def space(system, count, readings):
    streams = system.cluster.streams()
    say(f"\nspace, {count} rivers, {readings} readings ({readings / count:.0f} a river); bytes a river, and a reading:")
    parts = [(f"stream {name}", state["bytes"]) for name, state in sorted(streams.items()) if state["bytes"]]
    parts.append(("disk of one NATS node", folder_bytes(os.path.join(system.folder, system.cluster.nodes[0].name))))
    parts.append(
        (
            "databases of all partitions",
            sum(system.partitions("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").values()),
        )
    )
    parts.append(("database of one serve", folder_bytes(system.display.db)))
    for name, size in parts:
        say(f"  {name:38s} {size / count:9.0f}  {size / readings:7.1f}")


def report_load(results, what, title):
    first = results[0][what]
    say(f"\nreadings, {title}; ratios against one process in this run")
    say(
        f"{'':22s} {'acknowledged/s':>15s} {'ratio':>6s} {'worked/s':>9s} {'ratio':>6s}  CPU a reading, us (by role)  "
        "          readings per CPU second, ratio"
    )
    for result in results:
        load = result[what]
        total = sum(load["us"].values())
        roles = ", ".join(f"{role} {us:.0f}" for role, us in load["us"].items())
        say(
            f"{result['name']:22s} {load['acknowledged']:15.0f} {load['acknowledged'] / first['acknowledged']:6.2f} "
            f"{load['worked']:9.0f} {load['worked'] / first['worked']:6.2f}  "
            f"{total:4.0f} ({roles})".ljust(104) + f" {1e6 / total:8.0f}  {sum(first['us'].values()) / total:.2f}"
        )


def report(results):
    report_load(results, "load", f"batches of {BATCH}, {SENDERS[BATCH]} senders")
    report_load(results, "single", f"one a request, {SENDERS[1]} senders")
    base = results[0]
    say(
        f"\nfrom handing in a reading to its estimate on the display, {len(base['spills'])} open incidents, one "
        "reading each a round"
    )
    say(f"{'':22s} {'p50 s':>7s} {'p90 s':>7s} {'max s':>7s} {'p50 ratio':>9s}  CPU an estimate, ms   memory, MB")
    for result in results:
        waits = result["latency"]["waits"]
        say(
            f"{result['name']:22s} {quantile(waits, 0.5):7.3f} {quantile(waits, 0.9):7.3f} {max(waits):7.3f} "
            f"{quantile(waits, 0.5) / quantile(base['latency']['waits'], 0.5):9.2f}  "
            f"{result['latency']['cpu_ms']:19.1f}   {result['memory']}"
        )


def measure(system, ids, chosen):
    rivers = spilling(ids)
    result = {"name": system.name, "spills": rivers, "load": throughput(system, ids, chosen.rounds, BATCH, 0, 0)}
    result["single"] = throughput(system, ids, 5, 1, SINGLES_S, result["load"]["total"])
    open_incidents(system, rivers)
    result["latency"] = latency(system, rivers, SPILL_S + 6000)
    result["memory"] = ", ".join(f"{role} {rss_mb(processes):.0f}" for role, processes in system.roles.items())
    say(f"measured: {system.name}")
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("headwater")
    parser.add_argument("--rivers", type=int, default=1000)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    say(
        f"{chosen.rivers} rivers with 3 sensors; {os.cpu_count()} cores for everything, the senders included; load "
        f"average before: {os.getloadavg()[0]:.1f}"
    )
    results = []
    with tempfile.TemporaryDirectory() as top:
        ids = make_rivers(os.path.join(top, "rivers"), chosen.rivers)
        files = [os.path.join(top, "rivers", river + ".yaml") for river in ids]
        counts = [int(count) for count in chosen.workers.split(",")]
        for count in [0, *counts]:
            folder = os.path.join(top, f"with-{count}")
            os.mkdir(folder)
            system = (
                Spread(chosen.headwater, folder, files, count) if count else Embedded(chosen.headwater, folder, files)
            )
            try:
                results.append(measure(system, ids, chosen))
                if count == counts[-1]:
                    report(results)
                    space(system, chosen.rivers, sum(results[-1][what]["total"] for what in ("load", "single")))
                    rivers, time_s = results[-1]["spills"], results[-1]["latency"]["time_s"]
                    took, worked, time_s = take_overs(system, rivers, time_s, chosen.kills)
                    say(f"\na worker of {count} is killed under load, {len(took)} times; seconds until")
                    for what, values in (
                        ("its last partition is taken over and up to date", took),
                        ("every river has estimates of new readings", worked),
                    ):
                        say(
                            f"  {what:48s} {min(values):.1f} at best, median {quantile(values, 0.5):.1f}, "
                            f"{max(values):.1f} at worst: " + " ".join(f"{value:.1f}" for value in sorted(values))
                        )
                    acknowledged_s, worked_s = whole_recovery(system, rivers, time_s)
                    say(
                        "everything killed at once and started again: readings are acknowledged after "
                        f"{acknowledged_s:.1f} s, every river has new estimates after {worked_s:.1f} s"
                    )
            finally:
                system.stop()
    sys.exit(0)


main()
