"""What strangers may try, at length: strangers.py HEADWATER [--connections N] [--guesses N] [TEST...]

10,000 connections at once; the time that wrong tokens take; names and notes that are programs, in a real browser."""

import argparse
import contextlib
import hashlib
import json
import os
import resource
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serving import RIVER, Service, run_claims, spill  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("headwater")
parser.add_argument("--connections", type=int, default=10000)
parser.add_argument("--guesses", type=int, default=4000, help="requests with each kind of wrong token")
parser.add_argument("tests", nargs="*")
ARGUMENTS = parser.parse_intermixed_args()
HEADWATER = ARGUMENTS.headwater


def port_of(service):
    return int(service.address.rsplit(":", 1)[1])


def memory_mb(service):
    with open(f"/proc/{service.process.pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def test_ten_thousand_connections(folder):
    count = ARGUMENTS.connections
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < count + 1000:
        print(f"  (at most {hard} descriptors here: left out)")
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 1000, hard))
    with Service(HEADWATER, folder, "--connections", str(count + 200), "--rate", "100000") as service:
        before, began = memory_mb(service), time.time()
        ask = b"GET /v1/incidents HTTP/1.1\r\nHost: localhost\r\n\r\n"
        connections, waiting, answered = [], selectors.DefaultSelector(), 0
        for _ in range(count):  # each asks at once: whoever says nothing for ten seconds is let go
            connections.append(socket.create_connection(("127.0.0.1", port_of(service))))
            connections[-1].sendall(ask)
            waiting.register(connections[-1], selectors.EVENT_READ)
        opened = time.time() - began
        until = time.time() + 120
        while answered < count and time.time() < until:
            for key, _ in waiting.select(5):
                waiting.unregister(key.fileobj)
                answered += key.fileobj.recv(4096).startswith(b"HTTP/1.1 200")
        took, grown = time.time() - began, memory_mb(service) - before
        assert answered == count, f"{answered} of {count} answered"
        assert service.request("/healthz", timeout=10)[0] == 200
        assert service.post("time_s,sensor,concentration_g_m3\n1,s1,0\n")["accepted"] == 1
        for connection in connections:
            connection.close()
        assert service.request("/healthz", timeout=10)[0] == 200
        assert grown < 60 * count / 1000, f"{grown:.0f} MB"
        print(f"  ({count} connections open after {opened:.1f} s, all answered after {took:.1f} s, {grown:.0f} MB)")


def test_a_wrong_token_tells_nothing_by_its_time(folder):
    """A guess whose hash begins like a stored one takes as long as any other."""
    token = "correct horse battery staple"
    stored = hashlib.sha256(token.encode()).hexdigest()
    path = os.path.join(folder, "tokens")
    with open(path, "w") as out:
        out.write(f"read {stored}\n")
    near, far, n = None, None, 0
    while not near or not far:
        digest = hashlib.sha256(str(n).encode()).hexdigest()
        near = str(n) if digest[:4] == stored[:4] and not near else near
        far = str(n) if digest[0] != stored[0] and not far else far
        n += 1
    with Service(HEADWATER, folder, "--token-file", path, "--rate", "1000000") as service:
        times = {near: [], far: []}
        for _ in range(ARGUMENTS.guesses):
            for guess, taken in times.items():
                head = f"GET /v1/rivers HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {guess}\r\n\r\n"
                with socket.create_connection(("127.0.0.1", port_of(service))) as connection:
                    began = time.perf_counter_ns()
                    connection.sendall(head.encode())
                    answer = connection.recv(4096)
                    taken.append(time.perf_counter_ns() - began)
                assert b" 401 " in answer, answer
    # Rank sum: how far from chance is it which of the two took longer? Normal beyond some hundred guesses.
    ranked = sorted((t, guess) for guess, taken in times.items() for t in taken)
    n1 = len(times[near])
    ranks = sum(i + 1 for i, (_, guess) in enumerate(ranked) if guess == near)
    z = (ranks - n1 * (2 * n1 + 1) / 2) / (n1 * n1 * (2 * n1 + 1) / 12) ** 0.5
    median = {guess: statistics.median(taken) / 1000 for guess, taken in times.items()}
    print(f"  (medians {median[near]:.1f} us with 16 bits right, {median[far]:.1f} us with none; z = {z:.2f})")
    assert abs(z) < 5, z


ATTACKS = [
    "<script>document.title='broken'</script>",
    "<img src=x onerror=\"document.title='broken'\">",
    "'\"><svg onload=document.title='broken'>",
    "javascript:document.title='broken'//",
]


def test_stored_names_and_notes_are_text_in_a_browser(folder):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if not browser:
        print("  (no chromium here: left out)")
        return
    quoted = [json.dumps(attack) for attack in ATTACKS]
    river = RIVER.replace("name: Demo River", "name: " + quoted[0]).replace("name: Paper mill", "name: " + quoted[1])
    river = river.replace("name: Town intake", "name: " + quoted[2]).replace("id: s2", "id: " + quoted[3])
    with Service(HEADWATER, folder, "--method", "atgd", "--quiet", "7200", river=river) as service:
        service.post(spill(HEADWATER, service.river))
        service.settle()
        incident = service.get("/v1/incidents")["incidents"][0]["id"]
        for attack in ATTACKS:  # whoever may acknowledge may also leave a note
            body = json.dumps({"who": attack, "note": attack})
            path = f"/v1/incidents/{incident}/acknowledge"
            status, text, _ = service.request(path, body, {"Content-Type": "application/json"}, "POST")
            assert status == 200, text
        for route in ("/", f"/#/incident/{incident}", "/#/river/demo", "/#/all"):
            page = subprocess.run(
                [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/browser"]
                + ["--virtual-time-budget=6000", "--dump-dom", service.address + route],
                capture_output=True,
                text=True,
                timeout=90,
            ).stdout
            assert "<title>broken" not in page, route
            assert "<script>document" not in page and '<img src="x"' not in page and "<svg onload" not in page, route
            if route == "/":
                assert "&lt;script&gt;document" in page, page[:500]  # it is shown, as what it is
        _, _, headers = service.request("/")
        policy = headers["Content-Security-Policy"]
        assert policy and "'unsafe-inline'" not in policy.split("script-src")[-1].split(";")[0], policy


with contextlib.suppress(BrokenPipeError):
    claims = {name: claim for name, claim in globals().items() if name.startswith("test_")}
    sys.exit(bool(run_claims({name: claims[name] for name in ARGUMENTS.tests or claims})))
