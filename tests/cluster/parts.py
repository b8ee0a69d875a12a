"""Each promise of a cluster by itself, on one NATS server: the same answers as one machine, nonsense on the bus, a
person's word, MQTT sensors, take-over after a kill and after a pause, a restart from the cluster's copy, and what
happens when the cluster is away.

  parts.py HEADWATER [--keep FOLDER]
"""
import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
sys.path.insert(0, os.path.join(here, "..", "service"))
from broker import Publisher  # noqa: E402
from nodes import Cluster, Display, Worker, ask, nats_version, wait_for  # noqa: E402
from records import BEHIND, Record, rows  # noqa: E402
from serving import FORKED, RIVER, spill  # noqa: E402

SETTINGS = ("--quiet", "7200", "--lead-in", "3600")
failed = 0


def check(claim, truth, detail=""):
    global failed
    print(("ok   " if truth else "FAIL ") + claim + (f"  {detail}" if detail else ""), flush=True)
    failed += not truth


def events(process, kind):
    """Lines of that kind in its log."""
    with open(process.log, errors="replace") as log:
        lines = [json.loads(line) for line in log if line.startswith("{")]
    return [line for line in lines if line["event"] == kind]


def post(display, path, body=""):
    import urllib.error
    import urllib.request

    request = urllib.request.Request(
        display.address + path, data=body.encode(), method="POST", headers={"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def publish(port, subject, payload):
    """A stranger on the bus."""
    with socket.create_connection(("127.0.0.1", port)) as bus:
        bus.sendall(
            b'CONNECT {"verbose":false,"pedantic":false}\r\n'
            + f"PUB {subject} {len(payload)}\r\n".encode()
            + payload
            + b"\r\nPING\r\n"
        )
        heard = b""
        while b"PONG" not in heard:
            heard += bus.recv(4096)


# A network whose tributary is gauged.
NETWORK = FORKED + "gauges: [{id: g1, branch: ash, location_m: -3000}]\n"
BATCHES = 23  # of every river


def one_release(headwater, path, number):
    """Readings of a release, as CSV."""
    return spill(headwater, path, f"50000,{-9000 - 1000 * number},3600", 40_000).splitlines()


def two_releases(headwater, path):
    """Readings of two releases on the tributary, and what its gauge tells amid them."""
    lines = [
        spill(headwater, path, f"{source}", 40_000).splitlines()
        for source in ("50000,ash:-8000,0", "30000,ash:-8000,14400")
    ]
    rows = []
    for one, other in zip(lines[0][1:], lines[1][1:]):
        time_s, sensor, value = one.split(",")
        if sensor == "up" and float(time_s) % 3600 == 0:
            rows.append(f"{time_s},,g1,,{20 + float(time_s) / 10_000:g}")
        rows.append(f"{time_s},{sensor},,{float(value) + float(other.split(',')[2]):.12g},")
    return ["time_s,sensor,gauge,concentration_g_m3,discharge_m3_s", *rows]


class Place:
    """A folder with rivers, their readings, and what one machine says of them; `fork` is a network."""

    def __init__(self, headwater, folder, names):
        self.headwater, self.folder, self.paths, self.batches = headwater, folder, [], []
        os.makedirs(os.path.join(folder, "rivers"))
        for number, name in enumerate(names):
            path = os.path.join(folder, "rivers", name + ".yaml")
            with open(path, "w") as out:
                out.write(NETWORK if name == "fork" else RIVER)
            self.paths.append(path)
            head, *body = two_releases(headwater, path) if name == "fork" else one_release(headwater, path, number)
            size = -(-len(body) // BATCHES)
            self.batches.append(
                [(name, "\n".join([head, *body[i : i + size]]) + "\n") for i in range(0, len(body), size)]
            )
        self.batches = [batch for turn in zip(*self.batches) for batch in turn]
        alone = Display(headwater, "alone", folder, None, self.paths, *SETTINGS).start().ready()
        for river, batch in self.batches:
            assert alone.post(river, batch)
        wait_for(
            "one machine is through",
            lambda: rows(alone.db, BEHIND) == [(0,)] and len(rows(alone.db, "SELECT 1 FROM incidents")) == len(names),
            180,
        )
        alone.stop()
        self.expected = Record(alone.db)

    def agrees(self, display, seconds=30):
        """Differences that remain after a while."""
        until = time.monotonic() + seconds
        while True:
            unlike = Record(display.db).differences(self.expected)
            if not unlike or time.monotonic() > until:
                return unlike
            time.sleep(0.3)


def send(display, batches):
    for river, batch in batches:
        until = time.monotonic() + 30
        while not display.post(river, batch):
            assert time.monotonic() < until, display.tail()
            time.sleep(0.1)


def by_hand(display):
    code, opened = post(display, "/v1/incidents", '{"river": "alder", "method": "atgd"}')
    closed = post(display, f"/v1/incidents/{opened['id']}/close")
    check(
        "a person opens and closes an incident",
        code == 201 and closed[0] == 200 and closed[1]["close_reason"] == "closed by hand",
        str((code, closed[0])),
    )
    check("an incident that is closed cannot be closed", post(display, f"/v1/incidents/{opened['id']}/close")[0] == 404)


def nonsense(node, display, worker):
    for subject in (
        "hw.in.0.alder.readings",
        "hw.in.x",
        "hw.in.3.beck.command",
        "hw.in.1.nowhere.readings",
        "hw.out.1.alder.estimate",
        "hw.out.9",
    ):
        for payload in (
            b"",
            b"\x00\xff\xfe",
            b"{}",
            b'{"rows": [[1, 2, 3, 4]]}',
            b'{"rows": ' + b"[" * 5000,
            b"x" * 200_000,
        ):
            publish(node.port, subject, payload)
    time.sleep(1)
    check(
        "nonsense on the bus ends nobody",
        display.alive() and worker.alive() and ask(display.address + "/healthz")[0] == 200,
    )


def sensors_by_mqtt(headwater, place, cluster, worker):
    """Published straight to NATS, QoS 1; carried into the stream by serve."""
    display = (
        Display(
            headwater,
            "mqtt",
            place.folder,
            cluster,
            place.paths,
            *SETTINGS,
            "--mqtt",
            f"127.0.0.1:{cluster.nodes[0].mqtt}",
        )
        .start()
        .ready()
    )
    wait_for("serve is at the broker", lambda: events(display, "mqtt_connected"), 15)
    Publisher(cluster.nodes[0].mqtt).publish(
        [(f"headwater/alder/s{1 + i % 2}", f"0.0001{i} {500_000 + 60 * i}") for i in range(50)]
    )
    sql = "SELECT count(*) FROM readings WHERE time_s >= 500000"
    wait_for("readings over MQTT are stored", lambda: rows(display.db, sql) == [(50,)], 15)
    check("sensors publish to NATS over MQTT", True)
    check("serve stops cleanly", display.stop() == 0)


def one_worker(headwater, folder):
    place = Place(headwater, folder, ["alder", "beck", "clough", "fork"])
    on_fork = [json.loads(result) for (river, _), (_, result) in place.expected.results.items() if river == "fork"]
    check(
        "a network's answer has its branch and both releases",
        [[r["estimate"]["branch"] for r in answer["releases"]] for answer in on_fork] == [["ash", "ash"]]
        and sum(reading[4] == 3 for reading in place.expected.readings) > 9,
        str(on_fork)[:300],
    )
    cluster = Cluster(folder, 1).start()
    node = cluster.nodes[0]
    display = Display(headwater, "serve", folder, cluster, place.paths, *SETTINGS, "--partitions", "4").start().ready()
    wait_for("serve has found the cluster", lambda: ask(display.address + "/readyz")[0] == 200, 20)
    options = (*SETTINGS, "--copy-every", "1")
    worker = Worker(headwater, "work", folder, cluster, [os.path.join(folder, "rivers")], *options).start()
    half = len(place.batches) // 2
    send(display, place.batches[:half])
    nonsense(node, display, worker)
    wait_for(
        "a copy is in the cluster",
        lambda: len({e["partition"] for e in events(worker, "copy_made")})
        >= len({e["partition"] for e in events(worker, "partition_taken") if e["replayed"]})
        > 0,
        20,
    )
    worker.kill()
    shutil.rmtree(os.path.join(folder, "work"))  # nothing but the cluster's copy is left
    send(display, place.batches[half : half + 9])
    worker.start()
    copied = {e["partition"] for e in events(worker, "copy_made")}
    wait_for(
        "the worker is back",
        lambda: copied <= {e["partition"] for e in events(worker, "partition_taken") if e["origin"] == "copy"},
        20,
    )
    check("a worker without its files goes on from the cluster's copies", len(copied) > 1, f"{len(copied)} of them")

    node.kill()
    wait_for("serve notices", lambda: ask(display.address + "/readyz")[0] == 503, 10)
    check("without the cluster readings are refused", display.post(*place.batches[half + 9], 15) is None)
    check("and what is known is still shown", ask(display.address + "/v1/incidents")[0] == 200)
    node.start()
    began = time.monotonic()
    send(display, place.batches[half + 9 :])
    check(
        "the cluster comes back and all go on by themselves",
        True,
        f"every batch sent after {time.monotonic() - began:.1f} s",
    )
    unlike = place.agrees(display)
    check("the same readings, incidents and estimates as one machine, to the bit", not unlike, "; ".join(unlike))
    late = Display(headwater, "late", folder, cluster, place.paths, *SETTINGS).start().ready()
    unlike = place.agrees(late)
    check("a service that comes late shows the same", not unlike, "; ".join(unlike))
    found = ask(late.address + "/v1/incidents")[1]["incidents"][0]["id"]
    check(
        "and its engine's samples are the same",
        ask(f"{late.address}/v1/incidents/{found}/posterior")[1]
        == ask(f"{display.address}/v1/incidents/{found}/posterior")[1]
        != "",
    )
    by_hand(display)
    repeated(display)
    sensors_by_mqtt(headwater, place, cluster, worker)
    other = subprocess.run(
        [
            headwater,
            "work",
            *place.paths,
            "--nats",
            f"nats://127.0.0.1:{node.port}",
            "--dir",
            folder,
            "--partitions",
            "5",
        ],
        capture_output=True,
        text=True,
        timeout=20,
    )
    check(
        "another number of partitions is refused",
        other.returncode == 2 and "--partitions 5" in other.stderr,
        other.stderr.strip(),
    )
    check("all stop cleanly", [late.stop(), display.stop(), worker.stop()] == [0, 0, 0])
    refused(headwater, folder, cluster, place)
    engines(headwater, folder, cluster, place)
    cluster.stop()


def refused(headwater, folder, cluster, place):
    """What can never work ends at once, with a sentence."""
    for name, options, code, sentence in (
        ("other", ("--partitions", "5"), 2, "--partitions 5: the cluster was made with 4"),
        ("foreign", ("--db", os.path.join(folder, "alone.db")), 1, "another cluster or to a single service"),
    ):
        display = Display(headwater, name, folder, cluster, place.paths, *SETTINGS, *options).start()
        wait_for("serve ends", lambda: not display.alive(), 15)
        check(
            f"serve ends with an error: {sentence}",
            display.process.returncode == code and sentence in display.tail(),
            str((display.process.returncode, display.tail(300))),
        )


def engines(headwater, folder, cluster, place):
    """Programs of two engines do not work side by side."""
    node = cluster.nodes[0]
    worker = Worker(headwater, "work", folder, cluster, [os.path.join(folder, "rivers")], *SETTINGS)

    def works_with(engine):
        publish(node.port, "$KV.hw_conf.engine", engine)

    def ends(process, sentence):
        process.start()
        wait_for("it ends", lambda: not process.alive(), 15)
        check(
            f"it ends with an error: {sentence}",
            process.process.returncode == 1 and sentence in process.tail(),
            str((process.process.returncode, process.tail(300))),
        )

    works_with(b"99")
    ends(worker, "runs engine 99")
    ends(Display(headwater, "older", folder, cluster, place.paths, *SETTINGS), "runs engine 99")
    works_with(b"1")
    stop = threading.Event()
    voice = threading.Thread(
        target=lambda: [publish(node.port, "hw.worker.veteran", b"") for _ in iter(lambda: stop.wait(0.4), True)]
    )
    voice.start()
    ends(worker, "worker veteran has engine 1")
    stop.set()
    voice.join()
    waiting = Display(headwater, "waiting", folder, cluster, place.paths, *SETTINGS).start().ready()
    wait_for(
        "serve waits",
        lambda: any("waiting for a worker" in e["reason"] for e in events(waiting, "cluster_not_joined")),
        15,
    )
    worker.start()
    wait_for("a worker takes over", lambda: events(worker, "engine_taken_over"), 15)
    wait_for("and serve joins", lambda: ask(waiting.address + "/readyz")[0] == 200, 20)
    check(
        "once nobody of the older engine is heard, a worker takes the cluster over",
        [waiting.stop(), worker.stop()] == [0, 0],
    )


def repeated(display):
    """A batch that the stream has taken within the last two minutes is told to be a duplicate; single readings are only
    found by the workers.
    """
    batch = "time_s,sensor,concentration_g_m3\n400000,s1,0\n400060,s1,0\n"
    answers = [display.post("alder", body) for body in (batch, batch, batch.replace("400060,s1,0\n", ""))]
    counts = [(answer["accepted"], answer["duplicates"]) for answer in answers]
    check("a batch sent again is counted as duplicates", counts == [(2, 0), (0, 2), (1, 0)], str(counts))


def majority_gone(headwater, folder):
    place = Place(headwater, folder, ["alder"])
    cluster = Cluster(folder, 3).start()
    display = Display(headwater, "serve", folder, cluster, place.paths, *SETTINGS).start().ready()
    ready = lambda: ask(display.address + "/readyz")[0]  # noqa: E731
    wait_for("serve has found the cluster", lambda: ready() == 200, 30)
    old = nats_version() < (2, 10)
    check(
        "an engine whose copies may differ is told of" if old else "an engine that keeps its copies alike is fine",
        bool(events(display, "nats_too_old")) == old,
    )
    leader = cluster.stream_leader("HW_IN") or cluster.nodes[0]
    lost = [node for node in cluster.nodes if node is not leader]
    lost[0].kill()
    time.sleep(6)
    check("one node of three may be gone: still ready", ready() == 200 and display.post(*place.batches[0]) is not None)
    lost[1].kill()
    began = time.monotonic()
    wait_for("not ready", lambda: ready() == 503, 20)
    took = time.monotonic() - began
    check(
        "two nodes of three gone: not ready, and no reading is acknowledged",
        took < 10 and display.post(*place.batches[1]) is None,
        f"after {took:.1f} s",
    )
    for node in lost:
        node.start()
    wait_for("ready again", lambda: ready() == 200, 40)
    check("ready again when they are back, and readings are acknowledged", display.post(*place.batches[1]) is not None)
    check("serve stops cleanly", display.stop() == 0)
    cluster.stop()


def holders(workers):
    """{partition: [names]} by what each said last of it."""
    held = {}
    for worker in workers:
        with open(worker.log, errors="replace") as log:
            for line in log:
                event = json.loads(line) if line.startswith("{") else {"event": ""}
                if event["event"] == "lease_taken":
                    held.setdefault(event["partition"], {})[worker.name] = event["fence"]
                elif event["event"] in ("lease_lost", "lease_released"):
                    held.get(event["partition"], {}).pop(worker.name, None)
    return {partition: sorted(names) for partition, names in held.items()}


def evenly(workers, partitions=8):
    held = holders(workers)
    shares = [sum(names == [worker.name] for names in held.values()) for worker in workers]
    return sum(shares) == partitions and max(shares) - min(shares) <= 1


def several_workers(headwater, folder):
    place = Place(headwater, folder, ["alder", "beck", "clough", "dale", "esk", "fleet"])
    cluster = Cluster(folder, 1).start()
    display = Display(headwater, "serve", folder, cluster, place.paths, *SETTINGS, "--partitions", "8").start().ready()
    wait_for("serve has found the cluster", lambda: ask(display.address + "/readyz")[0] == 200, 20)
    workers = [Worker(headwater, f"work{i}", folder, cluster, place.paths, *SETTINGS).start() for i in (1, 2, 3)]
    third = len(place.batches) // 3
    send(display, place.batches[:third])
    wait_for("three workers share evenly", lambda: evenly(workers), 20)
    check("three workers share the partitions evenly", True)

    killed = workers.pop(0)
    orphans = sorted(p for p, names in holders([killed]).items() if names)
    killed.kill()
    began = time.monotonic()
    send(display, place.batches[third : 2 * third])
    wait_for("all are worked again", lambda: all(holders(workers).get(p) for p in orphans) and evenly(workers), 20)
    taken = time.monotonic() - began
    check("a killed worker is replaced within 10 s", taken < 10, f"{len(orphans)} partitions, {taken:.1f} s")

    workers[0].pause()
    wait_for("the paused one is replaced", lambda: evenly(workers[1:]), 20)
    workers[0].resume()
    wait_for("it notices", lambda: events(workers[0], "lease_lost"), 10)
    wait_for("and gets its share again", lambda: evenly(workers), 20)
    check("a paused worker is replaced, notices when it wakes, and gets its share again", True)
    send(display, place.batches[2 * third :])
    unlike = place.agrees(display)
    check("the same readings, incidents and estimates as one machine, to the bit", not unlike, "; ".join(unlike))
    check("all stop cleanly", [process.stop() for process in [display, *workers]] == [0, 0, 0])
    cluster.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("headwater")
    parser.add_argument("--keep", help="folder for databases and logs, kept afterwards")
    chosen = parser.parse_args()
    if not nats_version() or subprocess.run([chosen.headwater, "work", "--help"], capture_output=True).returncode:
        print("skip: no nats-server program here, or headwater was built without NATS")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.keep or scratch
        for part in (one_worker, several_workers, majority_gone):
            os.makedirs(os.path.join(folder, part.__name__))
            part(chosen.headwater, os.path.join(folder, part.__name__))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
