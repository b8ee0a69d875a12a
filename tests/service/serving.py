"""Start, ask, stop and kill a headwater service, for the tests."""
import contextlib
import csv
import hashlib
import http.server
import json
import os
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

RIVER = """name: Demo River
hydraulics: {velocity_m_s: 1.2, dispersion_m2_s: 40, area_m2: 60, decay_per_s: 0}
search: {mass_g: [1000, 200000], location_m: [-30000, -1000], time_s: [-40000, 40000]}
sensors:
  - {id: s1, location_m: 0, noise_relative: 0.05, noise_absolute_g_m3: 2.0e-5, detection_limit_g_m3: 2.0e-5}
  - {id: s2, location_m: 8000, noise_relative: 0.05, noise_absolute_g_m3: 2.0e-5, detection_limit_g_m3: 2.0e-5}
candidates:
  - {id: mill, name: Paper mill, location_m: -12000}
intakes:
  - {id: town, name: Town intake, location_m: 15000, alarm_g_m3: 0.001}
"""

FORKED = """name: Forked River
hydraulics: {velocity_m_s: 1.0, dispersion_m2_s: 40}
branches:
  - {id: stem, head_m: -40000, reaches: [{to_m: -20000, discharge_m3_s: 30}, {to_m: 0}]}
  - {id: ash, head_m: -15000, joins: {branch: stem, at_m: -20000}, reaches: [{to_m: 0, discharge_m3_s: 20}]}
substance: chloride
search: {mass_g: [1000, 200000], time_s: [-40000, 40000]}
sensors:
  - {id: up, branch: stem, location_m: -22000, noise_absolute_g_m3: 2.0e-5, noise_relative: 0.05}
  - {id: side, branch: ash, location_m: -1000, noise_absolute_g_m3: 2.0e-5, noise_relative: 0.05}
  - {id: low, branch: stem, location_m: -10000, noise_absolute_g_m3: 2.0e-5, noise_relative: 0.05}
"""


def spill(headwater, river, source="50000,-12000,3600", last=60000, first=0):
    """Readings of a release 12 km upstream, as CSV."""
    return subprocess.run(
        [
            headwater,
            "simulate",
            river,
            "--source",
            source,
            "--every",
            "300",
            "--from",
            str(first),
            "--to",
            str(last),
            "--noise-relative",
            "0.03",
            "--noise-absolute",
            "1e-5",
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout


# Set (by postgres.py) to the URL of a PostgreSQL server, every service keeps its data there instead of in a file.
POSTGRES = os.environ.get("HEADWATER_TEST_POSTGRES")


def database(folder):
    """The database that belongs to a folder: a file in it, or one of that name on the server."""
    if not POSTGRES:
        return os.path.join(folder, "test.db")
    name = "t" + hashlib.sha256(folder.encode()).hexdigest()[:16]
    psql(
        POSTGRES,
        f"SELECT 'CREATE DATABASE {name}' WHERE NOT EXISTS (SELECT 1 FROM pg_database WHERE datname = '{name}') "
        "\\gexec",
    )
    return POSTGRES.rsplit("/", 1)[0] + "/" + name


def psql(url, script):
    run = subprocess.run(
        ["psql", "-qXt", "--csv", "-v", "ON_ERROR_STOP=1", url],
        input=script,
        capture_output=True,
        text=True,
        env={**os.environ, "PGOPTIONS": "-c search_path=headwater"},
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def value(text):
    """As a column had it: psql's shortest digits of a double are the double."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text or None


def rows(db, sql):
    if db.startswith("postgresql:"):
        return [tuple(map(value, row)) for row in csv.reader(psql(db, sql).splitlines())]
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as connection:
        return connection.execute(sql).fetchall()


def execute(db, sql):
    if db.startswith("postgresql:"):
        psql(db, sql)
    else:
        with contextlib.closing(sqlite3.connect(db)) as connection:
            connection.executescript(f"BEGIN; {sql}; COMMIT")


@contextlib.contextmanager
def held(db):
    """Another process has the readings to itself meanwhile."""
    if db.startswith("postgresql:"):
        holder = subprocess.Popen(["psql", "-qXt", db], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        holder.stdin.write("BEGIN; LOCK TABLE headwater.readings IN ACCESS EXCLUSIVE MODE; SELECT 'held';\n")
        holder.stdin.flush()
        assert "held" in holder.stdout.readline()
        yield
        holder.communicate("ROLLBACK;\n")
    else:
        with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield
            connection.execute("ROLLBACK")


def certificate(folder, name, *more):
    """(certificate, key), PEM; None where there is no openssl program. more: signed by another."""
    cert, key = os.path.join(folder, name + ".pem"), os.path.join(folder, name + ".key")
    made = subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "1",
            "-subj",
            f"/CN={name}",
            "-keyout",
            key,
            "-out",
            cert,
            *more,
        ],
        capture_output=True,
    )
    os.chmod(folder, 0o755)
    return (cert, key) if made.returncode == 0 else None


class Service:
    """One service on a free port; `with` stops it."""

    def __init__(self, headwater, folder, *options, river=RIVER, rivers=None, prefix=(), environment=None):
        self.environment = {**os.environ, **(environment or {})}
        self.headwater, self.folder, self.options, self.prefix = headwater, folder, options, list(prefix)
        self.river = os.path.join(folder, "demo.yaml")
        self.db = database(folder)
        self.rivers = rivers or [self.river]
        with open(self.river, "w") as out:
            out.write(river)
        self.process = None

    def start(self):
        self.log = open(os.path.join(self.folder, "log"), "a")
        self.process = subprocess.Popen(
            [
                *self.prefix,
                self.headwater,
                "serve",
                *self.rivers,
                "--listen",
                "127.0.0.1:0",
                "--store",
                self.db,
                *self.options,
            ],
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=self.environment,
        )
        line = self.process.stdout.readline().strip()
        if not line:
            raise RuntimeError(f"no service: exit {self.process.wait()}, {open(self.log.name).read()[-2000:]}")
        self.address = line.rstrip("/")
        return self

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=30)
        self.close()
        return code

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.close()

    def close(self):
        self.process.stdout.close()
        self.log.close()
        self.process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *fault):
        if self.process:
            code = self.stop()
            assert code == 0 or fault[0], f"the service ended with {code}: {open(self.log.name).read()[-2000:]}"

    def request(self, path, body=None, headers=None, method=None, timeout=20):
        """(status, text, headers)"""
        request = urllib.request.Request(
            self.address + path,
            data=body.encode() if isinstance(body, str) else body,
            headers=headers or {},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.status, answer.read().decode(), answer.headers
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(), error.headers

    def get(self, path):
        status, text, _ = self.request(path)
        assert status == 200, (path, status, text)
        return json.loads(text)

    def post(self, csv, river="demo", kind="text/csv"):
        status, text, _ = self.request(f"/v1/readings?river={river}", csv, {"Content-Type": kind})
        answer = json.loads(text)
        nothing = not any(answer.get(fate) for fate in ("accepted", "duplicates", "missing"))
        assert status == (422 if answer.get("rejected_count") and nothing else 200), (status, text)
        return answer

    def metric(self, name):
        for line in self.request("/metrics")[1].splitlines():
            if line.startswith(name + " "):
                return float(line.split()[1])
        raise KeyError(name)

    def settle(self, seconds=20):
        """Wait until detection and the engines have seen everything stored."""
        until = time.time() + seconds
        before = None
        while time.time() < until:
            now = (
                self.metric("headwater_log_records"),
                self.metric("headwater_tracker_lag_records"),
                self.metric("headwater_incidents_behind"),
                self.metric("headwater_engine_readings_total"),
                self.metric("headwater_estimates_total"),
            )
            if now == before and now[1] == now[2] == 0:
                return
            before = now
            time.sleep(0.15)
        raise TimeoutError("the service does not settle")


@contextlib.contextmanager
def receiver(first=204):
    """A webhook's other end: its address, and a list of what it is told. first: its answer to the first event."""
    received = []

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(first if len(received) == 1 else 204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", received
    server.shutdown()


def processor_s(pid):
    """Seconds of processor that a process has used: what a busy machine does not change much."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_claims(claims):
    """Each in a folder of its own; {name: function}. Returned: how many failed."""
    failed = 0
    for name, claim in claims.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                claim(folder)
                print("ok  ", name, flush=True)
            except Exception as fault:  # a failing claim must not hide the next
                failed += 1
                print("FAIL", name, type(fault).__name__, str(fault)[:2000], flush=True)
    return failed
