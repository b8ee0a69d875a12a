"""Strangers in the cluster: what a sensor's permissions keep out, and what becomes of the answers when somebody with
the services' own permissions lies about news, leases and copies. In the end they are those of one machine, to the bit.

  hostile.py HEADWATER
"""
import base64
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import zlib

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
import parts  # noqa: E402
from doors import Guarded  # noqa: E402
from nodes import Cluster, Display, Worker, ask, nats_version, wait_for  # noqa: E402
from parts import SETTINGS, Place, check, events, send  # noqa: E402

PASSWORDS = {"NATS_PASSWORD": "swordfish", "NATS_SENSOR_PASSWORD": "herring"}


def shipped_permissions():
    """The users of packaging/cluster/nats.conf, with passwords of our own."""
    with open(os.path.join(here, "..", "..", "packaging", "cluster", "nats.conf")) as conf:
        block = re.search(r"(?s)\nauthorization \{.*\n\}\n", conf.read()).group()
    return re.sub(r"\$(\w+)", lambda found: PASSWORDS[found.group(1)], block)


class Closed(Cluster):
    """One node with users; headwater's own programs know the password."""

    def __init__(self, folder, users):
        super().__init__(folder, 1)
        self.nodes = [Guarded("n1", folder, users)]

    def urls(self, owner=None, nodes=None):
        return f"nats://headwater:{PASSWORDS['NATS_PASSWORD']}@127.0.0.1:{self.nodes[0].port}"


class Client:
    """NATS by hand."""

    def __init__(self, port, user, password):
        self.bus, self.heard, self.inbox = socket.create_connection(("127.0.0.1", port)), b"", []
        self.bus.settimeout(10)
        self.subscriptions = 0
        words = {"verbose": False, "pedantic": False, "user": user, "pass": password}
        self.bus.sendall(b"CONNECT " + json.dumps(words).encode() + b"\r\n")
        self.turn()

    def turn(self):
        """What has come until the server has done all we asked; [(subject, payload)] joins the inbox."""
        self.bus.sendall(b"PING\r\n")
        errors = []
        while True:
            while b"\r\n" not in self.heard:
                came = self.bus.recv(1 << 16)
                if not came:
                    return [*errors, "closed"]
                self.heard += came
            line, rest = self.heard.split(b"\r\n", 1)
            if line.startswith(b"MSG "):
                _, subject, *_, size = line.split()
                while len(rest) < int(size) + 2:
                    rest += self.bus.recv(1 << 16)
                self.inbox.append((subject.decode(), rest[: int(size)]))
                rest = rest[int(size) + 2 :]
            self.heard = rest
            if line == b"PONG":
                return errors
            if line == b"PING":
                self.bus.sendall(b"PONG\r\n")
            if line.startswith(b"-ERR"):
                errors.append(line.decode())

    def listen(self, subject):
        self.subscriptions += 1
        self.bus.sendall(f"SUB {subject} {self.subscriptions}\r\n".encode())
        self.turn()

    def publish(self, subject, payload, reply=""):
        self.bus.sendall(f"PUB {subject} {reply} {len(payload)}\r\n".encode() + payload + b"\r\n")
        return self.turn()

    def value(self, bucket, key):
        """(text, revision) of a key."""
        self.inbox.clear()
        question = json.dumps({"last_by_subj": f"$KV.{bucket}.{key}"}).encode()
        self.publish(f"$JS.API.STREAM.MSG.GET.KV_{bucket}", question, "answers.here")
        wait_for("an answer", lambda: self.turn() or any(s == "answers.here" for s, _ in self.inbox), 10)
        told = json.loads(next(payload for subject, payload in self.inbox if subject == "answers.here"))
        return base64.b64decode(told["message"]["data"]).decode(), told["message"]["seq"]


def sensors_may_not(cluster, port):
    """A sensor's permissions, whatever it speaks: as shipped it may only speak MQTT."""
    try:
        errors = Client(port, "sensor", PASSWORDS["NATS_SENSOR_PASSWORD"]).turn()
    except OSError as fault:  # it hangs up
        errors = [f"closed: {fault}"]
    check("a sensor's password is of no use but for MQTT", bool(errors), str(errors))
    kept = lambda: {name: cluster.streams().get(name) for name in ("HW_IN", "HW_OUT")}  # noqa: E731
    before = kept()
    stranger = Client(port, "anybody", PASSWORDS["NATS_SENSOR_PASSWORD"])
    for subject in (
        "hw.in.0.alder.readings",
        "hw.out.0.alder.estimate",
        "hw.snap.0.A.0",
        "hw.worker.somebody.4",
        "$KV.hw_lease.p0",
        "$KV.hw_snap.p0",
        "$KV.hw_conf.cluster",
        "$KV.hw_state.1",
        "$JS.API.STREAM.DELETE.HW_IN",
        "$JS.API.STREAM.PURGE.HW_OUT",
    ):
        errors = stranger.publish(subject, b"{}")
        check(f"a sensor may not publish to {subject}", any("Permissions Violation" in e for e in errors), str(errors))
    check("and nothing came of it", kept() == before)


def lie_about_news(rogue, subject, text):
    """News of leases that there never were, and of readings that nobody has."""
    news = json.loads(text)
    _, revision = rogue.value("hw_lease", "p" + subject.split(".")[2])
    for change in ({"fence": 1 << 62}, {"fence": revision}, {"seq": 1 << 62}, {"fence": 1 << 62, "seq": 1 << 62}):
        rogue.publish(subject, json.dumps({**news, **change}).encode())


# Made before anybody is connected: a server drops a client that is silent for as long as this takes on a busy machine.
BOMB_SIZE = 400 << 20
BOMB = zlib.compress(bytes(BOMB_SIZE), 9)


def poison(rogue, partition, how):
    """The copy of a partition is replaced by one that is not what it says, or grows without end."""
    text, _ = rogue.value("hw_snap", f"p{partition}")
    slot, cursor, pieces, packed, plain, digest = text.split()
    if how == "hash":
        digest = digest[:-1] + ("0" if digest[-1] != "0" else "1")
    else:
        step = 512 << 10
        for i in range(0, len(BOMB), step):
            rogue.publish(f"hw.snap.{partition}.{slot}.{i // step}", BOMB[i : i + step])
        pieces, packed, plain = (len(BOMB) + step - 1) // step, len(BOMB), BOMB_SIZE
        digest = hashlib.sha256(BOMB).hexdigest()
    rogue.publish(f"$KV.hw_snap.p{partition}", f"{slot} {cursor} {pieces} {packed} {plain} {digest}".encode())


def most_mb(process):
    with open(f"/proc/{process.process.pid}/status") as told:
        return next(int(line.split()[1]) / 1024 for line in told if line.startswith("VmHWM:"))


def liars(headwater, folder):
    place = Place(headwater, folder, ["alder", "beck"])
    shipped = shipped_permissions()
    sensor = next(line for line in re.findall(r"(?s)\{ user: sensor.*?\} \}", shipped))
    anybody = sensor.replace("sensor,", "anybody,").replace('allowed_connection_types: ["MQTT"],', "")
    cluster = Closed(folder, shipped.replace(sensor, sensor + "\n" + anybody)).start()
    port = cluster.nodes[0].port
    crowd = Display(headwater, "crowd", folder, cluster, place.paths, *SETTINGS, "--partitions", "1000000").start()
    wait_for("too many partitions end it", lambda: not crowd.alive(), 20)
    check("more partitions than there may be are refused", crowd.process.returncode == 2, crowd.tail())
    # Nothing was written down: the cluster is made with others now.
    display = Display(headwater, "serve", folder, cluster, place.paths, *SETTINGS, "--partitions", "4").start().ready()
    wait_for("serve has found the cluster", lambda: ask(display.address + "/readyz")[0] == 200, 20)
    worker = Worker(headwater, "work", folder, cluster, place.paths, *SETTINGS, "--copy-every", "1").start()
    wait_for("the worker has all partitions", lambda: len(events(worker, "partition_taken")) == 4, 20)
    sensors_may_not(cluster, port)

    rogue = Client(port, "headwater", PASSWORDS["NATS_PASSWORD"])
    rogue.listen("answers.here")
    rogue.listen("hw.out.>")
    half = len(place.batches) // 2
    send(display, place.batches[:half])
    heard = lambda: [m for m in rogue.inbox if m[0].endswith("estimate")]  # noqa: E731
    wait_for("news of both rivers", lambda: rogue.turn() or len({s for s, _ in heard()}) == 2, 30)
    for subject, text in dict(heard()).items():
        lie_about_news(rogue, subject, text)
    wait_for("the lies are refused", lambda: rogue.turn() or len(events(display, "news_refused")) >= 8, 30)
    check("news of leases and readings that do not exist are refused and told", True)

    worked = sorted({int(s.split(".")[2]) for s, _ in heard()})
    wait_for(
        "copies are there",
        lambda: rogue.turn() or {e["partition"] for e in events(worker, "copy_made")} >= set(worked),
        20,
    )
    worker.kill()
    rogue = Client(port, "headwater", PASSWORDS["NATS_PASSWORD"])
    rogue.listen("answers.here")
    shutil.rmtree(os.path.join(folder, "work"))
    for partition, how in zip(worked, ("hash", "bomb")):
        poison(rogue, partition, how)
    worker.start()
    wait_for("poisoned copies are told", lambda: len(events(worker, "copy_not_usable")) == len(worked), 30)
    reasons = sorted(e["reason"] for e in events(worker, "copy_not_usable"))
    foreseen = ["its hash is another", "its records are not those that were stored"]
    taken = lambda: [  # noqa: E731
        e
        for e in events(worker, "partition_taken")
        if e["partition"] in worked and e["origin"] == "stream" and e["fence"]
    ]
    wait_for("the stream is worked instead", lambda: len(taken()) >= len(worked), 20)
    check(
        "a poisoned copy is told, takes little memory, and the stream is worked instead",
        reasons == foreseen and most_mb(worker) < 250,
        f"{reasons}, {most_mb(worker):.0f} MB at most",
    )

    before = len(events(worker, "lease_taken"))
    rogue = Client(port, "headwater", PASSWORDS["NATS_PASSWORD"])
    rogue.publish(f"$KV.hw_lease.p{worked[0]}", b"nobody/0 4611686018427387904")
    wait_for("the lease is lost", lambda: events(worker, "lease_lost"), 15)
    send(display, place.batches[half:])
    wait_for("and taken again", lambda: len(events(worker, "lease_taken")) > before, 20)
    check("a lease in nobody's name is taken again when it falls silent", True)
    unlike = place.agrees(display)
    check("the same readings, incidents and estimates as one machine, to the bit", not unlike, "; ".join(unlike))
    check("all stop cleanly", [display.stop(), worker.stop()] == [0, 0])
    cluster.stop()


def main():
    headwater = sys.argv[1]
    if not nats_version() or subprocess.run([headwater, "work", "--help"], capture_output=True).returncode:
        print("skip: no nats-server program here, or headwater was built without NATS")
        sys.exit(77)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        liars(headwater, folder)
    print(f"in {time.monotonic() - began:.0f} s")
    sys.exit(bool(parts.failed))


if __name__ == "__main__":
    main()
