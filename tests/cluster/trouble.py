"""What happens to a cluster: parts of it are killed, paused and cut off, and mended again, all from a seed."""
import collections
import random
import time

from relay import HELD, REFUSED

MEAN_GAP_S = 2.5  # between two faults
PLANNED = 5  # faults of every run, before those that chance brings


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
            if self.out(target) or (
                target in self.cluster.nodes and nodes_out and (nodes_out > 1 or self.rng.random() < 0.7)
            ):
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
        return (
            self.choose(),
            self.rng.choice(["kill", "pause", "cut"]),
            self.rng.choice([0.3, 1, 3, 8]) * self.rng.uniform(0.7, 1.4),
        )

    def strike(self):
        target, kind, seconds = self.plan()
        if kind == "kill":
            target.kill()
            mend = target.start
        elif kind == "pause":
            target.pause()
            mend = target.resume
        else:
            # The planned one is a clean cut; those that chance brings may leave a node its clients, or hand it late
            # what was held.
            clean = self.count < PLANNED
            links = target.links + (getattr(target, "clients", []) if clean or self.rng.random() < 0.5 else [])
            drop, state = clean or self.rng.random() < 0.5, REFUSED if clean else self.rng.choice([HELD, REFUSED])
            for link in links:
                link.set(state)

            def mend():
                for link in links:
                    link.set("open", drop)

        self.struck(target, kind, seconds, mend)

    def struck(self, target, kind, seconds, mend):
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

    def pass_time(self):
        self.rest(self.rng.expovariate(1 / MEAN_GAP_S))


class Splits(Trouble):
    """One fault only, the one Raft is there for: the node that leads the stream of readings is cut off from the other
    nodes but not from its clients, who go on handing it readings, and comes back when the others have a leader.
    """

    def strike(self):
        target = self.cluster.stream_leader("HW_IN") or self.cluster.nodes[0]
        seconds, state, drop = self.rng.uniform(4, 12), self.rng.choice([HELD, REFUSED]), self.rng.random() < 0.5
        for link in target.links:
            link.set(state)

        def mend():
            for link in target.links:
                link.set("open", drop)

        self.struck(target, "split off", seconds, mend)

    def pass_time(self):
        while self.mends:
            self.rest(0.1)
        self.rest(4)  # all nodes meet again, and somebody leads
