"""export and import: between engines to the byte, and nothing of a stream that is at fault: moving.py HEADWATER"""
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import postgres  # noqa: E402
import serving  # noqa: E402

HEADWATER = sys.argv[1]
OPTIONS = ("--method", "atgd", "--quiet", "7200")


def run(*arguments, **more):
    return subprocess.run([HEADWATER, *arguments], capture_output=True, **more)


def export(store):
    told = run("export", "--store", store)
    assert told.returncode == 0, told.stderr
    return told.stdout


def load(store, stream, code=0, words=""):
    """Import; what it says when it must fail is one line with these words."""
    told = run("import", "--store", store, input=stream)
    said = told.stderr.decode()
    assert told.returncode == code and words in said and said.count("\n") == (code != 0), (told.returncode, said, words)
    assert not told.stdout
    return said


class At(serving.Service):
    """A service on a given store."""

    def __init__(self, folder, store):
        super().__init__(HEADWATER, folder, *OPTIONS)
        self.db = store


def half_a_spill(folder, store):
    """The service's data in the middle of an incident; the readings still to come."""
    with At(folder, store) as service:
        lines = serving.spill(HEADWATER, service.river).splitlines()
        half = len(lines) // 3
        service.post("\n".join(lines[:half]))
        service.request("/v1/incidents", '{"river": "demo", "method": "tgd"}', method="POST")
        service.settle()
        assert any(i["state"] == "open" and i["readings"] > 10 for i in service.get("/v1/incidents")["incidents"])
    return "\n".join([lines[0], *lines[half:]])


def worked_out(store):
    """The export without what a wall clock says; of an incident's estimates the last: how many lie between depends on
    the load.
    """
    clocks = {"received_us", "opened_us", "closed_us", "at_us", "body", "result", "sum", "hash"}
    kept, last, columns, table = [], {}, [], None
    for line in export(store).splitlines():
        value = json.loads(line)
        if isinstance(value, dict):
            columns, table = value.get("columns", []), value.get("table")
        elif table == "estimates":
            last[value[0]] = value
        elif table not in ("events", "snapshots"):
            kept.append([x for x, column in zip(value, columns) if column not in clocks])
    return kept, last


def stores(folder, server):
    yield os.path.join(folder, "second.db")
    if server:
        serving.POSTGRES = server.url
        yield serving.database(folder)
        serving.POSTGRES = None
    yield "sqlite:" + os.path.join(folder, "third.db")


def check_a_store_moves_to_the_byte_and_the_service_goes_on(folder, server):
    first = os.path.join(folder, "first.db")
    rest = half_a_spill(folder, first)
    stream, before = export(first), first
    moved = list(stores(folder, server))
    for store in moved:
        load(store, export(before))
        assert export(store) == stream
        before = store
    answers = []
    for store in [first, *moved]:
        with At(folder, store) as service:
            service.post(rest)
            service.settle()
        answers.append(worked_out(store))
    assert len(answers[0][0]) > 400 and len(answers[0][1]) > 1 and all(answer == answers[0] for answer in answers)
    print(f"  {len(stream)} bytes through {len(moved) + 1} stores")


def changed(stream, **edits):
    """The stream with rows edited by table and its last line made right again."""
    *lines, _ = stream.decode().splitlines()
    out, table, rows = [], None, 0
    for line in lines:
        value = json.loads(line)
        if isinstance(value, dict):
            table = value.get("table")
            new = edits.get("head_" + (table or "schema"), lambda v: v)(value)
            out += [json.dumps(new)] if new else []
        else:
            for new in edits.get(table, lambda v: [v])(value):
                out.append(json.dumps(new))
                rows += 1
    text = "\n".join(out) + "\n"
    return (
        text + json.dumps({"end": {"rows": rows, "sha256": hashlib.sha256(text.encode()).hexdigest()}}) + "\n"
    ).encode()


def first_only(edit):
    """Edit the first row, leave the others."""
    state = []

    def each(row):
        if state:
            return [row]
        state.append(1)
        return edit(row)

    return each


def faults(stream):
    at = lambda i, x: first_only(lambda row: [[*row[:i], x, *row[i + 1 :]]])  # noqa: E731
    lines = stream.splitlines(keepends=True)
    yield b"", "not an export"
    yield b"\x00\xff" * 2000, "not an export"
    yield b"time_s,sensor,concentration_g_m3\n1,s1,0\n", "not an export"
    yield stream[: len(stream) // 2], "it is not whole"
    yield b"".join(lines[:-1]), "it is not whole"
    yield b"".join(lines[: len(lines) // 2] + lines[len(lines) // 2 + 1 :]), "rows, expected the"
    yield stream.replace(b'"demo"', b'"dema"', 1), "SHA-256"
    yield stream + b"{}\n", "behind the last"
    yield changed(stream, head_schema=lambda head: {**head, "version": 99}), "newer version"
    yield changed(stream, head_schema=lambda head: {**head, "schema": "headwater.export/2"}), "newer version"
    yield changed(stream, head_readings=lambda head: {**head, "table": "passwords"}), "table 'passwords'"
    yield changed(
        stream, head_readings=lambda head: {**head, "columns": [*head["columns"][:-1], "evil) --"]}
    ), "column 'evil) --'"
    yield changed(stream, head_readings=lambda head: {**head, "columns": head["columns"] * 9}), "each once"
    yield changed(stream, head_rivers=lambda head: None), "a row of 3 values, expected 0"
    yield changed(stream, readings=first_only(lambda row: [row, row])), "contradict"
    yield changed(stream, readings=at(0, "1); DROP TABLE readings")), "expected a whole number"
    yield changed(stream, readings=at(0, 2**63 - 1)), "expected a whole number from 1 on"
    yield changed(stream, readings=at(2, 77)), "a reading of no sensor"
    yield changed(stream, readings=at(3, "NaN")), "expected a number"
    yield changed(stream, readings=at(4, "inf")), "expected a number"
    yield changed(stream, readings=at(5, 4)), "expected 0, 1, 2 or 3"
    yield changed(stream, readings=at(5, 3)), "a discharge of no gauge"
    yield changed(stream, readings=at(3, None)), "expected a number"
    yield changed(stream, events=at(7, "{half")), "expected text that is JSON"
    yield changed(stream, commands=at(1, 0)), "kind of command"
    yield changed(stream, snapshots=at(2, "*")), "base64"
    yield changed(stream, sensors=at(1, 9)), "a sensor of no river"
    yield changed(stream, estimates=at(0, 2**40)), "an estimate of no incident"
    yield lines[0] + b"[" * 100000 + b"\n", "expected one JSON value a line"


def check_a_stream_at_fault_stores_nothing(folder, server):
    first = os.path.join(folder, "first.db")
    half_a_spill(folder, first)
    stream = export(first)
    targets = list(stores(folder, server))[:2]
    count = 0
    for store in targets:
        for fault, words in faults(stream):
            load(store, fault, 1, words)
            count += 1
        load(store, stream)  # it is still empty
        load(store, stream, 1, "expected an empty store")
    print(f"  {count} faults refused")


def check_older_streams_get_the_columns_they_lack(folder, server):
    first, second = os.path.join(folder, "first.db"), os.path.join(folder, "second.db")
    half_a_spill(folder, first)
    older = changed(
        export(first),
        head_schema=lambda head: {**head, "version": 2},
        head_incidents=lambda head: {**head, "columns": head["columns"][:-2]},
        incidents=lambda row: [row[:-2]],
        head_estimates=lambda head: {**head, "columns": head["columns"][:-6]},
        estimates=lambda row: [row[:-6]],
    )
    load(second, older)
    assert serving.rows(second, "SELECT DISTINCT finished, engine FROM incidents") == [(0, 0)]
    assert serving.rows(second, "SELECT DISTINCT trust, spill, branch FROM estimates") == [(0, None, "")]


def check_files_and_faults_of_the_machine(folder, server):
    first, file = os.path.join(folder, "first.db"), os.path.join(folder, "all.ndjson")
    half_a_spill(folder, first)
    with At(folder, first):  # beside a running service
        assert run("export", file, "--store", first).returncode == 0
    assert open(file, "rb").read() == export(first) and not os.path.exists(file + ".part")
    with open("/dev/full", "wb") as full:
        told = subprocess.run([HEADWATER, "export", "--store", first], stdout=full, stderr=subprocess.PIPE)
    assert told.returncode == 3 and told.stderr.count(b"\n") == 1, told
    assert run("export", os.path.join(folder, "no", "where"), "--store", first).returncode == 3
    told = run("export", "--store", os.path.join(folder, "absent.db"))
    assert told.returncode == 3 and told.stderr.endswith(b"absent.db: there is no such file\n"), told
    assert not os.path.exists(os.path.join(folder, "absent.db"))
    assert run("import", os.path.join(folder, "absent.ndjson"), "--store", os.path.join(folder, "x.db")).returncode == 3
    assert run("import", "a", "b").returncode == 2
    small = os.path.join(folder, "small")
    os.mkdir(small)
    serving.execute(
        first,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO readings "
        "SELECT i + 9000, 1, 1 + i % 2, 1e6 + i, 0, 0, 1, NULL FROM n",
    )
    assert run("export", file, "--store", first).returncode == 0
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small], capture_output=True).returncode:
        print("  skip full disk: a small file system cannot be mounted here")
        return
    try:
        told = run("import", file, "--store", os.path.join(small, "x.db"))
        assert told.returncode == 3 and b"full" in told.stderr, told
        subprocess.run(["mount", "-o", "remount,size=64m", small], check=True)
        assert run("import", file, "--store", os.path.join(small, "x.db")).returncode == 0
    finally:
        subprocess.run(["umount", "-l", small], capture_output=True)


def check_a_long_log_goes_quickly(folder, server):
    first = os.path.join(folder, "first.db")
    with At(folder, first):
        pass
    serving.execute(
        first,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) INSERT INTO readings "
        "SELECT i, 1, 1 + i % 2, 0.1 * i, 1e-6 * (i % 7), 0, 1, NULL FROM n",
    )
    before = first
    for store in stores(folder, server):
        began = time.time()
        stream = export(before)
        exported = time.time()
        load(store, stream)
        print(
            f"  100000 rows out of {before.split(':')[0][:10]} in {exported - began:.1f} s, into "
            f"{store.split(':')[0][:10]} in {time.time() - exported:.1f} s"
        )
        before = store


def main():
    failed = 0
    installed = postgres.programs()
    if not installed:
        print("without PostgreSQL: no server is installed here")
    with postgres.Server() if installed else contextlib.nullcontext() as server:
        for name, check in list(globals().items()):
            if name.startswith("check_"):
                with tempfile.TemporaryDirectory() as folder:
                    try:
                        check(folder, server)
                        print("ok  ", name, flush=True)
                    except Exception as fault:
                        failed += 1
                        print("FAIL", name, type(fault).__name__, str(fault)[:1500], flush=True)
    sys.exit(bool(failed))


main()
