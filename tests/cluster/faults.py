"""Does a cluster say exactly what one machine says, whatever happens to its parts?

A recorded day (day.py) goes through one embedded service, then through three NATS nodes, three workers and two
services while nodes, workers and services are killed, paused and cut off at random. Each batch is sent until it is
acknowledged. In the end: no reading lost, none counted twice, the same incidents, the same estimates to the bit.

  faults.py HEADWATER [--faults 50] [--rivers 30] [--seed 1] [--keep FOLDER]
"""
import argparse
import collections
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from day import Day  # noqa: E402
from nodes import Cluster, Display, Worker, ask, wait_for  # noqa: E402
from records import BEHIND, Record, rows  # noqa: E402
from relay import HELD, REFUSED, Relays  # noqa: E402
from replicas import disagreements  # noqa: E402

SETTINGS = ("--quiet", "7200", "--lead-in", "3600")
LANES = 3  # senders, each with rivers of its own
MEAN_GAP_S = 2.5  # between two faults
PLANNED = 5  # faults of every run, before those that chance brings
PATIENCE_S = 90  # for the last estimates


def check(claim, truth, detail=""):
    print(("ok   " if truth else "FAIL ") + claim + (f"  {detail}" if detail else ""), flush=True)
    return 0 if truth else 1


def lag(display):
    for line in str(ask(display.address + "/metrics")[1]).splitlines():
        if line.startswith("headwater_tracker_lag_records "):
            return float(line.split()[1])
    return 1


def one_machine(headwater, folder, day):
    """What the embedded service says of the day."""
    service = Display(headwater, "embedded", folder, None, day.paths, *SETTINGS).start().ready()
    for lane in day.lanes(1):
        for river, batch in lane:
            assert service.post(river, batch), service.tail()
    wait_for("the embedded service is through", lambda: lag(service) == 0 and rows(service.db, BEHIND) == [(0,)], 240)
    service.stop()
    return Record(service.db)


class Sender(threading.Thread):
    """Each batch, in order, to one service or the other until it is acknowledged."""

    def __init__(self, lane, displays, pace):
        super().__init__(daemon=True)
        self.lane, self.displays, self.pace, self.done, self.tries, self.give_up = lane, displays, pace, 0, 0, False

    def run(self):
        at = 0
        for river, batch in self.lane:
            while self.pace(self.done / len(self.lane)) and not self.give_up:
                time.sleep(0.02)
            while not self.give_up:
                self.tries += 1
                if self.displays[at % len(self.displays)].post(river, batch, 8):
                    break
                at += 1  # perhaps the other one
                time.sleep(0.05)
            self.done += 1


class Trouble:
    """Faults one after another, some of them overlapping, from a seed."""

    def __init__(self, seed, cluster, workers, displays, told):
        self.rng, self.cluster, self.told = random.Random(seed), cluster, told
        self.workers, self.displays = workers, displays
        self.mends, self.count, self.tally, self.ended = [], 0, collections.Counter(), []
        self.began = time.monotonic()

    def out(self, target):
        return any(target is mend[1] for mend in self.mends)

    def choose(self):
        """Whom: one node may be out at any time, a second one (then nothing can be stored) now and then."""
        nodes_out = sum(self.out(node) for node in self.cluster.nodes)
        while True:
            target = self.rng.choice(self.cluster.nodes + self.workers + self.displays)
            if self.out(target) or (target in self.cluster.nodes and nodes_out and (nodes_out > 1 or self.rng.random() < 0.7)):
                continue
            return target

    def plan(self):
        """(target, kind, seconds): first the ones a cluster is built for, then whatever chance brings."""
        first = {1: (self.workers[0], "kill", 6), 3: (self.workers[1], "pause", 9), 4: (self.displays[0], "kill", 1)}
        if self.count == 0:
            return self.cluster.stream_leader("HW_IN") or self.cluster.nodes[0], "kill", 3
        if self.count == 2:
            return next(node for node in self.cluster.nodes if not self.out(node)), "cut", 5
        if self.count in first:
            return first[self.count]
        return self.choose(), self.rng.choice(["kill", "pause", "cut"]), self.rng.choice([0.3, 1, 3, 8]) * self.rng.uniform(0.7, 1.4)

    def strike(self):
        target, kind, seconds = self.plan()
        if kind == "kill":
            target.kill()
            mend = target.start
        elif kind == "pause":
            target.pause()
            mend = target.resume
        else:
            # The planned one is a clean cut; those that chance brings may leave a node its clients, or hand it late what was held.
            clean = self.count < PLANNED
            links = target.links + (getattr(target, "clients", []) if clean or self.rng.random() < 0.5 else [])
            drop, state = clean or self.rng.random() < 0.5, REFUSED if clean else self.rng.choice([HELD, REFUSED])
            for link in links:
                link.set(state)

            def mend():
                for link in links:
                    link.set("open", drop)
        self.mends.append((time.monotonic() + seconds, target, mend))
        self.count += 1
        group = "node" if target in self.cluster.nodes else "worker" if target in self.workers else "serve"
        self.tally[f"{group} {kind}"] += 1
        self.told(f"  {time.monotonic() - self.began:6.1f} s  {kind} {target.name} for {seconds:.1f} s")

    def mend(self, everything=False):
        now = time.monotonic()
        due = [mend for mend in self.mends if everything or mend[0] <= now]
        self.mends = [mend for mend in self.mends if mend not in due]
        for _, _, act in due:
            act()
        for target in self.cluster.nodes + self.workers + self.displays:
            if not self.out(target) and not target.alive():  # nobody killed it
                self.ended.append(f"{target.name}: exit {target.process.returncode}: {target.tail(400)}")
                target.start()

    def rest(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.mend()
            time.sleep(0.02)


def through_trouble(headwater, folder, day, count, seed, relays, told):
    """(cluster, displays, trouble, senders) after the faults, everything mended and every batch acknowledged."""
    cluster = Cluster(folder, 3, relays).start()
    displays = [Display(headwater, f"serve{i}", folder, cluster, day.paths, *SETTINGS).start() for i in (1, 2)]
    for display in displays:
        display.ready(60)
    workers = [Worker(headwater, f"work{i}", folder, cluster, day.paths, *SETTINGS).start() for i in (1, 2, 3)]
    wait_for("the workers are there", lambda: all(f"worker {worker.name}:" in worker.tail(100_000) for worker in workers), 60)
    trouble = Trouble(seed, cluster, workers, displays, told)
    # Spread over all faults: every one of them happens under load.
    senders = [Sender(lane, displays, lambda share: share * count > trouble.count + 1) for lane in day.lanes(LANES)]
    for sender in senders:
        sender.start()
    try:
        while trouble.count < count:
            trouble.rest(trouble.rng.expovariate(1 / MEAN_GAP_S))
            trouble.strike()
        while trouble.mends:
            trouble.rest(0.1)
        until = time.monotonic() + 240
        while any(sender.is_alive() for sender in senders) and time.monotonic() < until:
            trouble.rest(0.1)
    finally:
        trouble.mend(everything=True)
        for sender in senders:
            sender.give_up = True
            sender.join()
    return cluster, workers, displays, trouble, senders


def takings(workers):
    """How often a partition was taken and brought up to date."""
    return sum(open(worker.log, errors="replace").read().count('"partition_taken"') for worker in workers)


def explain(cluster, processes):
    """What the parts say of themselves, for whoever looks into a failure."""
    for node in cluster.nodes:
        state = node.look("jsz?streams=1&consumers=1&raft=1")
        for account in state.get("account_details", []) if isinstance(state, dict) else []:
            for detail in account.get("stream_detail", []):
                print(f"  {node.name} {detail['name']}: last {detail['state']['last_seq']}, leader {detail.get('cluster', {}).get('leader')}, consumers "
                      f"{[(one['name'], one['delivered']['stream_seq'], one['num_pending']) for one in detail.get('consumer_detail') or []]}")
    for process in processes:
        print(f"  --- {process.name}\n{process.tail(2500)}")


def compare(expected, display, seconds):
    """Wait until it says the same, at most so long. Returned: (record, differences)."""
    until = time.monotonic() + seconds
    while True:
        record = Record(display.db)
        unlike = record.differences(expected)
        if not unlike or time.monotonic() > until:
            return record, unlike
        time.sleep(1)


def run(chosen, folder):
    told = (lambda line: print(line, flush=True)) if chosen.verbose else (lambda line: None)
    day = Day(chosen.headwater, os.path.join(folder, "rivers"), chosen.rivers, chosen.rivers * 2 // 5, seed=chosen.seed)
    expected = one_machine(chosen.headwater, folder, day)
    print(f"a day of {len(day.rivers)} rivers: {day.readings} readings sent, {len(expected.readings)} of them counted, {day.spills} spills; one machine says "
          f"{len(expected.incidents)} incidents, {len(expected.estimates)} estimates", flush=True)
    failed = 0
    with Relays() as relays:
        began = time.monotonic()
        cluster, workers, displays, trouble, senders = through_trouble(chosen.headwater, folder, day, chosen.faults, chosen.seed, relays, told)
        print(f"{trouble.count} faults in {time.monotonic() - began:.0f} s: " + ", ".join(f"{n} {what}" for what, n in sorted(trouble.tally.items())), flush=True)
        print(f"{takings(workers)} times a worker took a partition and brought it up to date", flush=True)
        sent, tried = sum(sender.done for sender in senders), sum(sender.tries for sender in senders)
        failed += check("every batch was acknowledged in the end", sent == day.batches, f"{sent} of {day.batches}, {tried} tries")
        failed += check("nothing ended but what was killed", not trouble.ended, "; ".join(trouble.ended)[:1500])
        for display in displays:
            record, unlike = compare(expected, display, 20 if failed else PATIENCE_S)
            failed += check(f"{display.name}: the same readings, incidents and estimates, to the bit", not unlike,
                            "; ".join(unlike) if unlike else f"{len(record.readings)} readings, {len(record.incidents)} incidents, {record.common(expected)} estimates compared")
        if failed:
            explain(cluster, workers + displays)
        time.sleep(2)
        failed += check("and it stays so", all(not Record(display.db).differences(expected) for display in displays))
        codes = [process.stop() for process in displays + workers]
        failed += check("services and workers stop cleanly", not any(codes), str(codes))
        cluster.stop()
    unlike = disagreements(cluster)
    print(f"NATS' own copies of the stream of readings {f'DIFFER in {len(unlike)} places, from number {unlike[0]} on (see replicas.py)' if unlike else 'are the same on all nodes'}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("headwater")
    parser.add_argument("--faults", type=int, default=50)
    parser.add_argument("--rivers", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="each fault as it happens")
    parser.add_argument("--keep", help="folder for databases and logs, kept afterwards")
    chosen = parser.parse_args()
    if not shutil.which("nats-server") or subprocess.run([chosen.headwater, "work", "--help"], capture_output=True).returncode:
        print("skip: no nats-server program here, or headwater was built without NATS")
        sys.exit(77)
    if chosen.keep:
        os.makedirs(chosen.keep, exist_ok=True)
        sys.exit(bool(run(chosen, chosen.keep)))
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(bool(run(chosen, folder)))


if __name__ == "__main__":
    main()
