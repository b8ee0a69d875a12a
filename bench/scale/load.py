"""A country to measure with: rivers, readings, senders, and the processor time that programs have used."""
import collections
import contextlib
import math
import os
import socket
import sqlite3
import threading
import time

SENSORS = ("s1", "s2", "s3")
PLACES_M = (0.0, 5000.0, 11_000.0)
VELOCITY, DISPERSION, AREA = 1.2, 40.0, 60.0
RIVER = """name: {id}
hydraulics: {{velocity_m_s: 1.2, dispersion_m2_s: 40, area_m2: 60, decay_per_s: 0}}
search: {{mass_g: [1000, 400000], location_m: [-30000, -1000], time_s: [-20000, 900000]}}
sensors:
  - {{id: s1, location_m: 0, noise_relative: 0.05, noise_absolute_g_m3: 2.0e-5, detection_limit_g_m3: 2.0e-5}}
  - {{id: s2, location_m: 5000, noise_relative: 0.05, noise_absolute_g_m3: 2.0e-5, detection_limit_g_m3: 2.0e-5}}
  - {{id: s3, location_m: 11000, noise_relative: 0.05, noise_absolute_g_m3: 2.0e-5, detection_limit_g_m3: 2.0e-5}}
intakes:
  - {{id: town, name: Town intake, location_m: 26000, alarm_g_m3: 0.001}}
"""
HEADER = "time_s,sensor,concentration_g_m3\n"


def make_rivers(folder, count):
    """(ids, the folder that holds their files)"""
    os.makedirs(folder, exist_ok=True)
    ids = [f"r{number:05d}" for number in range(count)]
    for river in ids:
        with open(os.path.join(folder, river + ".yaml"), "w") as out:
            out.write(RIVER.format(id=river))
    return ids


def partition(river, partitions=16):
    """Of a river: FNV-1a, as in the service."""
    value = 2166136261
    for byte in river.encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value % partitions


def jitter(*what):
    """Noise without a generator's state: between -1 and 1, the same for the same words."""
    return partition("/".join(map(str, what)), 2001) / 1000 - 1


def quiet(river, first_s, rows):
    """Nothing but noise: rows of readings every 60 s at each sensor."""
    lines = [
        f"{first_s + 60 * (i // 3)},{SENSORS[i % 3]},{1e-5 * jitter(river, i, first_s):.7f}\n" for i in range(rows)
    ]
    return HEADER + "".join(lines)


def plume(sensor, since_s):
    """g/m3 at a sensor after 20 kg, 6 km above the first one."""
    if since_s <= 0:
        return 0.0
    off = PLACES_M[sensor] + 6000 - VELOCITY * since_s
    return (
        20_000
        / (AREA * math.sqrt(4 * math.pi * DISPERSION * since_s))
        * math.exp(-off * off / (4 * DISPERSION * since_s))
    )


def spilled(river, released_s, time_s, sensor):
    value = plume(sensor, time_s - released_s)
    read = value * (1 + 0.04 * jitter(river, time_s, sensor)) + 1e-5 * jitter(sensor, river, time_s)
    return f"{time_s},{SENSORS[sensor]},{read:.8f}\n"


class Line:
    """One kept connection to a service."""

    def __init__(self, port):
        self.port, self.socket, self.rest = port, None, b""

    def post(self, river, csv, timeout=10):
        """True once acknowledged."""
        body = csv.encode()
        head = (
            f"POST /v1/readings?river={river} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
            f"Content-Type: text/csv\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        try:
            if not self.socket:
                self.socket = socket.create_connection(("127.0.0.1", self.port), timeout)
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.socket.settimeout(timeout)
            self.socket.sendall(head.encode() + body)
            return self.answer()
        except OSError:
            self.close()
            return False

    def answer(self):
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.more()
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
        )
        while len(body) < length:
            body += self.more()
        return head.startswith(b"HTTP/1.1 200")

    def more(self):
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("closed")
        return data

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None


def send_all(port, requests, senders):
    """Each (river, csv) until acknowledged. Returned: seconds from the first to the last acknowledgement."""
    shares = [requests[i::senders] for i in range(senders)]

    def run(share):
        line = Line(port)
        for river, csv in share:
            while not line.post(river, csv):
                time.sleep(0.05)
        line.close()

    threads = [threading.Thread(target=run, args=(share,)) for share in shares]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - began


TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def cpu_s(processes):
    """Processor seconds that these have used so far."""
    used = 0
    for process in processes:
        with contextlib.suppress(OSError), open(f"/proc/{process.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
            used += (int(fields[11]) + int(fields[12])) * TICK_S
    return used


def rss_mb(processes):
    total = 0
    for process in processes:
        with contextlib.suppress(OSError), open(f"/proc/{process.process.pid}/statm") as statm:
            total += int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return total


def look(db, sql):
    """Rows; none while the file is not there yet."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True, timeout=10)) as connection:
            return connection.execute(sql).fetchall()
    except sqlite3.OperationalError:
        return []


LATEST = """SELECT v.id, (SELECT max(e.reading_s) FROM estimates e WHERE e.incident = i.id)
  FROM incidents i JOIN rivers v ON v.key = i.river"""


class Watch(threading.Thread):
    """Notes when the estimate of a reading is there for people to see."""

    def __init__(self, db, pause_s=0.01):
        super().__init__(daemon=True)
        self.db, self.pause_s, self.ended = db, pause_s, False
        self.seen = collections.defaultdict(
            dict
        )  # river -> {time of a reading: when its estimate, or a later one, was seen}
        self.latest = {}

    def run(self):
        while not self.ended:
            now = time.monotonic()
            for river, reading_s in look(self.db, LATEST):
                if reading_s is not None and reading_s > self.latest.get(river, -math.inf):
                    self.latest[river] = reading_s
                    self.seen[river][reading_s] = now
            time.sleep(self.pause_s)

    def when(self, river, reading_s):
        """When the estimate of this reading, or of a later one, was first seen; None: not yet."""
        return min((at for of, at in list(self.seen[river].items()) if of >= reading_s), default=None)

    def stop(self):
        self.ended = True
        self.join()


def folder_bytes(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(top, name)) for top, _, names in os.walk(path) for name in names)


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else math.nan
