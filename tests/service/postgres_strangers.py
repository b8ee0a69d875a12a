"""Others on the service's PostgreSQL server: what a user without rights can do, and what is told when he does it.

  postgres_strangers.py HEADWATER
"""
import contextlib
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import postgres  # noqa: E402
import serving  # noqa: E402

HEADWATER = sys.argv[1]
LOCK = "7522525836719780965"  # as in service/store/postgres_link.c
READING = "time_s,sensor,concentration_g_m3\n{},s1,0\n"


class Realm:
    """A database that belongs to `service`; `stranger` may connect to it, and nothing else."""

    def __init__(self, server, name):
        self.server, self.name = server, name
        self.psql("headwater", f"CREATE DATABASE {name} OWNER service", "postgres")

    def url(self, user):
        return f"postgresql://{user}@127.0.0.1:{self.server.port}/{self.name}"

    def psql(self, user, sql, database=None):
        """What it prints; an error begins with ERROR."""
        url = f"postgresql://{user}@127.0.0.1:{self.server.port}/{database or self.name}"
        run = subprocess.run([f"{self.server.bin}/psql", "-qAtX", "-d", url, "-c", sql], capture_output=True, text=True)
        return run.stdout.strip() if run.returncode == 0 else run.stderr.strip()

    @contextlib.contextmanager
    def session(self, user, sql):
        """One that did this and stays."""
        held = subprocess.Popen(
            [f"{self.server.bin}/psql", "-qAtX", "-d", self.url(user)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        held.stdin.write(sql + "; SELECT 'done';\n")
        held.stdin.flush()
        while held.stdout.readline().strip() != "done":
            pass
        yield
        held.stdin.close()
        held.wait()

    def service(self, folder):
        service = serving.Service(HEADWATER, folder, "--method", "atgd")
        service.db = self.url("service")
        return service


def refusal(service):
    try:
        service.start()
    except RuntimeError as fault:
        return str(fault)
    service.stop()
    return "started"


def check_without_rights_nothing_is_read_or_changed(realm, folder):
    with realm.service(folder) as service:
        assert service.post(READING.format(0))["accepted"] == 1
        for sql in (
            "SELECT * FROM headwater.readings",
            "DELETE FROM headwater.readings",
            "INSERT INTO headwater.commands DEFAULT VALUES",
            "CREATE TABLE headwater.readings2 (x int)",
            "CREATE FUNCTION headwater.hash(text) RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "DROP SCHEMA headwater CASCADE",
        ):
            told = realm.psql("stranger", sql)
            assert "permission denied" in told or "must be owner" in told, (sql, told)
        taken = realm.psql("stranger", f"SELECT pg_try_advisory_lock({LOCK})")
        assert taken == "f", f"the running service's lock: {taken}"
        realm.psql(
            "service", "GRANT USAGE ON SCHEMA headwater TO stranger; GRANT SELECT ON headwater.readings TO stranger"
        )
        with realm.session("stranger", "BEGIN; LOCK TABLE headwater.readings IN ACCESS SHARE MODE"):
            assert service.post(READING.format(300))["accepted"] == 1  # who may read does not stop who writes


def check_a_stranger_who_takes_the_lock_is_told_of(realm, folder):
    with realm.session("stranger", f"SELECT pg_advisory_lock({LOCK})"):
        told = refusal(realm.service(folder))
        assert "exit 3" in told and "another headwater writes to it" in told, told
    with realm.service(folder) as service:
        assert service.post(READING.format(0))["accepted"] == 1


def check_a_schema_laid_out_by_somebody_else_is_refused(realm, folder):
    realm.psql("service", f"GRANT CREATE ON DATABASE {realm.name} TO stranger")
    realm.psql("stranger", "CREATE SCHEMA headwater; GRANT ALL ON SCHEMA headwater TO service")
    told = refusal(realm.service(folder))
    assert "exit 3" in told and "belongs to another user" in told, told
    assert realm.psql("headwater", "SELECT count(*) FROM pg_tables WHERE schemaname = 'headwater'") == "0"


def main():
    if not postgres.programs():
        print("skip: no PostgreSQL server is installed here")
        sys.exit(postgres.SKIPPED)
    failed = False
    with postgres.Server() as server:
        first = Realm.__new__(Realm)
        first.server, first.name = server, "postgres"
        first.psql("headwater", "CREATE ROLE service LOGIN; CREATE ROLE stranger LOGIN")
        for name, claim in list(globals().items()):
            if name.startswith("check_"):
                began = time.monotonic()
                with tempfile.TemporaryDirectory() as folder:
                    try:
                        claim(Realm(server, name[:20]), folder)
                        print(f"ok   {name} ({time.monotonic() - began:.1f} s)", flush=True)
                    except (AssertionError, RuntimeError) as fault:
                        failed = True
                        print(f"FAIL {name} {fault}", flush=True)
    sys.exit(failed)


main()
