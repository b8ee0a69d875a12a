"""Does a cluster say exactly what one machine says, whatever happens to its parts?

A recorded day (day.py) goes through one embedded service, then through three NATS nodes, three workers and two
services while nodes, workers and services are killed, paused and cut off at random. Each batch is sent until it is
acknowledged; some rivers' sensors publish over MQTT to NATS itself; one service keeps its data on PostgreSQL. In the
end: no reading lost, none counted twice, the same incidents, the same estimates to the bit.

  faults.py HEADWATER [--faults 50 | --split 10] [--rivers 30] [--seed 1] [--keep FOLDER]
"""
import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
sys.path.insert(0, os.path.join(here, "..", "service"))
import postgres  # noqa: E402
from day import Day  # noqa: E402
from nodes import Cluster, Display, Worker, ask, nats_version, wait_for  # noqa: E402
from records import BEHIND, Record, rows  # noqa: E402
from relay import Relays  # noqa: E402
from replicas import disagreements  # noqa: E402
from senders import Sender, Sensors  # noqa: E402
from trouble import Splits, Trouble  # noqa: E402

SETTINGS = ("--quiet", "7200", "--lead-in", "3600")
LANES = 3  # senders, each with rivers of its own
PATIENCE_S = 900  # for the last estimates, on a machine that does other work too


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
    for lane in day.lanes(1, mqtt=True):
        for river, batch in lane:
            assert service.post(river, batch), service.tail()
    wait_for(
        "the embedded service is through", lambda: lag(service) == 0 and rows(service.db, BEHIND) == [(0,)], PATIENCE_S
    )
    service.stop()
    return Record(service.db, day.unordered)


class Scene:
    """Three NATS nodes, three workers and services, the second on PostgreSQL where there is one, and the senders."""

    def __init__(self, chosen, folder, day, relays, postgres):
        self.chosen, self.day, self.postgres = chosen, day, postgres
        self.cluster = Cluster(folder, 3, relays).start()
        make = lambda name, *more, **where: Display(
            chosen.headwater, name, folder, self.cluster, day.paths, *SETTINGS, *more, **where
        )  # noqa: E731
        if chosen.split:  # a service at every node, and only there: the one cut off keeps its clients
            self.displays = [make(f"serve{i}", nodes=[node]) for i, node in enumerate(self.cluster.nodes, 1)]
        else:
            self.displays = [
                make("serve1", "--mqtt", self.at_mqtt(relays, 0), "--mqtt-client", "one"),
                make(
                    "serve2",
                    "--mqtt",
                    self.at_mqtt(relays, 1),
                    "--mqtt-client",
                    "two",
                    *(["--store", postgres.url] if postgres else []),
                ),
            ]
        self.workers = [
            Worker(chosen.headwater, f"work{i}", folder, self.cluster, day.paths, *SETTINGS) for i in (1, 2, 3)
        ]
        self.sensor_ports = [int(self.at_mqtt(relays, i).split(":")[1]) for i in range(3)]
        self.senders = []

    def at_mqtt(self, relays, number):
        node = self.cluster.nodes[number]
        link = relays.link(node.mqtt)
        node.clients.append(link)
        return f"127.0.0.1:{link.port}"

    def start(self):
        for display in self.displays:
            display.start()
        for display in self.displays:
            display.ready(60)
        if not self.chosen.split:
            wait_for(
                "both services are at the MQTT listeners",
                lambda: all("mqtt_connected" in display.tail(100_000) for display in self.displays),
                60,
            )
        for worker in self.workers:
            worker.start()
        wait_for(
            "the workers are there",
            lambda: all(f"worker {worker.name}:" in worker.tail(100_000) for worker in self.workers),
            60,
        )

    def send(self, pace):
        turn = (
            lambda at: self.displays[at % len(self.displays) :] + self.displays[: at % len(self.displays)]
        )  # noqa: E731
        lanes = list(self.day.lanes(2 * len(self.displays) if self.chosen.split else LANES, mqtt=self.chosen.split))
        self.senders = [Sender(lane, turn(at if self.chosen.split else 0), pace) for at, lane in enumerate(lanes)]
        if not self.chosen.split:
            self.senders.append(Sensors("sensors", self.day.messages(), self.sensor_ports, pace))
        for sender in self.senders:
            sender.start()

    def through(self, told):
        """Every fault, everything mended, every batch acknowledged or given up after four minutes. Returned: the
        trouble.
        """
        count = self.chosen.split or self.chosen.faults
        trouble = (Splits if self.chosen.split else Trouble)(
            self.chosen.seed, self.cluster, self.workers, self.displays, told
        )
        # Spread over all faults: every one of them happens under load.
        self.send(lambda share: share * count > trouble.count + 1)
        try:
            while trouble.count < count:
                trouble.pass_time()
                trouble.strike()
            while trouble.mends:
                trouble.rest(0.1)
            until = time.monotonic() + 240
            while any(sender.is_alive() for sender in self.senders) and time.monotonic() < until:
                trouble.rest(0.1)
        finally:
            trouble.mend(everything=True)
            for sender in self.senders:
                sender.give_up = True
                sender.join()
        return trouble

    def record(self, display):
        """What it has stored; PostgreSQL's by way of export and import."""
        if not self.postgres or self.postgres.url not in display.words:
            return Record(display.db, self.day.unordered)
        copy = display.db + ".copy"
        if os.path.exists(copy):
            os.unlink(copy)
        out = subprocess.run(
            [self.chosen.headwater, "export", "--store", self.postgres.url], check=True, capture_output=True
        ).stdout
        subprocess.run(
            [self.chosen.headwater, "import", "--store", copy], input=out, check=True, stdout=subprocess.DEVNULL
        )
        return Record(copy, self.day.unordered)


def takings(workers):
    """How often a partition was taken and brought up to date."""
    return sum(open(worker.log, errors="replace").read().count('"partition_taken"') for worker in workers)


def explain(cluster, processes):
    """What the parts say of themselves, for whoever looks into a failure."""
    for node in cluster.nodes:
        state = node.look("jsz?streams=1&consumers=1&raft=1")
        for account in state.get("account_details", []) if isinstance(state, dict) else []:
            for detail in account.get("stream_detail", []):
                consumers = [
                    (one["name"], one["delivered"]["stream_seq"], one["num_pending"])
                    for one in detail.get("consumer_detail") or []
                ]
                print(
                    f"  {node.name} {detail['name']}: last {detail['state']['last_seq']}, leader "
                    f"{detail.get('cluster', {}).get('leader')}, consumers {consumers}"
                )
    for process in processes:
        print(f"  --- {process.name}\n{process.tail(2500)}")


def compare(scene, expected, display, seconds):
    """Wait until it says the same, at most so long. Returned: (record, differences)."""
    until = time.monotonic() + seconds
    while True:
        record = scene.record(display)
        unlike = record.differences(expected)
        if not unlike or time.monotonic() > until:
            return record, unlike
        time.sleep(1)


def judge(scene, expected, trouble):
    """How many claims failed."""
    displays, workers, senders = scene.displays, scene.workers, scene.senders
    sent, asked, tried = (
        sum(numbers) for numbers in zip(*((sender.done, len(sender.lane), sender.tries) for sender in senders))
    )
    failed = check("every batch was acknowledged in the end", sent == asked, f"{sent} of {asked}, {tried} tries")
    failed += check("nothing ended but what was killed", not trouble.ended, "; ".join(trouble.ended)[:1500])
    for display in displays:
        record, unlike = compare(scene, expected, display, 20 if failed else PATIENCE_S)
        store = "PostgreSQL" if scene.postgres and scene.postgres.url in display.words else "SQLite"
        failed += check(
            f"{display.name} ({store}): the same readings, incidents and estimates, to the bit",
            not unlike,
            "; ".join(unlike)
            if unlike
            else f"{len(record.readings)} readings, {len(record.incidents)} incidents, {record.common(expected)} "
            "estimates compared",
        )
    if failed:
        explain(scene.cluster, workers + displays)
    time.sleep(2)
    failed += check("and it stays so", all(not scene.record(display).differences(expected) for display in displays))
    codes = [process.stop() for process in displays + workers]
    return failed + check("services and workers stop cleanly", not any(codes), str(codes))


def run(chosen, folder):
    told = (lambda line: print(line, flush=True)) if chosen.verbose else (lambda line: None)
    day = Day(chosen.headwater, os.path.join(folder, "rivers"), chosen.rivers, chosen.rivers * 2 // 5, seed=chosen.seed)
    expected = one_machine(chosen.headwater, folder, day)
    print(
        f"a day of {len(day.rivers)} rivers, {len(day.unordered)} of them over MQTT: {day.readings} readings sent, "
        f"{len(expected.readings)} of them counted, {day.spills} spills; "
        f"one machine says {len(expected.incidents)} incidents, {len(expected.estimates)} estimates",
        flush=True,
    )
    with Relays() as relays, postgres.Server() if postgres.programs() else contextlib.nullcontext() as store:
        began = time.monotonic()
        scene = Scene(chosen, folder, day, relays, store)
        scene.start()
        trouble = scene.through(told)
        print(
            f"NATS {'.'.join(map(str, nats_version()))}, {trouble.count} faults in {time.monotonic() - began:.0f} s: "
            + ", ".join(f"{n} {what}" for what, n in sorted(trouble.tally.items()))
        )
        print(f"{takings(scene.workers)} times a worker took a partition and brought it up to date", flush=True)
        failed = judge(scene, expected, trouble)
        scene.cluster.stop()
    unlike = disagreements(scene.cluster)
    return failed + check(
        "NATS' own copies of the stream of readings are the same on all nodes",
        not unlike,
        f"they differ in {len(unlike)} places, from number {unlike[0]} on (see replicas.py)" if unlike else "",
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("headwater")
    parser.add_argument("--faults", type=int, default=50)
    parser.add_argument(
        "--split",
        type=int,
        default=0,
        help="instead: so many times the leader is cut off from the nodes, not from its clients",
    )
    parser.add_argument("--rivers", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="each fault as it happens")
    parser.add_argument("--keep", help="folder for databases and logs, kept afterwards")
    chosen = parser.parse_args()
    if not nats_version() or subprocess.run([chosen.headwater, "work", "--help"], capture_output=True).returncode:
        print("skip: no nats-server program here, or headwater was built without NATS")
        sys.exit(77)
    if chosen.keep:
        os.makedirs(chosen.keep, exist_ok=True)
        sys.exit(bool(run(chosen, chosen.keep)))
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(bool(run(chosen, folder)))


if __name__ == "__main__":
    main()
