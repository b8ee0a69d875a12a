"""A PostgreSQL server of our own, in a temporary folder, for the tests.

  postgres.py COMMAND...   run COMMAND with HEADWATER_TEST_POSTGRES set to the URL of such a server; the tests that
                          know it (serving.py, test_store.c) then keep their databases there
"""
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SKIPPED = 77


def programs():
    """Where initdb and postgres are; None: not installed."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4])) or [
        shutil.which("initdb")
    ]
    return os.path.dirname(found[-1]) if found[-1] else None


class Server:
    """`with` starts and removes it. The server refuses to run as root: then it runs as nobody."""

    def __init__(self, place=None):
        """place: where its folder is made; default where temporary files are"""
        self.folder = tempfile.mkdtemp(prefix="headwater-postgres-", dir=place)
        self.data, self.bin = os.path.join(self.folder, "data"), programs()
        self.user = {}
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self.user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"postgresql://headwater@127.0.0.1:{self.port}/postgres"
        self.process = None

    def __enter__(self):
        subprocess.run(
            [
                f"{self.bin}/initdb",
                "-D",
                self.data,
                "-U",
                "headwater",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale",
                "C",
                "--wal-segsize",
                "1",
                "-N",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.folder,
            **self.user,
        )
        return self.start()

    def start(self):
        self.log = open(os.path.join(self.folder, "log"), "a")
        self.process = subprocess.Popen(
            [
                f"{self.bin}/postgres",
                "-D",
                self.data,
                "-p",
                str(self.port),
                "-h",
                "127.0.0.1",
                "-k",
                self.folder,
                "-c",
                "shared_buffers=32MB",
            ],
            stdout=self.log,
            stderr=self.log,
            cwd=self.folder,
            **self.user,
        )
        until = time.time() + 20
        while time.time() < until and self.process.poll() is None:
            if subprocess.run([f"{self.bin}/pg_isready", "-q", "-d", self.url]).returncode == 0:
                return self
            time.sleep(0.05)
        raise RuntimeError("postgres does not start: " + open(self.log.name).read()[-2000:])

    def stop(self, how="fast"):
        """ "fast" ends the sessions first, "at once" is a crash: it recovers at the next start."""
        self.process.send_signal({"fast": signal.SIGINT, "at once": signal.SIGQUIT}[how])
        self.process.wait()
        self.log.close()
        self.process = None

    def all_processes(self):
        """The server and those it has started."""
        own = str(self.process.pid)
        pids = []
        for stat in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(stat) as text:
                    pid, rest = text.read().split(" ", 1)
            except OSError:
                continue  # it ended meanwhile
            if pid == own or rest.rsplit(")", 1)[1].split()[1] == own:
                pids.append(int(pid))
        return pids

    def signal_all(self, number):
        """SIGSTOP: it hangs; SIGCONT: it goes on."""
        for pid in self.all_processes():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def __exit__(self, *_):
        if self.process:
            self.signal_all(signal.SIGCONT)
            self.stop("at once")
        shutil.rmtree(self.folder, ignore_errors=True)


def main(command):
    if not programs():
        print("skip: no PostgreSQL server is installed here")
        return SKIPPED
    with Server() as server:
        return subprocess.run(command, env={**os.environ, "HEADWATER_TEST_POSTGRES": server.url}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
