"""Damaged bytes, lost ends and repaired stores: what is wrong is told: damage.py HEADWATER [--trials N] [TEST...]"""
import argparse
import contextlib
import json
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serving import POSTGRES, Service, execute, rows, run_claims  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("headwater")
parser.add_argument("--trials", type=int, default=4, help="damaged bytes of each kind")
parser.add_argument("tests", nargs="*")
ARGUMENTS = parser.parse_intermixed_args()
HEADWATER = ARGUMENTS.headwater


def verify(store, *options):
    """(exit code, kinds of fault, all it says)"""
    command = [HEADWATER, "verify", store, "--format", "json", *options]
    run = subprocess.run(command, capture_output=True, text=True, errors="replace")  # it may quote a damaged name
    faults = json.loads(run.stdout)["faults"] if run.returncode in (0, 1) else []
    assert (run.returncode == 0) == (not faults and not run.stderr), run
    assert run.returncode != 1 or faults, run
    return run.returncode, [fault["kind"] for fault in faults], run.stdout + run.stderr


def body(first, count):
    return "time_s,sensor,concentration_g_m3\n" + "".join(
        f"{first + i // 2},s{i % 2 + 1},{0.001 * (i % 7):.3f}\n" for i in range(count)
    )


def serve(folder, *options):
    return Service(HEADWATER, folder, "--method", "atgd", *options)


def log_of(folder):
    return [json.loads(line) for line in open(os.path.join(folder, "log")) if line.startswith("{")]


def faults_of(folder):
    return [line for line in log_of(folder) if line["event"] == "log_fault"]


def fill(folder, requests=8, each=400):
    with serve(folder) as service:
        for n in range(requests):
            service.post(body(1000 * n, each))
        assert service.request("/v1/incidents", '{"river": "demo"}', method="POST")[0] in (
            200,
            201,
        )  # a command among them
        service.settle()
    return service


def test_a_whole_store_has_no_faults(folder):
    service = fill(folder)
    code, kinds, said = verify(service.db)
    assert code == 0 and json.loads(said)["records"] == 3201 and json.loads(said)["unchained"] == 0, said
    with service:  # beside a running one, and over a restart
        service.post(body(90000, 10))
        assert verify(service.db)[0] == 0
    assert verify(service.db)[0] == 0 and not faults_of(folder)


def test_a_changed_value_is_told_with_its_record(folder):
    service = fill(folder, 3)
    execute(service.db, "UPDATE readings SET concentration_g_m3 = 0.5 WHERE seq = 777")
    code, kinds, said = verify(service.db)
    assert (
        code == 1 and kinds == ["changed"] and "record 777" in said and "demo/s1" in said and "time 1188 s" in said
    ), said
    execute(service.db, "UPDATE readings SET below = 1 WHERE seq = 5; UPDATE readings SET sum = NULL WHERE seq = 9")
    assert verify(service.db)[1] == ["changed"] * 3
    assert verify(service.db, "--accept")[0] == 0
    assert verify(service.db)[0] == 0


def test_a_value_of_another_kind_is_told(folder):
    """One bit of the file makes a zero an empty blob, or an integer the real number of the same bits."""
    if POSTGRES:
        return
    service = fill(folder, 1)
    [(received,)] = rows(service.db, "SELECT received_us FROM readings WHERE seq = 5")
    [real] = struct.unpack("d", struct.pack("q", received))
    execute(service.db, f"UPDATE readings SET received_us = {real!r} WHERE seq = 5")
    execute(service.db, "UPDATE readings SET below = x'' WHERE seq = 9")
    assert rows(service.db, "SELECT typeof(received_us) FROM readings WHERE seq = 5") == [("real",)]
    assert verify(service.db)[1] == ["changed"] * 2
    assert verify(service.db, "--accept")[0] == 0 and verify(service.db)[0] == 0


def test_missing_records_are_told_with_their_numbers(folder):
    service = fill(folder, 6)
    execute(service.db, "DELETE FROM readings WHERE seq BETWEEN 1500 AND 1519")
    code, kinds, said = verify(service.db)
    assert code == 1 and kinds == ["missing"] and "records 1500 to 1519: 20 missing, received after 2" in said, said
    with serve(folder):  # the service finds it by itself, soon after its start
        until = time.time() + 10
        while not faults_of(folder) and time.time() < until:
            time.sleep(0.1)
    assert [(fault["kind"], fault["first"], fault["last"], fault["records"]) for fault in faults_of(folder)] == [
        ("missing", 1500, 1519, 20)
    ]
    execute(
        service.db,
        "INSERT INTO readings(seq, river, sensor, time_s, concentration_g_m3, below, received_us)"
        " VALUES(9000, 1, 1, 1e6, 0.1, 0, 1)",
    )
    assert sorted(verify(service.db)[1]) == ["added", "missing"]


def test_renamed_sensors_are_told(folder):
    service = fill(folder, 1)
    execute(service.db, "UPDATE rivers SET time_base = 2")
    assert verify(service.db)[1] == ["names"]
    execute(service.db, "UPDATE rivers SET time_base = 1; UPDATE sensors SET id = 's7' WHERE id = 's1'")
    assert verify(service.db)[1] == ["names"]
    with serve(folder):
        pass
    assert [fault["kind"] for fault in faults_of(folder)] == ["names"]
    assert verify(service.db)[1] == ["earlier"]  # the start went on from it; told until it is accepted
    assert verify(service.db, "--accept")[0] == 0 and verify(service.db)[0] == 0


def crash(folder):
    """Readings acknowledged, then kill -9: most of them are still in SQLite's own log."""
    service = serve(folder).start()
    for n in range(10):
        service.post(body(1000 * n, 50))
    service.kill()
    return service


def restore(kept, db):
    for ending in ("", "-wal", "-shm", "-head"):
        with contextlib.suppress(FileNotFoundError):
            os.remove(db + ending)
        if os.path.exists(kept + ending):
            shutil.copy2(kept + ending, db + ending)


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1 << random.randrange(8)]))


def keep(db, folder):
    kept = os.path.join(folder, "kept")
    restore(db, kept)
    return kept


def test_an_end_lost_to_a_damaged_wal_is_told(folder):
    if POSTGRES:
        return
    service = crash(folder)
    kept, told, dropped = keep(service.db, folder), 0, 0
    size = os.path.getsize(kept + "-wal")
    random.seed(1)
    for trial in range(ARGUMENTS.trials):
        restore(kept, service.db)
        flip(service.db + "-wal", random.randrange(32, size))
        before = len(faults_of(folder))
        with serve(folder) as again:
            there = rows(again.db, "SELECT count(*) FROM readings")[0][0]
            again.post(body(50000, 1))
            [(last,)] = rows(again.db, "SELECT max(seq) FROM readings")
        faults = faults_of(folder)[before:]
        dropped += there < 500
        if there < 500:
            assert [fault["kind"] for fault in faults] == ["lost"] and (faults[0]["first"], faults[0]["last"]) == (
                there + 1,
                500,
            ), (there, faults)
            assert last == 501, "a number given twice"
            assert "earlier" in verify(service.db)[1]
        told += bool(faults) == (there < 500)
    assert told == ARGUMENTS.trials and dropped, (told, dropped)
    print(
        f"  ({dropped} of {ARGUMENTS.trials} damaged bytes in the WAL dropped acknowledged records,"
        f" {told} of {ARGUMENTS.trials} rightly told)"
    )


def test_records_behind_the_last_mark_are_checked(folder):
    """The database has the end of the chain once a second; until then the head file vouches for what came since."""
    if POSTGRES:
        return
    service = serve(folder).start()
    for n in range(400):  # the end moves on every time; at the latest behind the second the mark is behind it
        service.post(body(1000 * n, 10))
        [(marked,)] = rows(service.db, "SELECT max(seq) FROM marks")
        if marked <= 10 * n:
            break
    service.kill()
    [(last,)] = rows(service.db, "SELECT max(seq) FROM readings")
    assert marked < last - 5 and verify(service.db)[0] == 0
    kept = keep(service.db, folder)
    execute(service.db, f"UPDATE readings SET below = 1 WHERE seq = {last - 3}")
    assert verify(service.db)[1] == ["changed"]
    restore(kept, service.db)
    execute(service.db, f"DELETE FROM readings WHERE seq IN ({last - 4}, {last - 3})")
    code, kinds, said = verify(service.db)
    assert kinds == ["lost"] and f"records {last - 4} to {last - 3} were acknowledged and are gone: 2 missing" in said
    with serve(folder) as again:
        again.post(body(900000, 1))
    assert [(fault["kind"], fault["records"]) for fault in faults_of(folder)] == [("lost", 2)]
    assert verify(service.db)[1] == ["earlier"]  # the chain goes on from what is there, and it stays on record
    restore(kept, service.db)
    os.remove(service.db + "-head")  # a copy without it: the records' own sums are left
    assert verify(service.db)[0] == 0
    execute(service.db, f"UPDATE readings SET time_s = time_s + 7 WHERE seq = {last}")
    assert verify(service.db)[1] == ["changed"]


def the_log(db):
    """What a reader sees of the log; None: nothing."""
    try:
        return (
            rows(
                db,
                "SELECT seq, river, sensor, time_s, concentration_g_m3, below, received_us"
                " FROM readings NOT INDEXED ORDER BY seq",
            ),
            rows(db, "SELECT * FROM rivers"),
            rows(db, "SELECT key, river, id FROM sensors"),
        )
    except (sqlite3.DatabaseError, UnicodeError, OverflowError):
        return None


def test_a_change_of_the_file_is_told(folder):
    """Whatever byte is changed: either the log is still what it was, or it is told."""
    if POSTGRES:
        return
    service = fill(folder)
    kept, size, changed = keep(service.db, folder), os.path.getsize(service.db), 0
    before = the_log(kept)
    random.seed(2)
    for trial in range(10 * ARGUMENTS.trials):
        restore(kept, service.db)
        at = random.randrange(size)
        flip(service.db, at)
        now = the_log(service.db)
        code, kinds, said = verify(service.db)
        if now != before:
            changed += 1
            assert code != 0, (at, said)
    assert changed
    print(f"  ({changed} of {10 * ARGUMENTS.trials} damaged bytes changed the log, all told)")


def early_page(db):
    """Where a page of old readings begins in the file."""
    [(root,)] = rows(db, "SELECT rootpage FROM sqlite_master WHERE name = 'readings'")
    [(size,)] = rows(db, "PRAGMA page_size")
    with open(db, "rb") as file:
        file.seek((root - 1) * size)
        page = file.read(size)
    assert page[0] == 5, "the readings fit into one page"
    cell = int.from_bytes(page[16:18], "big")  # the third of its pointers
    return (int.from_bytes(page[cell : cell + 4], "big") - 1) * size


def test_a_page_that_the_running_service_cannot_read_stops_it_storing(folder):
    if POSTGRES:
        return
    with serve(folder) as service:
        for n in range(24):  # more than a start looks at, and no incident that would read them again
            quiet = "".join(f"{1000 * n + i},s1,0\n" for i in range(1000))
            service.post("time_s,sensor,concentration_g_m3\n" + quiet)
        service.settle()
    with open(service.db, "r+b") as file:
        file.seek(early_page(service.db))
        file.write(b"\xff")  # no kind of page
    code, kinds, said = verify(service.db)
    assert code == 1 and kinds[0] == "unreadable", (code, said)
    with service:  # nobody asks for these readings; the check in the background meets them
        until = time.time() + 20
        while service.request("/readyz")[0] != 503 and time.time() < until:
            time.sleep(0.1)
        assert [fault["kind"] for fault in faults_of(folder)] == ["unreadable"]
        assert service.request("/readyz")[0] == 503
        assert service.request("/v1/readings?river=demo", body(90000, 1), {"Content-Type": "text/csv"})[0] == 503


def test_a_backup_put_back_tells_what_it_lacks(folder):
    if POSTGRES:
        return
    service = fill(folder, 2)
    kept = keep(service.db, folder)
    with service:
        service.post(body(70000, 30))
    os.remove(kept + "-head")
    head = open(service.db + "-head", "rb").read()
    restore(kept, service.db)
    open(service.db + "-head", "wb").write(head)
    with service:
        pass
    assert [(fault["kind"], fault["records"]) for fault in faults_of(folder)] == [("lost", 30)]
    with service:  # once is enough
        pass
    assert len(faults_of(folder)) == 1 and verify(service.db)[1] == ["earlier"]


def test_a_river_in_the_wrong_time_has_a_way_back(folder):
    """As docs/operations.md says it, word for word."""
    document = open(
        os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "operations.md")
    ).read()
    told = document.split("## A river in the wrong time")[1].split("## ")[0]
    dated = "time,sensor,concentration_g_m3\n2026-03-01T08:15:00Z,s1,0.001\n"
    with serve(folder) as service:
        service.post("time_s,sensor,concentration_g_m3\n1,s1,0\n")
        refused = service.post(dated)["rejected"][0]
        assert refused["fate"] == "time_base" and "A river in the wrong time" in refused["reason"], refused
    execute(service.db, told.split('headwater.db "')[1].split('"')[0])
    assert "verify /var/lib/headwater/headwater.db --accept" in told and verify(service.db)[0] == 1
    assert verify(service.db, "--accept")[0] == 0
    with service:
        assert service.post(dated)["accepted"] == 1
    assert verify(service.db)[0] == 0


def test_an_export_carries_the_chain(folder):
    service = fill(folder, 4)
    other = os.path.join(folder, "other.db")
    text = subprocess.run([HEADWATER, "export", "--store", service.db], check=True, capture_output=True).stdout
    subprocess.run([HEADWATER, "import", "--store", other], input=text, check=True)
    code, kinds, said = verify(other)
    assert code == 0 and json.loads(said)["records"] == 1601, said
    execute(other, "UPDATE readings SET time_s = time_s + 1e6 WHERE seq = 3")
    assert verify(other)[1] == ["changed"]


claims = {name: claim for name, claim in globals().items() if name.startswith("test_")}
sys.exit(bool(run_claims({name: claims[name] for name in ARGUMENTS.tests or claims})))
