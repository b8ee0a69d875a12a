"""What is measured: the embedded service, and a cluster of three NATS nodes, workers and a service."""
import datetime
import glob
import json
import os
import time

from load import look
from nodes import Cluster, Display, Worker, ask, wait_for

PARTITIONS = 16


class Embedded:
    """One process, as ever."""

    name = "one process"

    def __init__(self, headwater, folder, rivers):
        self.display = Display(headwater, "embedded", folder, None, rivers).start().ready(120)
        self.roles = {"serve": [self.display]}

    def worked(self):
        """Readings that detection has seen."""
        text = str(ask(self.display.address + "/metrics")[1])
        value = {
            line.split()[0]: float(line.split()[1])
            for line in text.splitlines()
            if line.startswith(("headwater_log_records ", "headwater_tracker_lag_records "))
        }
        return value["headwater_log_records"] - value["headwater_tracker_lag_records"]

    def stop(self):
        self.display.stop()


class Spread:
    """Three NATS nodes, some workers, one service."""

    def __init__(self, headwater, folder, rivers, count):
        self.name = f"cluster, {count} worker{'s' if count > 1 else ''}"
        self.folder = folder
        self.cluster = Cluster(folder).start()
        self.display = Display(headwater, "serve", folder, self.cluster, rivers).start().ready(120)
        self.workers = [Worker(headwater, f"work{i + 1}", folder, self.cluster, rivers).start() for i in range(count)]
        self.roles = {"NATS": self.cluster.nodes, "work": self.workers, "serve": [self.display]}
        wait_for("every partition is worked", lambda: len({number for _, number in self.taken()}) == PARTITIONS, 60)
        self.balance()

    def taken(self):
        """When partitions were taken and brought up to date: [(Unix time, partition)], from the workers' logs."""
        found = []
        for worker in self.workers:
            with open(worker.log, errors="replace") as log:
                for line in log:
                    if '"partition_taken"' in line:
                        told = json.loads(line)
                        found.append(
                            (
                                datetime.datetime.fromisoformat(told["time"].replace("Z", "+00:00")).timestamp(),
                                told["partition"],
                            )
                        )
        return found

    def balance(self):
        """Until no partition has moved for six seconds."""
        before, since = None, time.monotonic()
        while time.monotonic() - since < 6:
            now = len(self.taken())
            if now != before:
                before, since = now, time.monotonic()
            time.sleep(0.2)

    def partitions(self, sql):
        """A number from each partition's database; one that moved lies in several folders, the largest counts."""
        held = {}
        for path in glob.glob(os.path.join(self.folder, "work*", "partition-*.db")):
            found = look(path, sql)
            name = os.path.basename(path)
            held[name] = max(held.get(name, 0), found[0][0] if found else 0)
        return held

    def worked(self):
        """Readings in the workers' databases."""
        return sum(self.partitions("SELECT count(*) FROM readings").values())

    def stop(self):
        for process in [self.display, *self.workers]:
            process.stop()
        self.cluster.stop()
