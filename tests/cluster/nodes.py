"""A cluster on loopback: NATS nodes, workers and services as processes that can be killed, paused and cut off."""
import ctypes
import fcntl
import json
import os
import random
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from relay import HELD, OPEN

CONF = """server_name: {name}
listen: 127.0.0.1:{port}
http: 127.0.0.1:{monitor}
ping_interval: "2s"
ping_max: 2
jetstream {{ store_dir: "{folder}", max_mem: 256M, max_file: 20G }}
mqtt {{ listen: 127.0.0.1:{mqtt}, ack_wait: "5s", max_ack_pending: 1000 }}
"""
# Routes go through links that can be cut, so nobody may learn the way around them: nodes tell clients no
# addresses, and the address they tell each other leads nowhere.
ROUTES = """cluster {{
  name: headwater
  listen: 127.0.0.1:{cluster}
  no_advertise: true
  advertise: "127.0.0.1:1"
  routes: [{routes}]
  {pool}
}}
"""
# Several connections a route, which came with 2.10, may never be complete through relays that both sides use at once.
ONE_CONNECTION = "pool_size: -1"


HERE = os.path.dirname(os.path.abspath(__file__))


def nats_server():
    """The program: the one asked for, the one tools/nats-server found, or the machine's own."""
    found = os.path.join(HERE, "..", "..", "build", "nats", "nats-server")
    return os.environ.get("NATS_SERVER") or (found if os.access(found, os.X_OK) else "nats-server")


def nats_version():
    """(2, 10, 27); None where there is no such program."""
    try:
        said = subprocess.run([nats_server(), "--version"], capture_output=True, text=True).stdout
    except OSError:
        return None
    return tuple(int(part) for part in re.findall(r"\d+", said)[:3])


LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def die_with_us():
    """Nothing outlives a test that was itself killed."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def free_ports(count):
    """Ports that nobody listens on, below those the system gives away by itself: no relay may get one in between. Tests
    that run side by side take turns with one counter, so that none is handed out twice before it is in use.
    """
    first, last = 12_000, 32_000
    found = []
    with open(os.path.join(tempfile.gettempdir(), "headwater-test-ports"), "a+") as counter:
        fcntl.flock(counter, fcntl.LOCK_EX)
        counter.seek(0)
        said = counter.read()
        port = int(said) if said.isdigit() else random.SystemRandom().randrange(first, last)
        while len(found) < count:
            port = port + 1 if first <= port < last else first
            with socket.socket() as probe:
                try:
                    probe.bind(("127.0.0.1", port))
                    found.append(port)
                except OSError:
                    continue
        counter.truncate(0)
        counter.write(str(port))
    return found


def wait_for(what, truth, seconds):
    """Until truth() is true; its value."""
    until = time.monotonic() + seconds
    while True:
        value = truth()
        if value:
            return value
        if time.monotonic() > until:
            raise TimeoutError(f"{what}: not within {seconds} s")
        time.sleep(0.05)


def ask(url, timeout=5):
    """(status, JSON or text); status 0 when nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            text = answer.read().decode()
            return answer.status, json.loads(text) if text[:1] in "[{" else text
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except (OSError, ValueError):
        return 0, ""


class Process:
    """A program with a log file, and links of its own that can be cut."""

    def __init__(self, name, folder, links=()):
        self.name, self.folder, self.links = name, folder, list(links)
        self.process, self.paused = None, False
        self.log = os.path.join(folder, name + ".log")

    def command(self):
        raise NotImplementedError

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL, preexec_fn=die_with_us
            )
        return self

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.paused = False

    def stop(self, seconds=30):
        if not self.alive():
            return self.process.returncode if self.process else 0
        self.resume()
        self.process.terminate()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def pause(self):
        if self.alive():
            self.process.send_signal(signal.SIGSTOP)
            self.paused = True

    def resume(self):
        if self.alive() and self.paused:
            self.process.send_signal(signal.SIGCONT)
        self.paused = False

    def cut(self, state=HELD):
        for link in self.links:
            link.set(state)

    def heal(self, drop=False):
        for link in self.links:
            link.set(OPEN, drop)

    def tail(self, size=1500):
        with open(self.log, errors="replace") as log:
            return log.read()[-size:]


class Node(Process):
    """One nats-server."""

    def __init__(self, name, folder):
        super().__init__(name, folder)
        self.port, self.cluster, self.monitor, self.mqtt = free_ports(4)
        self.routes, self.clients = [], []  # ports of the links to other nodes; links of those who use this node

    def command(self):
        conf = os.path.join(self.folder, self.name + ".conf")
        with open(conf, "w") as out:
            out.write(
                CONF.format(
                    folder=os.path.join(self.folder, self.name),
                    **{k: getattr(self, k) for k in ("name", "port", "monitor", "mqtt")},
                )
            )
            if self.routes:
                out.write(
                    ROUTES.format(
                        cluster=self.cluster,
                        routes=", ".join(f"nats://127.0.0.1:{port}" for port in self.routes),
                        pool=ONE_CONNECTION if nats_version() >= (2, 10) else "",
                    )
                )
        return [nats_server(), "-c", conf]

    def look(self, page):
        return ask(f"http://127.0.0.1:{self.monitor}/{page}", 2)[1] or {}

    def healthy(self):
        return ask(f"http://127.0.0.1:{self.monitor}/healthz", 2)[0] == 200


class Cluster:
    """Several nodes; with relays every route between two of them is a link."""

    def __init__(self, folder, count=3, relays=None):
        self.folder, self.relays = folder, relays
        self.nodes = [Node(f"n{i + 1}", folder) for i in range(count)]
        for one in self.nodes:
            for other in self.nodes:
                if one is other:
                    continue
                port = other.cluster
                if relays:
                    link = relays.link(port)
                    one.links.append(link), other.links.append(link)
                    port = link.port
                one.routes.append(port)

    def start(self):
        if not nats_version():
            raise RuntimeError("no nats-server program here (Debian: nats-server)")
        for node in self.nodes:
            node.start()
        for tries in range(4):
            try:
                self.ready(30)
                return self
            except TimeoutError:
                if tries == 3:
                    raise
                self.start_others_again()

    def start_others_again(self):
        """Nodes that start at the same moment at times have a leader and all routes, and one of them still never hears
        what the leader has, however long one waits. Nothing is stored yet, so all but the leader begin anew.
        """
        leader = self.leader()
        for node in self.nodes:
            if node is not leader:
                node.stop(10)
                node.start()

    def ready(self, seconds=120):
        """A busy machine may need several elections until one is heard in time."""
        try:
            wait_for(
                "the NATS cluster has a leader and all nodes are well",
                lambda: self.whole() and all(node.healthy() for node in self.nodes),
                seconds,
            )
        except TimeoutError:
            for node in self.nodes:
                print(f"{node.name} {'runs' if node.alive() else 'has ended'}:", node.tail(), sep="\n")
            raise

    def whole(self):
        """There is a leader, and it sees all the others."""
        leader = self.leader()
        others = leader.look("jsz").get("meta_cluster", {}).get("replicas") or [] if leader else []
        return (
            leader
            and sum(not other.get("offline") and other.get("current", False) for other in others) == len(self.nodes) - 1
        )

    def leader(self):
        """The node that leads JetStream, None while there is none."""
        for node in self.nodes:
            if not node.paused and node.alive():
                found = node.look("jsz")
                if isinstance(found, dict) and (len(self.nodes) == 1 or found.get("meta_cluster", {}).get("leader")):
                    name = self.nodes[0].name if len(self.nodes) == 1 else found["meta_cluster"]["leader"]
                    return next((n for n in self.nodes if n.name == name), None)
        return None

    def stream_leader(self, stream):
        for node in self.nodes:
            found = {} if node.paused else node.look("jsz?streams=1")
            for account in found.get("account_details", []) if isinstance(found, dict) else []:
                for detail in account.get("stream_detail", []):
                    if detail["name"] == stream:
                        name = detail.get("cluster", {}).get("leader", node.name)
                        return next((n for n in self.nodes if n.name == name), None)
        return None

    def streams(self):
        """{stream: state} with messages and bytes, from a node that has them."""
        state = {}
        for node in self.nodes:
            for account in node.look("jsz?streams=1").get("account_details", []):
                for detail in account.get("stream_detail", []):
                    held = state.setdefault(detail["name"], detail["state"])
                    if detail["state"]["last_seq"] > held["last_seq"]:
                        state[detail["name"]] = detail["state"]
        return state

    def urls(self, owner=None, nodes=None):
        """For --nats, all nodes or some; an owner gets links of its own to each."""
        ports = []
        for node in nodes or self.nodes:
            port = node.port
            if self.relays and owner is not None:
                link = self.relays.link(port)
                owner.append(link), node.clients.append(link)
                port = link.port
            ports.append(port)
        return ",".join(f"nats://127.0.0.1:{port}" for port in ports)

    def stop(self):
        for node in self.nodes:
            node.resume()
            node.process and node.process.terminate()
        for node in self.nodes:
            node.stop(10)


class Worker(Process):
    """headwater work."""

    def __init__(self, headwater, name, folder, cluster, rivers, *options):
        super().__init__(name, folder)
        self.words = [
            headwater,
            "work",
            "--nats",
            cluster.urls(self.links),
            "--dir",
            os.path.join(folder, name),
            "--name",
            name,
            *options,
            *rivers,
        ]
        os.makedirs(os.path.join(folder, name), exist_ok=True)

    def command(self):
        return self.words


class Display(Process):
    """headwater serve: with a cluster its ingest and display, without one the whole service."""

    def __init__(self, headwater, name, folder, cluster, rivers, *options, nodes=None):
        super().__init__(name, folder)
        (self.port,) = free_ports(1)
        self.address = f"http://127.0.0.1:{self.port}"
        self.db = os.path.join(folder, name + ".db")
        self.words = [
            headwater,
            "serve",
            "--listen",
            f"127.0.0.1:{self.port}",
            *([] if "--store" in options else ["--db", self.db]),
            *(["--nats", cluster.urls(self.links, nodes)] if cluster else []),
            *options,
            *rivers,
        ]

    def command(self):
        return self.words

    def ready(self, seconds=30):
        def there():
            if not self.alive():
                raise RuntimeError(f"{self.name} ended: {self.tail()}")
            return ask(self.address + "/healthz")[0] == 200

        wait_for(f"{self.name} answers", there, seconds)
        return self

    def post(self, river, csv, timeout=10):
        """Its answer once the readings are acknowledged, None when they are not (their fate is then unknown)."""
        request = urllib.request.Request(
            f"{self.address}/v1/readings?river={river}", data=csv.encode(), headers={"Content-Type": "text/csv"}
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return json.load(answer)
        except (OSError, ValueError):
            return None
        except Exception as fault:  # http.client's own family: a connection that broke in the middle of the answer
            if type(fault).__module__ == "http.client":
                return None
            raise
