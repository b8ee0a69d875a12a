"""A PostgreSQL server that goes and comes back under a running service: outage.py HEADWATER

Whatever happens to the server, nothing acknowledged is lost or doubled, the service comes back by itself, and what it
worked out is to the bit what a calm run on SQLite works out.
"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import postgres  # noqa: E402
import serving  # noqa: E402

HEADWATER = sys.argv[1]
OPTIONS = ("--method", "atgd", "--quiet", "7200")
WORKED_OUT = (
    "SELECT seq, river, sensor, time_s, concentration_g_m3, below FROM readings ORDER BY seq",
    "SELECT id, river, sensor, method, seed, opened_s, onset_s, from_s, origin_s, closed_seq, closed_s, reason FROM "
    "incidents ORDER BY id",
    "SELECT incident, seq, mass_g, location_m, time_s, mass_lo, mass_hi, location_lo, location_hi, time_lo, time_hi "
    "FROM estimates AS e "
    "WHERE seq = (SELECT max(seq) FROM estimates WHERE incident = e.incident) ORDER BY incident",
)


def worked_out(db):
    return [serving.rows(db, sql) for sql in WORKED_OUT]


def send(service, part, also=()):
    """True once acknowledged. While the server is away the answer is 503, and nothing else."""
    status, text, _ = service.request("/v1/readings?river=demo", part, {"Content-Type": "text/csv"})
    assert status in (200, 503, *also), (status, text)
    return status == 200


def calm(folder, parts):
    serving.POSTGRES = None
    with serving.Service(HEADWATER, folder, *OPTIONS) as service:
        for part in parts:
            assert send(service, part)
        service.settle()
    return worked_out(service.db)


def check_the_server_may_crash_and_come_back(server, folder):
    rng = random.Random(1)
    at_sqlite, at_postgres = os.path.join(folder, "sqlite"), os.path.join(folder, "postgres")
    os.mkdir(at_sqlite), os.mkdir(at_postgres)
    river = serving.Service(HEADWATER, folder).river
    header, *body = serving.spill(HEADWATER, river, last=120_000).splitlines()
    parts = ["\n".join([header, *body[at : at + 4]]) + "\n" for at in range(0, len(body), 4)]
    expected = calm(at_sqlite, parts)
    serving.POSTGRES = server.url
    service = serving.Service(HEADWATER, at_postgres, *OPTIONS).start()
    refused = []

    def sender():
        for part in parts:
            while not send(service, part):
                refused.append(part)
                time.sleep(0.01)
            time.sleep(0.01)  # over all the crashes

    thread = threading.Thread(target=sender)
    thread.start()
    for crash in range(5):
        time.sleep(rng.uniform(0.1, 0.5))
        server.stop("at once" if crash % 2 else "fast")
        time.sleep(0.3)
        assert service.request("/healthz")[0] == 200
        server.start()
    thread.join()
    assert refused, "the server was never missed"
    assert service.request("/readyz")[0] == 200
    service.settle(60)
    assert service.stop() == 0
    assert worked_out(service.db) == expected
    print(f"  {len(refused)} bodies refused meanwhile, {len(body)} readings stored once")


def check_broken_connections_are_made_again(server, folder):
    with serving.Service(HEADWATER, folder, *OPTIONS) as service:
        for n in range(5):
            serving.psql(
                service.db,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'headwater'",
            )
            assert service.post(f"time_s,sensor,concentration_g_m3\n{n},s1,0\n")["accepted"] == 1
            assert service.get("/v1/rivers/demo/readings?sensor=s1")["readings"]


def check_a_server_that_hangs_is_given_up(server, folder):
    with serving.Service(HEADWATER, folder, *OPTIONS) as service:
        parts = [f"time_s,sensor,concentration_g_m3\n{n},s1,0\n" for n in range(40)]
        assert send(service, parts[0])
        server.signal_all(signal.SIGSTOP)
        try:
            began = time.monotonic()
            answers = {
                path: service.request(path, body, {"Content-Type": "text/csv"} if body else {}, timeout=60)[0]
                for path, body in (("/v1/readings?river=demo", parts[1]), ("/readyz", None), ("/healthz", None))
            }
            took = time.monotonic() - began
        finally:
            server.signal_all(signal.SIGCONT)
        assert answers == {"/v1/readings?river=demo": 503, "/readyz": 503, "/healthz": 200}, answers
        assert took < 60, took
        began = time.monotonic()
        for part in parts:
            while not send(service, part):
                assert time.monotonic() - began < 30, service.request("/readyz")
                time.sleep(0.1)
        back = time.monotonic() - began
        assert service.request("/readyz")[0] == 200
        assert serving.rows(service.db, "SELECT count(*) FROM readings") == [(len(parts),)]
        print(f"  a reading, readiness and liveness answered after {took:.1f} s in all; well again after {back:.1f} s")


def check_a_full_disk_is_told_and_got_over(_, folder):
    small = os.path.join(folder, "small")
    os.chmod(folder, 0o755)  # the server runs as somebody else
    os.mkdir(small)
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=100m,mode=777", "tmpfs", small], capture_output=True
    ).returncode:
        print("  skip: a small file system cannot be mounted here")
        return
    try:
        with postgres.Server(small) as server:
            serving.POSTGRES = server.url
            with serving.Service(HEADWATER, folder, *OPTIONS) as service:
                full_disk(server, service, os.path.join(small, "ballast"))
    finally:
        subprocess.run(["umount", "-l", small], check=True)


def full_disk(server, service, ballast):
    body = lambda n: "time_s,sensor,concentration_g_m3\n" + "".join(
        f"{n}.{at:04d},s1,0\n" for at in range(1, 1001)
    )  # noqa: E731
    assert send(service, body(0))
    with open(ballast, "wb", buffering=0) as out:
        try:
            while True:
                out.write(bytes(65536))
        except OSError:
            out.truncate(max(0, out.tell() - 65536 * 8))  # half a megabyte is left
    acknowledged, refused = [0], []
    for n in range(1, 60):
        (acknowledged if send(service, body(n), also=(507,)) else refused).append(n)
        if len(refused) == 3:
            break
    assert len(refused) == 3, "the disk was never full"
    ready = service.request("/readyz")
    assert ready[0] == 503, ready
    os.unlink(ballast)
    if server.process.poll() is not None:  # its own log found no room: it ended, and is started as systemd would
        server.start()
    began = time.monotonic()
    for n in refused:
        while not send(service, body(n), also=(507,)):
            assert time.monotonic() - began < 30, service.request("/readyz")
            time.sleep(0.1)
    assert service.request("/readyz")[0] == 200
    stored = serving.rows(service.db, "SELECT count(*), count(DISTINCT time_s) FROM readings")
    assert stored == [(1000 * (len(acknowledged) + 3),) * 2], (stored, len(acknowledged))
    print(
        f"  {len(acknowledged)} bodies stored, then {ready[1].strip()}; well again {time.monotonic() - began:.1f} s "
        "after room was made"
    )


def check_a_second_service_is_refused(server, folder):
    with serving.Service(HEADWATER, folder) as service:
        url = service.db.replace("headwater@", "headwater:swordfish@")
        run = subprocess.run(
            [HEADWATER, "serve", service.river, "--store", url, "--listen", "127.0.0.1:0"],
            capture_output=True,
            text=True,
        )
        assert (
            run.returncode == 3 and "another process holds" in run.stderr and run.stderr.count("headwater: ") == 1
        ), run
        assert "swordfish" not in run.stderr, run.stderr


def check_no_server_is_one_sentence(server, folder):
    river = serving.Service(HEADWATER, folder).river
    run = subprocess.run(
        [HEADWATER, "serve", river, "--store", "postgresql://me:swordfish@127.0.0.1:1/x", "--listen", "127.0.0.1:0"],
        capture_output=True,
        text=True,
    )
    assert (
        run.returncode == 3
        and run.stderr.count("\n") == 1
        and "does not answer" in run.stderr
        and "swordfish" not in run.stderr
    ), run


def main():
    if not postgres.programs():
        print("skip: no PostgreSQL server is installed here")
        return postgres.SKIPPED
    failed = 0
    with postgres.Server() as server:
        for name, check in list(globals().items()):
            if name.startswith("check_"):
                serving.POSTGRES = server.url
                with tempfile.TemporaryDirectory() as folder:
                    try:
                        check(server, folder)
                        print("ok  ", name, flush=True)
                    except Exception as fault:
                        failed += 1
                        print("FAIL", name, type(fault).__name__, str(fault)[:1500], flush=True)
    return bool(failed)


sys.exit(main())
