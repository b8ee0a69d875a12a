"""Who gets in: encrypted NATS servers, passwords, tokens and credentials files, and those that are the wrong ones.

  doors.py HEADWATER
"""
import os
import shutil
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
sys.path.insert(0, os.path.join(here, "..", "service"))
from keys import ACCOUNT, Key, Realm, certificates  # noqa: E402
from nodes import Display, Node, Worker, ask, nats_version, wait_for  # noqa: E402
from serving import RIVER  # noqa: E402

CSV = "time_s,sensor,concentration_g_m3\n0,s1,0\n"
failed = 0


def check(claim, truth, detail=""):
    global failed
    print(("ok   " if truth else "FAIL ") + claim + (f"  {detail}" if detail else ""), flush=True)
    failed += not truth


class Guarded(Node):
    """A node with more in its configuration."""

    def __init__(self, name, folder, more):
        super().__init__(name, folder)
        self.more = more

    def command(self):
        words = super().command()
        with open(words[-1], "a") as conf:
            conf.write(self.more)
        return words


class Door:
    """One server and how to come to it."""

    def __init__(self, headwater, folder, name, more):
        self.headwater, self.name, self.folder = headwater, name, os.path.join(folder, name)
        os.mkdir(self.folder)
        self.node = Guarded(name, self.folder, more).start()
        wait_for("the server listens", lambda: ask(f"http://127.0.0.1:{self.node.monitor}/varz")[0] == 200, 15)
        self.river = os.path.join(self.folder, "demo.yaml")
        with open(self.river, "w") as out:
            out.write(RIVER)
        self.count = 0

    def urls(self, _links, _nodes=None):
        return self.url.format(port=self.node.port)

    def try_it(self, kind, url, options):
        self.url, self.count = url, self.count + 1
        return kind(
            self.headwater, f"{kind.__name__.lower()}{self.count}", self.folder, self, [self.river], *options
        ).start()

    def opens(self, how, url, *options):
        display, worker = self.try_it(Display, url, options).ready(), self.try_it(Worker, url, options)
        try:
            wait_for("ready", lambda: ask(display.address + "/readyz")[0] == 200, 15)
            wait_for("the worker takes its partitions", lambda: '"partition_taken"' in worker.tail(100_000), 15)
            check(f"{self.name}: {how} gets in", display.post("demo", CSV) is not None)
        except (TimeoutError, RuntimeError) as fault:
            check(f"{self.name}: {how} gets in", False, f"{fault}: {display.tail(400)} {worker.tail(400)}")
        check(f"{self.name}: both stop cleanly", [display.stop(), worker.stop()] == [0, 0])

    def stays_shut(self, how, word, url, *options):
        for kind in (Display, Worker):
            process = self.try_it(kind, url, options)
            self.ends(process, f"{how} does not get in and is told why ({kind.__name__})", word, 2)

    def ends(self, process, claim, word, code):
        try:
            wait_for("it ends", lambda: not process.alive(), 15)
        except TimeoutError:
            pass
        last = process.tail(100_000).strip().splitlines()[-1]
        check(f"{self.name}: {claim}", process.stop() == code and word in last.lower(), last)
        check(f"{self.name}: no secret is in its log", "swordfish" not in process.tail(100_000))

    def shuts(self, url, *options):
        """The server comes back and knows us no more."""
        display, worker = self.try_it(Display, url, options).ready(), self.try_it(Worker, url, options)
        wait_for(
            "ready",
            lambda: ask(display.address + "/readyz")[0] == 200 and '"partition_taken"' in worker.tail(100_000),
            15,
        )
        self.node.stop()
        self.node.more = self.node.more.replace("swordfish", "barracuda")
        self.node.start()
        for process in (display, worker):
            self.ends(process, f"{process.name} ends when the password changed", "no longer accept our credentials", 3)

    def close(self):
        self.node.stop()


def with_password(headwater, folder, tls, ca, other_ca):
    door = Door(
        headwater, folder, "password", tls + "authorization { users: [ { user: headwater, password: swordfish } ] }\n"
    )
    door.opens("the right password over TLS", "tls://headwater:swordfish@localhost:{port}", "--nats-ca", ca)
    door.stays_shut("a wrong password", "authorization", "tls://headwater:swordfish2@localhost:{port}", "--nats-ca", ca)
    os.environ.update(HEADWATER_NATS_USER="headwater", HEADWATER_NATS_PASSWORD="swordfish")
    door.opens("the password in the environment", "tls://localhost:{port}", "--nats-ca", ca)
    del os.environ["HEADWATER_NATS_USER"], os.environ["HEADWATER_NATS_PASSWORD"]
    door.stays_shut("nobody in particular", "authorization", "tls://localhost:{port}", "--nats-ca", ca)
    door.stays_shut(
        "who trusts another authority",
        "certificate",
        "tls://headwater:swordfish@localhost:{port}",
        "--nats-ca",
        other_ca,
    )
    door.stays_shut(
        "who trusts only the machine's own authorities", "certificate", "tls://headwater:swordfish@localhost:{port}"
    )
    door.close()


def with_another_name(headwater, folder):
    ca, cert, key = certificates(folder, "elsewhere", "nats.example.org")
    door = Door(headwater, folder, "name", f'tls {{ cert_file: "{cert}", key_file: "{key}" }}\n')
    door.stays_shut(
        "a server with a certificate for another name", "cannot be trusted", "tls://localhost:{port}", "--nats-ca", ca
    )
    door.close()


def with_token(headwater, folder):
    door = Door(headwater, folder, "token", 'authorization { token: "swordfish" }\n')
    door.opens("the token", "nats://swordfish@127.0.0.1:{port}")
    door.shuts("nats://swordfish@127.0.0.1:{port}")
    door.stays_shut("another token", "authorization", "nats://swordfish2@127.0.0.1:{port}")
    door.close()


def with_credentials(headwater, folder, tls, ca):
    realm = Realm(folder)
    door = Door(headwater, folder, "credentials", tls + realm.conf)
    door.opens(
        "a credentials file over TLS",
        "tls://localhost:{port}",
        "--nats-ca",
        ca,
        "--nats-creds",
        realm.user("headwater"),
    )
    door.stays_shut(
        "a user of an account nobody knows",
        "authorization",
        "tls://localhost:{port}",
        "--nats-ca",
        ca,
        "--nats-creds",
        realm.user("stranger", Key(folder, ACCOUNT)),
    )
    absent = subprocess.run(
        [
            headwater,
            "serve",
            door.river,
            "--nats",
            f"tls://localhost:{door.node.port}",
            "--nats-creds",
            os.path.join(folder, "none.creds"),
            "--db",
            os.path.join(folder, "none.db"),
            "--listen",
            "127.0.0.1:0",
        ],
        capture_output=True,
        text=True,
        timeout=20,
    )
    check(
        "credentials: a file that is not there is an error at once",
        absent.returncode == 1 and "none.creds" in absent.stderr,
        absent.stderr.strip(),
    )
    door.close()


def main():
    headwater = sys.argv[1]
    if (
        not nats_version()
        or not shutil.which("openssl")
        or subprocess.run([headwater, "work", "--help"], capture_output=True).returncode
    ):
        print("skip: no nats-server or openssl program here, or headwater was built without NATS")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        ca, cert, key = certificates(folder, "ours")
        other_ca, _, _ = certificates(folder, "theirs")
        tls = f'tls {{ cert_file: "{cert}", key_file: "{key}" }}\n'
        with_password(headwater, folder, tls, ca, other_ca)
        with_another_name(headwater, folder)
        with_token(headwater, folder)
        with_credentials(headwater, folder, tls, ca)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
