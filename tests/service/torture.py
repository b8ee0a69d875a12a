"""Kill the service under load, again and again, and see that nothing acknowledged is lost, nothing doubled, and that
the answer is the one an uninterrupted run gives.

  torture.py HEADWATER [--kills 200] [--mqtt-kills 50] [--seed 1] [--faults]
"""
import argparse
import contextlib
import glob
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from broker import Broker, Publisher  # noqa: E402
from serving import POSTGRES, Service, rows, spill  # noqa: E402

FINAL = (
    "SELECT incident, seq, mass_g, location_m, time_s, mass_lo, mass_hi, location_lo, location_hi, time_lo, time_hi "
    "FROM estimates"
)
INCIDENTS = (
    "SELECT id, sensor, opened_s, onset_s, from_s, origin_s, closed_seq, closed_s, reason FROM incidents ORDER BY id"
)
READINGS = "SELECT sensor, time_s, concentration_g_m3, below FROM readings ORDER BY seq"


def check(claim, truth, detail=""):
    print(("ok   " if truth else "FAIL ") + claim + (f"  {detail}" if detail else ""), flush=True)
    return 0 if truth else 1


def batches(readings, size):
    header, *body = readings.splitlines()
    return ["\n".join([header, *body[i : i + size]]) + "\n" for i in range(0, len(body), size)]


def send(service, batch):
    """True once acknowledged; False when the service was not there or went away (fate unknown)."""
    try:
        request = urllib.request.Request(
            service.address + "/v1/readings?river=demo", data=batch.encode(), headers={"Content-Type": "text/csv"}
        )
        with urllib.request.urlopen(request, timeout=5) as answer:
            told = json.load(answer)
            assert not told["rejected"], told
            return True
    except (urllib.error.URLError, ConnectionError, TimeoutError, OSError, json.JSONDecodeError, ValueError):
        return False


def kills(headwater, count, seed, method, last):
    """One sender, batches in order, each sent until acknowledged; meanwhile the service is killed at random moments."""
    rng = random.Random(seed)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        calm, wild = os.path.join(folder, "calm"), os.path.join(folder, "wild")
        os.mkdir(calm), os.mkdir(wild)
        options = ("--method", method, "--quiet", "7200")
        service = Service(headwater, calm, *options).start()
        windows = [
            spill(headwater, service.river, f"50000,-12000,{3600 + start}", start + 90_000, start + 300).splitlines()
            for start in range(0, last, 90_000)
        ]
        readings = "\n".join([windows[0][0], *(line for window in windows for line in window[1:])])
        parts = batches(readings, 7)
        for part in parts:
            assert send(service, part)
        service.settle(60)
        service.stop()
        expected = [rows(service.db, sql) for sql in (READINGS, INCIDENTS)], dict(
            (r[:2], r[2:]) for r in rows(service.db, FINAL)
        )

        service = Service(headwater, wild, *options).start()
        state = {"done": 0, "killed": 0, "stop": False}

        def sender():
            for part in parts:
                while state["done"] * count > (state["killed"] + 1) * len(parts) and state["killed"] < count:
                    time.sleep(0.001)  # spread over all kills: every one is under load
                while not send(service, part) and not state["stop"]:
                    time.sleep(0.005)
                state["done"] += 1

        thread = threading.Thread(target=sender)
        thread.start()
        killed = 0
        while killed < count:
            time.sleep(rng.expovariate(1 / 0.03))
            service.kill()
            killed += 1
            state["killed"] = killed
            if state["done"]:
                acknowledged = sum(p.count("\n") - 1 for p in parts[: state["done"]])
                stored = rows(service.db, "SELECT count(*) FROM readings")[0][0]
                if stored < acknowledged:
                    failed += check(
                        "acknowledged readings are stored", False, f"{stored} < {acknowledged} after kill {killed}"
                    )
                    break
            service.start()
        thread.join(timeout=300)
        state["stop"] = True
        service.settle(120)
        service.stop()
        got = [rows(service.db, sql) for sql in (READINGS, INCIDENTS)], dict(
            (r[:2], r[2:]) for r in rows(service.db, FINAL)
        )
        last = lambda found: {
            incident: max(s for i, s in found if i == incident) for incident, _ in found
        }  # noqa: E731
        common = set(got[1]) & set(expected[1])
        failed += check(
            f"{killed} kills over HTTP ({method}): every reading stored once, in the same order",
            got[0][0] == expected[0][0],
            f"{len(got[0][0])} readings",
        )
        failed += check("the same incidents, to the bit", got[0][1] == expected[0][1], f"{len(got[0][1])} incidents")
        failed += check(
            "the same estimates, to the bit",
            last(got[1]) == last(expected[1]) and all(got[1][k] == expected[1][k] for k in common),
            f"{len(common)} estimates compared",
        )
    return failed


def mqtt_messages(readings):
    for line in readings.splitlines()[1:]:
        time_s, sensor, value = line.split(",")
        yield f"headwater/demo/{sensor}", f"{value} {time_s}"


def mqtt_kills(headwater, count, seed, total=4000):
    """What the broker took must end in the database exactly once, however often the service dies."""
    if not shutil.which("mosquitto"):
        print("skip MQTT: no mosquitto program here")
        return 0
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        broker = Broker(folder).start()
        service = Service(headwater, folder, "--method", "atgd", "--mqtt", f"127.0.0.1:{broker.port}").start()
        time.sleep(0.5)  # the session exists from here on
        messages = list(mqtt_messages(spill(headwater, service.river, last=150 * total)))[:total]

        def publish():
            publisher = Publisher(broker.port)
            for at in range(0, len(messages), 20):
                publisher.publish(messages[at : at + 20])
                time.sleep(count * 0.06 / (total / 20))

        thread = threading.Thread(target=publish)
        thread.start()
        for _ in range(count):
            time.sleep(rng.expovariate(1 / 0.05))
            service.kill()
            service.start()
        thread.join()
        until = time.time() + 60
        while time.time() < until and service.metric("headwater_log_records") < total:
            time.sleep(0.2)
        stored = rows(service.db, "SELECT count(*), count(DISTINCT sensor || '@' || time_s) FROM readings")[0]
        failed = check(
            f"{count} kills over MQTT: all {total} messages stored once", stored == (total, total), str(stored)
        )

        broker.stop()  # gone...
        status, _, _ = service.request("/healthz")
        assert status == 200
        broker.start()  # ...and back
        publisher = Publisher(broker.port)
        publisher.publish([("headwater/demo/s1", f"0.00001 {9e6 + i}") for i in range(50)])
        until = time.time() + 30
        while time.time() < until and service.metric("headwater_log_records") < total + 50:
            time.sleep(0.2)
        failed += check(
            "the broker went and came back: later messages arrive",
            service.metric("headwater_log_records") == total + 50,
        )
        service.stop()
        broker.stop()
    return failed


def damage_while_running(headwater):
    """Pages go bad under a running service: noticed when they are read; from then on nothing is written on top, nothing
    acknowledged that is not stored, and what is whole is still told. A backup and the senders' repetitions heal it."""
    failed = 0
    kind = {"Content-Type": "text/csv"}
    readings = lambda first: "time_s,sensor,concentration_g_m3\n" + "".join(
        f"{t},s1,0.00001\n" for t in range(first, first + 20000)
    )  # noqa: E731
    with tempfile.TemporaryDirectory() as folder:
        service = Service(headwater, folder, "--method", "atgd").start()
        assert service.request("/v1/readings", readings(0), kind)[0] == 200
        service.settle()
        with contextlib.closing(sqlite3.connect(service.db)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("VACUUM INTO ?", (service.db + ".backup",))
            root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'readings'").fetchone()[0]
        with open(service.db, "r+b") as damaged:  # all but the first pages, the tables' roots
            for page in range(max(20, root + 1), os.path.getsize(service.db) // 4096):
                damaged.seek(4096 * page)
                damaged.write(b"\xa5" * 4096)
        told = service.request("/v1/readings", readings(50000), kind)[0]  # may still go through the writer's own memory
        old = service.request("/v1/rivers/demo/readings?sensor=s1&from=100&to=19000")[0]
        codes = [service.request("/v1/readings", readings(100000 + 20000 * i), kind)[0] for i in range(3)]
        failed += check(
            "damage met while running: the question and every further reading are refused",
            old == 503 and codes == [503] * 3,
            f"{told}, then {old}, {codes}",
        )
        failed += check(
            "damage met while running: alive, not ready, what is whole is told",
            [service.request(path)[0] for path in ("/healthz", "/readyz", "/v1/rivers", "/metrics")]
            == [200, 503, 200, 200],
        )
        failed += check(
            "damage met while running: said once in the log",
            open(os.path.join(folder, "log")).read().count("database_damaged") == 1,
        )
        service.stop()
        for ending in ("-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(service.db + ending)
        os.replace(service.db + ".backup", service.db)
        with service:
            answers = [json.loads(service.request("/v1/readings", readings(first), kind)[1]) for first in (0, 50000)]
            failed += check(
                "the backup in place, all sent again: everything stored once",
                [a["accepted"] for a in answers] == [0, 20000]
                and rows(service.db, "SELECT count(*) FROM readings")[0][0] == 40000,
                str(answers)[:120],
            )
    return failed


def faults(headwater):
    """Full disk, read-only file, damaged page, clock stepped back: each with its defined outcome."""
    failed = 0
    batch = "time_s,sensor,concentration_g_m3\n{},s1,0\n"
    with tempfile.TemporaryDirectory() as folder:
        small = os.path.join(folder, "small")
        os.mkdir(small)
        mounted = (
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small], capture_output=True).returncode
            == 0
        )
        if mounted:
            try:
                service = Service(headwater, small).start()
                kind = {"Content-Type": "text/csv"}
                big = "time_s,sensor,concentration_g_m3\n" + "".join(f"{{0}}{i:04d},s1,0\n" for i in range(2000))
                codes = [service.request("/v1/readings", big.replace("{0}", str(n)), kind)[0] for n in range(1, 40)]
                failed += check(
                    "full disk: refused with 507, nothing half stored", 507 in codes, str(sorted(set(codes)))
                )
                stored = codes.count(200) * 2000
                failed += check(
                    "full disk: what was acknowledged is there",
                    rows(service.db, "SELECT count(*) FROM readings")[0][0] == stored,
                )
                failed += check(
                    "full disk: not ready, still answering",
                    service.request("/readyz")[0] == 503 and service.request("/v1/rivers")[0] == 200,
                )
                service.kill()
                service.start()
                failed += check(
                    "full disk: it starts all the same, answers, and refuses with 507",
                    service.request("/v1/rivers")[0] == 200
                    and service.request("/v1/readings", big.replace("{0}", "77"), kind)[0] == 507,
                )
                subprocess.run(["mount", "-o", "remount,size=64m", small], check=True)
                failed += check(
                    "space again: readings are accepted again",
                    service.request("/v1/readings", batch.format(7), kind)[0] == 200,
                )
                service.stop()
                subprocess.run(["mount", "-o", "remount,ro", small], check=True)
                run = subprocess.run(
                    [headwater, "serve", service.river, "--db", service.db, "--listen", "127.0.0.1:0"],
                    capture_output=True,
                    text=True,
                )
                failed += check(
                    "read-only disk: refuses to start, exit 3, one sentence",
                    run.returncode == 3 and run.stderr.count("headwater: ") == 1,
                    run.stderr.strip()[-100:],
                )
            finally:
                subprocess.run(["umount", "-l", small], capture_output=True)
        else:
            print("skip full disk: a small file system cannot be mounted here")
    with tempfile.TemporaryDirectory() as folder:
        with Service(headwater, folder) as service:
            service.post(batch.format(1))
        os.chmod(service.db, 0o444), os.chmod(folder, 0o755)
        as_nobody = (
            ["setpriv", "--reuid=65534", "--clear-groups"] if os.getuid() == 0 and shutil.which("setpriv") else []
        )
        run = subprocess.run(
            [*as_nobody, headwater, "serve", service.river, "--db", service.db, "--listen", "127.0.0.1:0"],
            capture_output=True,
            text=True,
        )
        failed += check(
            "read-only database: refuses to start, exit 3, one sentence",
            run.returncode == 3 and run.stderr.count("headwater: ") == 1 and "database" in run.stderr,
            run.stderr.strip()[-100:],
        )
        os.chmod(service.db, 0o644)
        with Service(headwater, folder) as service:
            for n in range(200):
                service.post(batch.replace("{}", "{0}").format(10 + n))
        with open(service.db, "r+b") as damaged:  # the middle of the readings
            size = os.path.getsize(service.db)
            for page in range(2, size // 4096):
                damaged.seek(4096 * page)
                damaged.write(b"\xa5" * 4096)
        try:
            service.start()
            status = service.request("/v1/readings", batch.format(5), {"Content-Type": "text/csv"})[0]
            ready = service.request("/readyz")[0]
            failed += check(
                "damaged pages: readings refused (503), not ready", status == 503 and ready == 503, f"{status} {ready}"
            )
            service.stop()
        except RuntimeError as fault:
            failed += check(
                "damaged pages: refuses to start with a sentence", "damaged" in str(fault), str(fault)[-120:]
            )
    failed += damage_while_running(headwater)
    failed += read_only_while_running(headwater)
    return failed + clock_back(headwater)


def read_only_while_running(headwater):
    """The disk can no longer be written under a running service. Its files are made immutable and released again; then
    the file system gives up, as on a failing disk, and is mounted anew."""
    failed = 0
    kind = {"Content-Type": "text/csv"}
    batch = "time_s,sensor,concentration_g_m3\n{},s1,0\n"
    with tempfile.TemporaryDirectory() as folder:
        image, disk = os.path.join(folder, "image"), os.path.join(folder, "disk")
        os.mkdir(disk)
        with open(image, "wb") as empty:
            empty.truncate(32 << 20)
        mount = ["mount", "-o", "loop", image, disk]
        tools = all(map(shutil.which, ("mkfs.ext4", "chattr")))
        if (
            not tools
            or subprocess.run(["mkfs.ext4", "-q", image], capture_output=True).returncode
            or subprocess.run(mount, capture_output=True).returncode
        ):
            print("skip read-only disk under a running service: an ext4 image cannot be mounted here")
            return 0
        acknowledged = []
        service = Service(headwater, disk)

        def post(service, number):
            code = service.request("/v1/readings", batch.format(number), kind)[0]
            acknowledged.extend([float(number)] if code == 200 else [])
            return code

        def answers(service):
            return service.request("/healthz")[0], service.request("/readyz")[0], service.request("/v1/rivers")[0]

        def ready(service, seconds):
            until = time.time() + seconds
            while time.time() < until and service.request("/readyz")[0] != 200:
                time.sleep(0.1)
            return service.request("/readyz")[0] == 200

        try:
            service.start()
            codes = [post(service, n) for n in range(20)]
            failed += check(
                "before: readings accepted, ready",
                codes == 20 * [200] and answers(service) == (200, 200, 200),
                str(codes),
            )
            files = [service.db + end for end in ("", "-wal", "-shm")]
            subprocess.run(["chattr", "+i", *files], check=True)
            codes = [post(service, n) for n in range(20, 30)]
            failed += check(
                "files not writable while running: readings refused with 503", codes == 10 * [503], str(codes)
            )
            failed += check(
                "files not writable while running: alive, not ready, still answering",
                answers(service) == (200, 503, 200),
                str(answers(service)),
            )
            subprocess.run(["chattr", "-i", *files], check=True)
            failed += check("writable again: ready by itself, without a reading", ready(service, 10))
            codes = [post(service, n) for n in range(20, 30)]
            failed += check("writable again: the refused readings are accepted", codes == 10 * [200], str(codes))
            subprocess.run(["sync", "-f", disk], check=True)  # the river's file is ours to keep, not the service's
            subprocess.run(["mount", "-o", "remount,abort", disk], check=True)
            codes = [post(service, n) for n in range(30, 40)]
            failed += check("disk read-only while running: readings refused with 503", codes == 10 * [503], str(codes))
            failed += check(
                "disk read-only while running: alive, not ready, still answering",
                answers(service) == (200, 503, 200),
                str(answers(service)),
            )
            failed += check("disk read-only while running: it stops when told", service.stop() == 0)
            subprocess.run(["umount", disk], check=True)
            subprocess.run(mount, check=True)
            service.start()
            codes = [post(service, n) for n in range(30, 40)]
            failed += check("disk mounted anew: the refused readings are accepted", codes == 10 * [200], str(codes))
            service.stop()
            stored = [row[0] for row in rows(service.db, "SELECT time_s FROM readings ORDER BY seq")]
            failed += check(
                "all the while: what was acknowledged is stored, once and in order",
                stored == acknowledged == list(range(40)),
                str(len(stored)),
            )
        finally:
            if service.process:
                service.kill()
            subprocess.run(["umount", "-l", disk], capture_output=True)
    return failed


def clock_back(headwater):
    """The machine's clock is set back two hours, while the service runs and over a restart: its own never runs
    backwards.
    """
    libraries = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
    if not libraries:
        print("skip clock stepping back: no libfaketime here")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        offset = os.path.join(folder, "offset")
        open(offset, "w").write("+0")
        faked = {
            "LD_PRELOAD": libraries[0],
            "FAKETIME_TIMESTAMP_FILE": offset,
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        service = Service(headwater, folder, environment=faked)
        try:
            service.start()
        except RuntimeError:
            print("skip clock stepping back: libfaketime cannot be loaded into this build")
            return 0

        def send_now(claim, later):
            stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + later))
            answer = service.post(f"time,sensor,concentration_g_m3\n{stamp},s1,0\n")
            return check(claim, answer["accepted"] == 1, str(answer))

        failed += send_now("the clock as it is: a reading of now is accepted", 0)
        open(offset, "w").write("-2h")
        seen = json.loads(service.request("/v1/events")[1])  # it answers as before
        failed += send_now("clock two hours back while running: a reading by the true clock is still accepted", 1)
        present = service.get("/v1/rivers/demo")["present_s"]
        failed += check(
            "clock two hours back while running: the river's clock is not",
            abs(present - time.time()) < 60 and seen["events"] == [],
            f"{present - time.time():.0f} s",
        )
        service.kill()
        service.start()
        failed += send_now("clock two hours back over a restart: the same", 2)
        service.stop()
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("headwater")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--mqtt-kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", action="store_true", help="a failing disk and clock alone")
    chosen = parser.parse_args()
    if chosen.faults:
        sys.exit(bool(faults(chosen.headwater)))
    failed = kills(chosen.headwater, chosen.kills, chosen.seed, "atgd", 2_000_000)
    failed += kills(chosen.headwater, max(4, chosen.kills // 5), chosen.seed + 1, "posterior", 500_000)
    failed += mqtt_kills(chosen.headwater, chosen.mqtt_kills, chosen.seed)
    if not POSTGRES:  # these are faults of a file
        failed += faults(chosen.headwater)
    sys.exit(bool(failed))


main()
