"""Is what was acknowledged there after a power cut? powercut.py HEADWATER [--cuts N] [--seed N] [--only sqlite|nats]

The service's database, and then the storage of a NATS server with `sync_interval: always`, lie on a file system that
forgets what was not synced (forgetful.c, by FUSE). Readings are sent, everything is killed at some moment, and of the
writes since each file's last sync any sectors may have reached the disk, drawn at random. Then all is started again on
what is left: every reading that was acknowledged has to be there, none twice, and the log has to be sound. `--careless`
cuts with a database that does not sync: it has to lose readings, or this test could not see a loss."""

import argparse
import contextlib
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "service"), os.path.join(HERE, "..", "cluster")]
import nodes  # noqa: E402
from serving import RIVER, Service, rows  # noqa: E402

SECTOR = 512


class Disk:
    """A mounted folder, `place`, whose power can be cut."""

    def __init__(self, folder, program, chance):
        self.folder, self.program, self.chance = folder, program, chance
        self.place, self.live, self.shadow = (os.path.join(folder, name) for name in ("disk", "live", "shadow"))
        for path in (self.place, self.live, self.shadow):
            os.makedirs(path)
        self.mount()

    def mount(self):
        self.process = subprocess.Popen([self.program, self.place, self.live, self.shadow])
        until = time.time() + 10
        while not os.path.ismount(self.place):
            if time.time() > until or self.process.poll() is not None:
                raise RuntimeError("no FUSE here")
            time.sleep(0.02)

    def unmount(self):
        subprocess.run(["fusermount3", "-u", "-z", self.place], check=True)
        self.process.wait(10)

    def cut(self):
        """Everybody who writes is dead already. The disk as it is when the power is back."""
        self.unmount()
        forgotten = 0
        for name in {os.path.splitext(name)[0] for name in os.listdir(self.shadow)}:
            disk = os.path.join(self.shadow, name + ".disk")
            content = bytearray(open(disk, "rb").read()) if os.path.exists(disk) else bytearray()
            forgotten += self.apply_some(content, os.path.join(self.shadow, name + ".log"))
            path = os.path.join(self.live, name.replace("%", "/"))
            if os.path.exists(path):
                open(path, "wb").write(content)
            open(disk, "wb").write(content)
        self.mount()
        return forgotten

    def apply_some(self, content, log):
        """Of the writes since the last sync any sectors arrived. Returned: how many did not."""
        forgotten = 0
        if not os.path.exists(log):
            return 0
        data, at = open(log, "rb").read(), 0
        while at + 16 <= len(data):
            offset, size = struct.unpack_from("=qq", data, at)
            at += 16
            if size < 0:
                if self.chance.random() < 0.5:
                    del content[offset:]
                    content.extend(bytes(max(0, offset - len(content))))
                continue
            for first in range(0, size, SECTOR):
                piece = data[at + first : at + min(first + SECTOR, size)]
                if self.chance.random() < 0.5:
                    content.extend(bytes(max(0, offset + first + len(piece) - len(content))))
                    content[offset + first : offset + first + len(piece)] = piece
                else:
                    forgotten += 1
            at += size
        os.remove(log)
        return forgotten


class Sender(threading.Thread):
    """Sends small bodies one after the other and keeps what was acknowledged."""

    def __init__(self, service, number, first):
        super().__init__(daemon=True)
        self.service, self.number, self.next, self.acknowledged = service, number, first, set()

    def run(self):
        with contextlib.suppress(Exception):  # the service is killed under it
            while True:
                times = [1000000 * self.number + self.next + i for i in range(5)]
                body = "time_s,sensor,concentration_g_m3\n" + "".join(f"{t},s1,0.00001\n" for t in times)
                status, _, _ = self.service.request("/v1/readings?river=demo", body, {"Content-Type": "text/csv"})
                if status == 200:
                    self.acknowledged.update(times)
                self.next += 5


def stored(db):
    return [int(t) for (t,) in rows(db, "SELECT time_s FROM readings")]


def cut_sqlite(headwater, disk, cuts, chance, careless):
    """Returned: (acknowledged readings, those gone, sectors forgotten)"""
    prefix = ["env", "LD_PRELOAD=" + careless] if careless else []
    service = Service(headwater, disk.folder, "--method", "atgd", prefix=prefix, river=RIVER)
    service.db = os.path.join(disk.place, "test.db")
    acknowledged, forgotten = set(), 0
    for cut in range(cuts):
        service.start()
        senders = [Sender(service, n, 100000 * cut) for n in range(4)]
        for sender in senders:
            sender.start()
        time.sleep(chance.uniform(0.3, 1.5))
        service.kill()
        for sender in senders:
            sender.join(10)
            acknowledged |= sender.acknowledged
        forgotten += disk.cut()
        for ending in ("-shm",):  # memory shared between processes: never a matter of the disk
            with contextlib.suppress(FileNotFoundError):
                os.remove(service.db + ending)
        try:
            service.start()
        except RuntimeError:  # nothing that could be opened is left
            return len(acknowledged), len(acknowledged), forgotten
        service.stop()
        there = stored(service.db)
        if len(set(there)) != len(there) or acknowledged - set(there):
            return len(acknowledged), len(acknowledged - set(there)), forgotten
        verified = subprocess.run([headwater, "verify", service.db], capture_output=True, text=True)
        assert verified.returncode == 0, verified
    return len(acknowledged), 0, forgotten


CONF = """server_name: alone
listen: 127.0.0.1:{port}
jetstream {{ store_dir: "{folder}", max_mem: 64M, max_file: 1G{sync} }}
"""


def start_nats(conf, port):
    process = subprocess.Popen([nodes.nats_server(), "-c", conf], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.time() + 20
    while time.time() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return process
        time.sleep(0.05)
    raise RuntimeError("the NATS server does not start")


def door(headwater, folder, url):
    """A service of the cluster with nothing of its own yet: what it comes to know is what the stream holds."""
    os.makedirs(folder)
    return Service(headwater, folder, "--nats", url, "--partitions", "4", "--replicas", "1", river=RIVER)


def what_the_stream_holds(service):
    """Once nothing more comes."""
    before, until = None, time.time() + 30
    while time.time() < until:
        now = service.metric("headwater_log_records"), service.request("/readyz")[0]
        if now == before and now[1] == 200:
            return stored(service.db)
        before = now
        time.sleep(1)
    raise TimeoutError("the service does not come to the end of the stream")


def cut_nats(headwater, disk, cuts, chance, careless):
    """As cut_sqlite, for the stream: readings are acknowledged when the server has them."""
    [port] = nodes.free_ports(1)
    conf, url = os.path.join(disk.folder, "nats.conf"), f"nats://127.0.0.1:{port}"
    with open(conf, "w") as out:
        sync = "" if careless else ", sync_interval: always"
        out.write(CONF.format(port=port, folder=os.path.join(disk.place, "js"), sync=sync))
    acknowledged, forgotten, server = set(), 0, start_nats(conf, port)
    try:
        for cut in range(cuts):
            service = door(headwater, os.path.join(disk.folder, f"in{cut}"), url).start()
            senders = [Sender(service, n, 100000 * cut) for n in range(4)]
            until = time.time() + 20
            while service.request("/readyz")[0] != 200 and time.time() < until:
                time.sleep(0.1)
            for sender in senders:
                sender.start()
            time.sleep(chance.uniform(0.5, 2))
            server.kill()
            server.wait()
            service.kill()
            for sender in senders:
                sender.join(15)
                acknowledged |= sender.acknowledged
            forgotten += disk.cut()
            server = start_nats(conf, port)
            with door(headwater, os.path.join(disk.folder, f"out{cut}"), url) as fresh:
                try:
                    there = what_the_stream_holds(fresh)
                except TimeoutError:  # no stream is left
                    return len(acknowledged), len(acknowledged), forgotten
            if len(set(there)) != len(there) or acknowledged - set(there):
                return len(acknowledged), len(acknowledged - set(there)), forgotten
    finally:
        server.kill()
        server.wait()
    return len(acknowledged), 0, forgotten


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("headwater")
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--careless", action="store_true")
    parser.add_argument("--only", choices=("sqlite", "nats"))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program, careless = os.path.join(folder, "forgetful"), None
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "fuse3"], capture_output=True, text=True)
        if flags.returncode or not os.path.exists("/dev/fuse"):
            print("skip: no FUSE here (libfuse3-dev, /dev/fuse)")
            sys.exit(77)
        source = os.path.join(HERE, "forgetful.c")
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", source, "-o", program, *flags.stdout.split()], check=True)
        if chosen.careless:
            careless = os.path.join(folder, "careless.so")
            text = "int fsync(int f) { return f * 0; }\nint fdatasync(int f) { return f * 0; }\n"
            subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", careless], input=text.encode(), check=True)
        lost = False
        for kind, cut in (("sqlite", cut_sqlite), ("nats", cut_nats)):
            if chosen.only in (None, kind):
                lost = run(kind, cut, chosen, os.path.join(folder, kind), program, careless) or lost
        sys.exit(lost)


def run(kind, cut, chosen, folder, program, careless):
    """One store; returned: did it go otherwise than it has to?"""
    version = nodes.nats_version()
    if kind == "nats" and (not version or version < (2, 10)):
        print("skip nats: no server that knows sync_interval: always (tools/nats-server)")
        return False
    chance = random.Random(chosen.seed)
    try:
        disk = Disk(folder, program, chance)
    except RuntimeError as fault:
        print("skip:", fault)
        sys.exit(77)
    try:
        sent, gone, forgotten = cut(chosen.headwater, disk, chosen.cuts, chance, careless)
    finally:
        with contextlib.suppress(Exception):
            disk.unmount()
    print(
        f"{kind}: {chosen.cuts} power cuts, {forgotten} sectors forgotten, {sent} readings acknowledged, {gone} gone",
        flush=True,
    )
    return (gone > 0) != chosen.careless


signal.signal(signal.SIGPIPE, signal.SIG_DFL)
main()
