"""The service against those who mean it ill, or are broken in a way that looks like it: hostile.py HEADWATER [TEST...]
"""
import contextlib
import csv
import glob
import gzip
import hashlib
import json
import math
import os
import re
import select
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import threading
import time
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from broker import Broker, Publisher  # noqa: E402
from serving import RIVER, Service, certificate, rows, run_claims, spill  # noqa: E402

HEADWATER = sys.argv[1]


def serve(folder, *options, **more):
    return Service(HEADWATER, folder, "--method", "atgd", *options, **more)


def wait_for(condition, seconds=15):
    until = time.time() + seconds
    while not (held := condition()) and time.time() < until:
        time.sleep(0.05)
    return held


def fates(service, fate):
    return service.metric(f'headwater_readings_total{{fate="{fate}"}}')


def test_messages_that_can_never_be_taken_do_not_stop_mqtt(folder):
    if not shutil.which("mosquitto"):
        print("  (no mosquitto here: left out)")
        return
    with Broker(folder) as broker:
        with serve(folder, "--mqtt", f"127.0.0.1:{broker.port}") as service:
            assert wait_for(lambda: "mqtt_connected" in open(os.path.join(folder, "log")).read())
            time.sleep(0.3)  # subscribed
            bad = [
                ("headwater/demo/s1", "x" * 70000),
                ("headwater/demo/s1", "x" * 3000000),
                ("headwater/demo/" + "s" * 300, "1 1"),
                ("headwater/" + "r" * 60000 + "/s1", "1 1"),
                ("headwater/demo/s1", "[" * 60000),
                ("headwater/demo/s1", '{"sensor":' * 5000),
            ]
            Publisher(broker.port).publish(
                [*bad, ("headwater/demo/s1", "0.00001 300"), *bad, ("headwater/demo/s1", "0.00001 600")]
            )
            assert wait_for(lambda: service.metric("headwater_log_records") == 2), open(
                os.path.join(folder, "log")
            ).read()[-2000:]
            assert service.metric("headwater_mqtt_acknowledged_total") == 14
            assert fates(service, "malformed") == 12, service.request("/metrics")[1]
            log = open(os.path.join(folder, "log")).read()
            assert "too large" in log and "mqtt_disconnected" not in log, log[-2000:]
        with service:  # the broker has nothing left to send again
            Publisher(broker.port).publish([("headwater/demo/s1", "0.00001 900")])
            assert wait_for(lambda: service.metric("headwater_log_records") == 3)
            assert service.metric("headwater_mqtt_messages_total") == 1


def test_a_name_that_only_looks_local_is_another_site(folder):
    """A page elsewhere whose name points at this machine (DNS rebinding)."""
    with serve(folder) as service:
        port = service.address.rsplit(":", 1)[1]
        for host in (
            "127.evil.com",
            f"127.0.0.1.evil.com:{port}",
            "localhost:1.evil.com",
            "[::1].evil.com",
            "127.0.0.1@evil.com",
        ):
            for headers in ({"Host": host}, {"Host": host, "Origin": "http://" + host}):
                assert service.request("/v1/rivers", headers=headers)[0] in (400, 403), headers
                assert service.request("/v1/incidents", '{"river": "demo"}', headers=headers, method="POST")[0] in (
                    400,
                    403,
                ), headers
                assert service.request(
                    "/v1/readings?river=demo",
                    "time_s,sensor,concentration_g_m3\n1,s1,0\n",
                    {**headers, "Content-Type": "text/csv"},
                )[0] in (400, 403), headers
        for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "localhost"):
            assert service.request("/v1/rivers", headers={"Host": host, "Origin": "http://" + host})[0] == 200, host
            assert (
                service.request("/v1/rivers", headers={"Host": host, "Origin": f"http://{host}.evil.com"})[0] == 403
            ), host
        assert service.metric("headwater_log_records") == 0


def connect(service):
    return socket.create_connection(("127.0.0.1", int(service.address.rsplit(":", 1)[1])))


def is_open(connection):
    """Has the service left it open? Nothing was asked of it, so nothing but an end can come."""
    return not select.select([connection], [], [], 0)[0]


def test_slow_connections_shut_nobody_out_and_end(folder):
    with serve(folder, "--connections", "24") as service:
        slow = [connect(service) for _ in range(24)]
        began = time.time()
        stop = threading.Event()

        def drip():
            for connection in slow:
                connection.sendall(b"POST /v1/readings HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            while not stop.wait(0.5):
                for connection in slow:
                    with contextlib.suppress(OSError):
                        connection.sendall(b"x")

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            time.sleep(0.5)
            for route in ["/healthz", "/readyz", "/v1/rivers"] * 5:
                assert service.request(route, timeout=5)[0] == 200
            assert sum(map(is_open, slow)) > 0  # they were not all cut at once
            assert wait_for(lambda: not any(map(is_open, slow)), 20), "a head that never ends"
            assert 8 < time.time() - began < 15, time.time() - began
        finally:
            stop.set()
            thread.join()


def test_connections_are_bounded(folder):
    with serve(folder, "--connections", "8") as service:
        idle = [connect(service) for _ in range(40)]
        assert wait_for(lambda: sum(map(is_open, idle)) <= 8, 5), "more than there are places"
        assert service.request("/healthz")[0] == 200
        assert all(map(is_open, idle[-5:])), "those who have waited longest give way"
        for connection in idle:
            connection.close()


def test_one_address_gets_half_of_the_connections(folder):
    path = os.path.join(folder, "tokens")
    open(path, "w").write(f"read {hashlib.sha256(b'gamma').hexdigest()}\n")
    # On loopback everybody has the same address; open to others, each has its own.
    with serve(folder, "--connections", "16", "--token-file", path, "--listen", "0.0.0.0:0") as service:
        port = int(service.address.rsplit(":", 1)[1])
        greedy = [socket.create_connection(("127.0.0.1", port)) for _ in range(30)]
        assert wait_for(lambda: sum(map(is_open, greedy)) <= 8, 5), sum(map(is_open, greedy))
        assert sum(map(is_open, greedy)) == 8 and all(map(is_open, greedy[-8:]))
        others = [socket.create_connection(("127.0.0.1", port), source_address=("127.0.0.2", 0)) for _ in range(8)]
        time.sleep(0.3)
        assert all(map(is_open, others)) and sum(map(is_open, greedy)) == 8
        for connection in [*greedy, *others]:
            connection.close()


def test_an_address_that_asks_too_often_is_refused_but_for_its_health(folder):
    with serve(folder, "--rate", "20") as service:
        with connect(service) as connection:
            connection.sendall(b"GET /v1/rivers HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
            heard = b""
            with contextlib.suppress(OSError):  # it is let go at the first refusal
                while more := connection.recv(65536):
                    heard += more
        assert heard.count(b"HTTP/1.1 200 ") >= 80 and heard.count(b"HTTP/1.1 429 ") == 1, heard[-300:]
        assert 429 in [service.request("/v1/incidents")[0] for _ in range(100)]
        health = [service.request(route)[0] for route in ("/healthz", "/readyz") * 5]
        assert health == [200] * 10, health
        assert 429 in [service.request("/healthz")[0] for _ in range(400)]  # not without end
        assert wait_for(lambda: service.request("/v1/incidents")[0] == 200)


def test_event_streams_leave_room(folder):
    with serve(folder, "--connections", "8") as service:
        streams, answers = [connect(service) for _ in range(8)], []
        for stream in streams:
            stream.sendall(b"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answers.append(stream.recv(4096))
        assert [a.split()[1] for a in answers] == [b"200"] * 7 + [b"503"] and b"Retry-After" in answers[-1], answers
        assert all(service.request("/healthz")[0] == 200 for _ in range(20))
        streams[0].close()

        def admitted():  # whoever is gone is noticed by one of the next words
            service.post(f"time_s,sensor,concentration_g_m3\n{time.time() % 1e6:.3f},s1,0\n")
            with connect(service) as late:
                late.sendall(b"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return late.recv(4096).split()[1] == b"200"

        assert wait_for(admitted, 10)
        for stream in streams:
            stream.close()


def test_a_second_service_on_one_database_is_refused(folder):
    with serve(folder) as service:
        run = subprocess.run(
            [HEADWATER, "serve", service.river, "--listen", "127.0.0.1:0", "--store", service.db],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (
            run.returncode == 3 and "another headwater writes to it" in run.stderr and run.stderr.count("\n") == 1
        ), run
        assert service.post("time_s,sensor,concentration_g_m3\n1,s1,0\n")["accepted"] == 1
        for make, path in ((os.symlink, "other.db"), (os.link, "twin.db")):  # the same file by another name
            path = os.path.join(folder, path)
            make(service.db, path)
            run = subprocess.run(
                [HEADWATER, "serve", service.river, "--listen", "127.0.0.1:0", "--store", path],
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert run.returncode == 3 and run.stderr.count("\n") == 1, run
            assert ("another headwater writes to it" if make == os.symlink else "2 names") in run.stderr, run
            os.unlink(path)
        service.kill()  # holds it no longer
        service.start()
        assert service.post("time_s,sensor,concentration_g_m3\n2,s1,0\n")["accepted"] == 1


def test_old_tls_is_refused(folder):
    made = certificate(folder, "localhost")
    if not made:
        print("  (no openssl program here: left out)")
        return

    def shake(service, version, ciphers="ALL:@SECLEVEL=0"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.minimum_version = context.maximum_version = version
        context.set_ciphers(ciphers)
        try:
            with context.wrap_socket(connect(service)) as wrapped:
                return wrapped.cipher()[0]
        except (ssl.SSLError, OSError):
            return None

    with serve(folder, "--tls-cert", made[0], "--tls-key", made[1]) as service, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        version = ssl.TLSVersion
        assert shake(service, version.TLSv1_3) and "ECDHE" in shake(service, version.TLSv1_2)
        assert shake(service, version.TLSv1_2, "ECDHE-RSA-AES128-GCM-SHA256")
        assert not shake(service, version.TLSv1_1) and not shake(service, version.TLSv1)
        for ciphers in (
            "AES128-GCM-SHA256",
            "AES256-SHA",
            "ECDHE-RSA-AES128-SHA",
            "ECDHE-RSA-AES256-SHA384",
            "DHE-RSA-AES256-SHA",
            "aNULL",
        ):
            assert not shake(service, version.TLSv1_2, ciphers + ":@SECLEVEL=0"), ciphers


def test_a_hanging_webhook_holds_up_nobody_else(folder):
    told, program = os.path.join(folder, "told"), os.path.join(folder, "hook")
    with open(program, "w") as out:
        out.write(f"#!/bin/sh\n(cat; echo) >>{told}\nenv >{told}.env\n")
    os.chmod(program, 0o755)
    with socket.create_server(("127.0.0.1", 0)) as deaf:  # takes connections, never answers
        secrets = {"PGPASSWORD": "correct horse", "HEADWATER_STORE_NOTE": "battery staple", "KEPT": "this"}
        service = Service(
            HEADWATER,
            folder,
            "--quiet",
            "7200",
            "--webhook",
            f"http://127.0.0.1:{deaf.getsockname()[1]}/",
            "--command",
            program,
            environment=secrets,
        )
        with service:
            service.post(spill(HEADWATER, service.river))
            service.settle()
            began = time.time()
            kinds = (
                lambda: [json.loads(line)["kind"] for line in open(told)] if os.path.exists(told) else []
            )  # noqa: E731
            assert wait_for(lambda: "incident_closed" in kinds() and "intake_alarm" in kinds(), 8), kinds()
            assert wait_for(lambda: "hook_failed" in open(os.path.join(folder, "log")).read(), 25), open(
                os.path.join(folder, "log")
            ).read()
            assert time.time() - began < 20, time.time() - began
            began = time.time()
        assert time.time() - began < 5, "it does not stop"
    environment = open(told + ".env").read()
    assert (
        "KEPT=this" in environment and "correct horse" not in environment and "battery staple" not in environment
    ), environment


def test_a_command_that_hangs_ends_with_what_it_started(folder):
    program, name = os.path.join(folder, "hook"), f"{4000 + os.getpid() % 1000}.{time.time_ns() % 10**9}"
    with open(program, "w") as out:
        out.write(f"#!/bin/sh\nsleep {name}\necho over\n")
    os.chmod(program, 0o755)
    if not shutil.which("pgrep"):
        print("  (no pgrep here: left out)")
        return

    def asleep():
        found = subprocess.run(["pgrep", "-f", f"^sleep {name}$"], capture_output=True, text=True)
        return [int(process) for process in found.stdout.split()]

    with serve(folder, "--command", program) as service:
        service.post(spill(HEADWATER, service.river))
        assert wait_for(asleep)
    gone = wait_for(lambda: not asleep(), 5)
    for process in asleep():
        os.kill(process, signal.SIGKILL)
    assert gone, "what the command waited for goes on"


def exchange(service, text):
    with connect(service) as connection:
        connection.settimeout(10)
        connection.sendall(text.encode())
        return connection.recv(4096).decode()


def test_a_body_that_ends_twice_is_refused(folder):
    with serve(folder) as service:
        head = "POST /v1/readings?river=demo HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n"
        for framing in (
            "Content-Length: 4\r\nContent-Length: 40\r\n",
            "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        ):
            answer = exchange(service, head + framing + "\r\nabcd")
            assert " 400 " in answer and "Connection: close" in answer, answer
        assert " 422 " in exchange(service, head + "Content-Length: 4\r\n\r\nabcd")
        assert " 422 " in exchange(service, head + "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n")


def test_lines_of_a_head_end_with_crlf(folder):
    lines = ["GET /healthz HTTP/1.1", "Host: localhost", "X-Empty:", "X-Last:  two \t", ""]
    with serve(folder) as service:
        assert " 200 " in exchange(service, "".join(line + "\r\n" for line in lines))
        assert " 200 " in exchange(service, "GET /healthz HTTP/1.0\r\n\r\n")
        bare = lambda which: "".join(
            line + ("\n" if i in which else "\r\n") for i, line in enumerate(lines)
        )  # noqa: E731
        for head in (
            *(bare({i}) for i in range(len(lines))),
            bare(set(range(len(lines)))),
            "GET /healthz HTTP/1.0\n\n",
            "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n",  # folded
            "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\n\0Y: b\r\n\r\n",  # a zero as if it were a line's end
            "POST /v1/readings HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n",
            "POST /v1/readings HTTP/1.1\r\nHost: localhost\r\nContent-Length : 2\r\n\r\nab",
            "POST /v1/readings HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\rContent-Length: 5\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\x7fb\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.com\r\n\r\n",
        ):
            answer = exchange(service, head)
            assert " 400 " in answer and "Connection: close" in answer, (head, answer)


def test_a_refusal_stands_while_the_service_stops(folder):
    """Once the service is about to stop libmicrohttpd takes no answer, says that it did, and goes on with the request.
    Here it is so from the start.
    """
    library = os.path.join(folder, "stopping.so")
    text = (
        "#define _GNU_SOURCE\n#include <dlfcn.h>\nint MHD_queue_response(void *c, unsigned code, void *r) {\n"
        "int (*next)(void *, unsigned, void *) = "
        '(int (*)(void *, unsigned, void *))dlsym(RTLD_NEXT, "MHD_queue_response");'
        "return code == 401 || code == 405 ? 1 : next(c, code, r); }\n"
    )
    if not shutil.which("cc"):
        print("  (no C compiler here: left out)")
        return
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library, "-ldl"], input=text.encode(), check=True)
    tokens = os.path.join(folder, "tokens")
    open(tokens, "w").write(f"read,admin,ingest {hashlib.sha256(b'all').hexdigest()}\n")
    with serve(folder, "--token-file", tokens, environment={"LD_PRELOAD": library}) as service:
        allowed = {"Authorization": "Bearer all"}
        incident = json.loads(service.request("/v1/incidents", '{"river": "demo"}', allowed)[1])["id"]
        for ask in (
            "POST /v1/rivers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
            "POST /v1/rivers HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            f"POST /v1/incidents/{incident}/close HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
        ):
            assert exchange(service, ask) == "", ask
        state = json.loads(service.request(f"/v1/incidents/{incident}", headers=allowed)[1])["state"]
        assert state == "open", state


def test_lines_between_chunks_end_with_crlf(folder):
    made = certificate(folder, "localhost")
    head = (
        "POST /v1/readings?river=demo HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

    def status(service, pieces, encrypted):
        with connect(service) as plain, context.wrap_socket(plain) if encrypted else plain as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.settimeout(10)
            with contextlib.suppress(OSError):  # refused before the end
                for piece in pieces:
                    connection.sendall(piece.encode())
                    time.sleep(0.0005 if len(pieces) > 1 else 0)
            return int(connection.recv(4096).split()[1])

    for encrypted in (False, True) if made else (False,):
        options = ("--tls-cert", made[0], "--tls-key", made[1]) if encrypted else ()
        shelf = os.path.join(folder, f"encrypted{encrypted}")
        os.mkdir(shelf)
        with serve(shelf, *options) as service:
            first, second = "time_s,sensor,concentration_g_m3\n", "{},s1,0\n"
            sound = f"{len(first):x}\r\n{first}\r\n7;a=b\r\n{second}\r\n0\r\nX: y\r\n\r\n"
            ends = [i + 1 for i, pair in enumerate(zip(sound, sound[1:])) if pair == ("\r", "\n")]
            assert len(ends) == 7
            taken = 0
            for cut in (False, True):  # all at once, and byte by byte
                send = lambda body: status(service, [*(head + body)] if cut else [head + body], encrypted)  # noqa: E731
                for end in ends:
                    body = (sound[: end - 1] + sound[end:]).format(1)
                    assert send(body) == 400, (encrypted, cut, body)
                for time_s in range(2, 5):
                    assert send(sound.format(time_s + 5 * cut)) == 200, (encrypted, cut)
                    taken += 1
                assert send(sound.replace("7;", "7;\rc").format(1)) == 400
            assert rows(service.db, "SELECT count(*) FROM readings") == [(taken,)]
            large = first + "".join(f"{i},s1,0\n" for i in range(100, 40000))
            chunks = "".join(f"{len(p):X}\r\n{p}\r\n" for p in re.findall("(?s).{1,70000}", large)) + "0\r\n\r\n"
            assert status(service, [head + chunks], encrypted) == 200
            # Where a head came along with an earlier request nobody knows where its body lies by now.
            early = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + head + sound.format(0)
            assert status(service, [early], encrypted) == 200  # of the first
            assert rows(service.db, "SELECT count(*) FROM readings WHERE time_s = 0") == [(0,)]


def test_what_follows_a_chunked_body_is_no_request(folder):
    head = "POST /v1/readings?river=demo HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n"
    behind = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

    def everything(text):
        with connect(service) as connection:
            connection.settimeout(10)
            connection.sendall(text.encode())
            heard = b""
            try:
                while more := connection.recv(4096):
                    heard += more
            except ConnectionResetError:  # it left without reading to the end
                pass
            return heard.decode()

    with serve(folder) as service:
        short = behind.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")
        assert everything(head + "Content-Length: 4\r\n\r\nabcd" + short).count("HTTP/1.1 ") == 2
        for body in (
            "4\r\nabcd\r\n0\r\n\r\n",
            "4\nabcd\r\n0\r\n\r\n",
            "4\r\nabcd\n0\r\n\r\n",
            "4\r\nabcd\r\n0\n\r\n",
            "4\r\nabcd\r\n0\r\n\n",
            "4;\nabcd\r\n0\r\n\r\n",
            "4\nabcd\n0\n\n",
        ):
            answer = everything(head + "Transfer-Encoding: chunked\r\n\r\n" + body + behind)
            assert answer.count("HTTP/1.1 ") == 1 and "Connection: close" in answer, (body, answer)
            plain = body.count("\n") == body.count("\r\n")
            assert (" 422 " if plain else " 400 ") in answer, (body, answer)
        # A refusal that does not wait for the body is the last answer too.
        answer = everything(
            head.replace("/v1/readings", "/nowhere") + "Transfer-Encoding: chunked\r\n\r\n4\nabcd\n0\n\n" + behind
        )
        assert answer.count("HTTP/1.1 ") == 1 and " 405 " in answer, answer


def test_a_token_file_is_read_to_its_end_or_refused(folder):
    token = lambda n: f"read {hashlib.sha256(str(n).encode()).hexdigest()}\n"  # noqa: E731
    path = os.path.join(folder, "tokens")

    def start(text):
        open(path, "w").write(text)
        return subprocess.run(
            [
                HEADWATER,
                "serve",
                serve(folder).river,
                "--listen",
                "127.0.0.1:0",
                "--store",
                os.path.join(folder, "t.db"),
                "--token-file",
                path,
            ],
            capture_output=True,
            text=True,
            timeout=20,
        )

    for text, line in (
        (token(1) + "#" + " " * 520 + token("x").replace("read", "admin"), "tokens:2:"),
        ("".join(map(token, range(1025))), "tokens:1025:"),
    ):
        run = start(text)
        assert run.returncode == 1 and line in run.stderr and run.stderr.count("\n") == 1, run
    open(path, "w").write("".join(map(token, range(1024))))
    with serve(folder, "--token-file", path) as service:
        assert service.request("/v1/rivers", headers={"Authorization": "Bearer 1023"})[0] == 200


def test_descriptors_do_not_run_out(folder):
    limited = ["prlimit", "--nofile=400"]
    run = subprocess.run(
        [
            *limited,
            HEADWATER,
            "serve",
            serve(folder).river,
            "--listen",
            "127.0.0.1:0",
            "--store",
            os.path.join(folder, "t.db"),
        ],
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert run.returncode == 2 and "--connections 512" in run.stderr, run
    with serve(folder, "--connections", "128", prefix=limited) as service:
        idle = [connect(service) for _ in range(600)]
        spent = lambda: sum(
            map(int, open(f"/proc/{service.process.pid}/stat").read().rsplit(")", 1)[1].split()[11:13])
        )  # noqa: E731  ticks of 10 ms
        began = spent()
        time.sleep(2)
        assert spent() - began < 60, f"{spent() - began} ticks of 200"
        assert wait_for(lambda: answers(service))
        for connection in idle:
            connection.close()


def test_a_file_at_its_limit_is_a_full_disk(folder):
    with serve(folder, prefix=["prlimit", "--fsize=3000000"]) as service:

        def send(first):
            body = "time_s,sensor,concentration_g_m3\n" + "".join(f"{first + i},s1,0\n" for i in range(5000))
            return service.request("/v1/readings?river=demo", body, {"Content-Type": "text/csv"})[0]

        codes = [send(5000 * n) for n in range(12)]
        assert codes[0] == 200 and codes[-1] in (503, 507), codes
        assert service.request("/healthz")[0] == 200 and service.request("/readyz")[0] == 503
        stored = [(5000 * codes.count(200),)]
        assert rows(service.db, "SELECT count(*) FROM readings") == stored
        service.kill()
        service.start()  # as full as it was
        assert service.request("/healthz")[0] == 200 and service.get("/v1/rivers")["rivers"]
        assert send(10**6) in (503, 507) and rows(service.db, "SELECT count(*) FROM readings") == stored
        service.kill()


def answers(service):
    with contextlib.suppress(OSError):
        return service.request("/healthz", timeout=5)[0] == 200


def test_ids_in_a_csv_export_are_text(folder):
    for id in ("=1+1 x", "\uff1d1+1 x"):  # the second as it is typed in Japanese
        shelf = os.path.join(folder, id[-5:] + str(ord(id[0])))
        os.mkdir(shelf)
        with serve(shelf, river=RIVER.replace("{id: s1,", f"{{id: '{id}',")) as service:
            service.post(spill(HEADWATER, service.river))
            service.settle()
            incident = service.get("/v1/incidents")["incidents"][0]
            rows_of = list(csv.reader(service.request(f"/v1/incidents/{incident['id']}/readings")[1].splitlines()))
            assert {len(row) for row in rows_of} == {3} and {row[1] for row in rows_of[1:]} >= {"'" + id}, rows_of[:3]


def test_code_in_a_database_file_does_not_run(folder):
    with serve(folder) as service:
        service.post("time_s,sensor,concentration_g_m3\n0,s1,0\n")
    with contextlib.closing(sqlite3.connect(service.db)) as db:
        db.execute("CREATE TRIGGER gone AFTER INSERT ON readings BEGIN DELETE FROM readings; END")
        db.commit()
    with service:
        service.post("time_s,sensor,concentration_g_m3\n300,s1,0\n")
    assert rows(service.db, "SELECT count(*) FROM readings") == [(2,)]


def test_an_answer_about_many_sensors_comes_in_pages(folder):
    most = 9000
    sensors = "sensors:\n" + "\n".join(f"  - {{id: n{i}, location_m: {i}}}" for i in range(most))
    river = re.sub(r"(?s)sensors:\n.*?(?=\n\w)", sensors, RIVER)
    others = [os.path.join(folder, f"other{i}.yaml") for i in range(2)]
    for path in others:
        open(path, "w").write(river)
    with serve(folder, *others, river=river) as service:
        before, seen, after = memory_mb(service), [], ""
        while after is not None:
            page = service.get(f"/v1/rivers/demo?limit=4000{after}")
            seen += [sensor["id"] for sensor in page["sensors"]]
            after = f"&after={seen[-1]}" if page["sensors_more"] else None
        assert seen == [f"n{i}" for i in range(most)], (len(seen), seen[:2], seen[-2:])
        listed = lambda query: (  # noqa: E731
            (a := service.get("/v1/rivers" + query))["more"],
            [(r["id"], len(r["sensors"]), r["sensors_more"]) for r in a["rivers"]],
        )
        assert listed("") == (True, [("demo", 5000, True)])
        assert listed("?limit=1e9") == (True, [("demo", most, False), ("other0", most, False)])
        assert listed("?limit=20000&after=other0") == (False, [("other1", most, False)])
        places = service.get(f"/v1/rivers/demo/places?limit=7&after=n{most - 10}")
        shown = [f["properties"]["id"] for f in places["features"] if f["properties"]["kind"] == "sensor"]
        assert shown == seen[most - 9 : most - 2] and places["sensors_more"], shown
        metrics = service.request("/metrics/rivers")[1]
        assert f"\nheadwater_sensors_omitted {3 * most}\n" in metrics and "headwater_sensor_silent{" not in metrics
        grown = memory_mb(service, "VmHWM") - before
        assert grown < 120, f"{grown} MB for answers about 27,000 sensors"
        for wrong, code in (("limit=0", 400), ("limit=x", 400), ("after=nosuch", 404)):
            assert service.request(f"/v1/rivers/demo?{wrong}")[0] == code, wrong
            assert service.request(f"/v1/rivers?{wrong}")[0] == code, wrong


def memory_mb(service, which="VmRSS"):
    for line in open(f"/proc/{service.process.pid}/status"):
        if line.startswith(which + ":"):
            return int(line.split()[1]) / 1024


def upload(service, size, sent, headers="", kind="text/csv"):
    """A body announced and in part sent."""
    connection = connect(service)
    connection.sendall(
        f"POST /v1/readings?river=demo HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {size}\r\n{headers}\r\n".encode()
    )
    with contextlib.suppress(OSError):
        connection.sendall(sent)
    return connection


def status_of(connection, seconds=10):
    connection.settimeout(seconds)
    return connection.recv(4096).decode()


def send_packed(service, packed, encoding="gzip"):
    return service.request(
        "/v1/readings?river=demo", packed, {"Content-Type": "text/csv", "Content-Encoding": encoding}
    )


def test_gzip_bodies_are_taken_and_other_encodings_refused(folder):
    head, rows_ = b"time_s,sensor,concentration_g_m3\n", [b"%d,s1,0.01\n" % (300 * i) for i in range(1, 8)]
    with serve(folder) as service:
        for encoding in ("br", "deflate", "gzip, gzip", ""):
            answer = send_packed(service, gzip.compress(head + rows_[0]), encoding)
            assert answer[0] == 415 and f"Content-Encoding {encoding}" in answer[1], (encoding, answer)
        assert json.loads(send_packed(service, head + rows_[0], "identity")[1])["accepted"] == 1
        assert json.loads(send_packed(service, gzip.compress(head + rows_[1]))[1])["accepted"] == 1
        assert json.loads(send_packed(service, gzip.compress(head + rows_[2]), "X-GZIP")[1])["accepted"] == 1
        # Two members, one after the other, are one body (RFC 1952).
        assert (
            json.loads(send_packed(service, gzip.compress(head + rows_[3]) + gzip.compress(rows_[4] + rows_[5]))[1])[
                "accepted"
            ]
            == 3
        )
        whole = gzip.compress(head + rows_[6])
        for broken in (whole[:-1], whole[:12], whole + b"x", whole[:-8] + bytes(8), head + rows_[6], b"\x1f"):
            answer = send_packed(service, broken)
            assert answer[0] == 400 and "gzip" in answer[1], (broken, answer)
        assert service.metric("headwater_log_records") == 6
        assert (
            service.request(
                "/v1/incidents",
                gzip.compress(b'{"river": "nosuch"}'),
                {"Content-Type": "application/json", "Content-Encoding": "gzip"},
            )[0]
            == 404
        )


def test_a_gzip_body_is_bounded_by_what_it_becomes(folder):
    with serve(folder, "--body-limit", "1000000") as service:
        head = b"time_s,sensor,concentration_g_m3\n"
        fits = head + b"#\n" * ((1000000 - len(head)) // 2) + b"#"  # a million bytes, and nothing in them
        assert send_packed(service, gzip.compress(fits))[0] == 200
        answer = send_packed(service, gzip.compress(fits + b"#"))
        assert answer[0] == 413 and "1000000" in answer[1], answer
        before = memory_mb(service)
        bomb = gzip.compress(b"#" * 200000000, 9)
        assert len(bomb) < 250000
        for _ in range(4):
            assert send_packed(service, bomb)[0] == 413
        assert memory_mb(service) < before + 20
        assert send_packed(service, gzip.compress(fits))[0] == 200  # the budget came back


def test_bodies_without_a_token_are_not_taken(folder):
    path = os.path.join(folder, "tokens")
    open(path, "w").write(f"ingest {hashlib.sha256(b'beta').hexdigest()}\n")
    with serve(folder, "--token-file", path) as service:
        before, body = memory_mb(service), b"x" * 7900000
        held = [upload(service, 8000000, body) for _ in range(24)]
        grown = memory_mb(service) - before
        assert grown < 40, f"{grown} MB for bodies nobody may send"
        waiting = upload(service, 8000000, b"")
        assert " 401 " in status_of(waiting)  # told at the head: there is no body yet
        allowed = upload(service, 4, b"x", "Authorization: Bearer beta\r\n")
        allowed.sendall(b"y\nz")
        assert " 422 " in status_of(allowed)  # taken and read; both rows are rejected
        for connection in [*held, waiting, allowed]:
            connection.close()


def test_bodies_share_a_budget(folder):
    with serve(folder, "--body-limit", "1000000") as service:
        held = [upload(service, 999999, b"x" * 999990) for _ in range(32)]
        answers = []

        def is_refused():  # what was sent may still be on its way into the service; then a late body is read
            late = upload(service, 999999, b"x" * 999999)
            answers.append(status_of(late))
            late.close()
            return " 503 " in answers[-1]

        assert wait_for(is_refused), answers
        assert "Retry-After: " in answers[-1] and "send it again" in answers[-1], answers
        assert service.request("/healthz")[0] == 200
        for connection in held:
            connection.close()
        csv = "time_s,sensor,concentration_g_m3\n" + "".join(f"{i},s1,0\n" for i in range(50000))
        assert wait_for(lambda: service.request("/v1/readings?river=demo", csv, {"Content-Type": "text/csv"})[0] == 200)


def test_many_empty_objects_take_little_memory(folder):
    with serve(folder) as service:
        before = memory_mb(service)
        answer = service.post("[" + ",".join(["{}"] * 2700000) + "]", kind="application/json")
        assert answer["rejected_count"] == 2700000, answer
        grown = memory_mb(service, "VmHWM") - before
        assert grown < 64, f"{grown} MB for 8 MB of empty objects"
        nested = '{"x": [' + ",".join(["{}"] * 2700000) + "]}\n"
        assert service.post(nested, kind="application/x-ndjson")["rejected_count"] == 1
        assert memory_mb(service, "VmHWM") - before < 64


def faked_clock(folder):
    """(set, environment): set("+365d") moves the wall clock of a service started with that environment, its uptime
    stays.
    """
    libraries = glob.glob("/usr/lib/*/faketime/libfaketime.so.1")
    if not libraries:
        return None, None
    offset = os.path.join(folder, "offset")

    def set_clock(text):
        with open(offset + ".new", "w") as out:
            out.write(text)
        os.rename(offset + ".new", offset)

    set_clock("+0")
    return set_clock, {
        "LD_PRELOAD": libraries[0],
        "FAKETIME_TIMESTAMP_FILE": offset,
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


def dated(days, sensor="s1", seconds=0.0):
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + days * 86400 + seconds))
    return f"time,sensor,concentration_g_m3\n{stamp},{sensor},0.00001\n"


def test_a_clock_ahead_at_the_start_deletes_nothing(folder):
    set_clock, environment = faked_clock(folder)
    if not environment:
        print("  (no libfaketime here: left out)")
        return
    with serve(folder) as service:
        service.post("time_s,sensor,concentration_g_m3\n" + "".join(f"{i},s1,0\n" for i in range(15000)))
        service.settle()
    set_clock("+365d")
    with serve(folder, "--keep", "30", environment=environment) as service:
        assert wait_for(lambda: "retention_waits" in open(os.path.join(folder, "log")).read())
        time.sleep(2)
        set_clock("+0")
        time.sleep(1)
        assert service.metric("headwater_readings_removed_total") == 0
        set_clock("+365d")
    assert rows(service.db, "SELECT count(*) FROM readings") == [(15000,)]
    with serve(folder, environment=environment) as service:  # what it stores now makes the clock look right
        for i in range(2):
            service.post(f"time_s,sensor,concentration_g_m3\n{20000 + i},s1,0\n")
        service.settle()
    with serve(folder, "--keep", "30", environment=environment) as service:
        assert wait_for(lambda: open(os.path.join(folder, "log")).read().count("retention_waits") == 2)
        time.sleep(2)
        assert service.metric("headwater_readings_removed_total") == 0


def test_a_clock_ahead_for_a_while_leaves_the_future_refused(folder):
    set_clock, environment = faked_clock(folder)
    if not environment:
        print("  (no libfaketime here: left out)")
        return
    with serve(folder, environment=environment) as service:
        fate = lambda csv: (service.post(csv)["rejected"] or [{"fate": "accepted"}])[0]["fate"]  # noqa: E731
        latest = lambda: service.get("/v1/rivers/demo")["sensors"][0]["latest_s"] - time.time()  # noqa: E731
        assert fate(dated(0)) == "accepted" and fate(dated(100)) == "future"
        set_clock("+365d")
        # Which clock is right? A date between the two is neither stored nor refused for good.
        status, text, headers = service.request("/v1/readings?river=demo", dated(100), {"Content-Type": "text/csv"})
        assert status == 503 and headers["Retry-After"] and "clock" in text, (status, text)
        assert fate(dated(0, seconds=1)) == "accepted" and fate(dated(1000)) == "future"
        set_clock("+0")
        assert fate(dated(100)) == "future"
    set_clock("+365d")
    with service:  # wrong from the start: believed, as after a year's rest
        assert fate(dated(300)) == "accepted"
    set_clock("+0")
    with service:
        assert fate(dated(100)) == "future"
        assert fate(dated(0, seconds=2)) == "accepted"
        service.settle()
        assert abs(latest()) < 60, f"the sensor is blind for {latest()} s"


def test_a_clock_ahead_at_the_start_ends_no_incident(folder):
    set_clock, environment = faked_clock(folder)
    if not environment:
        print("  (no libfaketime here: left out)")
        return
    now = time.time()
    begin, stamp = now - 300000, lambda t: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(t))

    def send(first, last, peak, sensors=("s1",)):
        """Readings every two minutes from first to last, of a pulse."""
        service.post(
            "time,sensor,concentration_g_m3\n"
            + "".join(
                f"{stamp(begin + t)},{sensor},{1e-6 + 0.01 * math.exp(-(((t - peak) / 1000) ** 2) / 2):.6g}\n"
                for t in range(first, last, 120)
                for sensor in sensors
            )
        )
        service.settle()
        return [incident["state"] for incident in service.get("/v1/incidents")["incidents"]]

    river = RIVER.replace(", time_s: [-40000, 40000]", "")
    with serve(folder, environment=environment, river=river) as service:
        assert send(0, 26000, 28000) == ["open"]
    set_clock("+365d")
    with service:
        far = stamp(now + 200 * 86400)
        told = service.post(f"time,sensor,concentration_g_m3\n{far},s2,0.00001\n{far},s1,0.00001\n")
        service.settle()
        assert told["accepted"] == 2 and service.get("/v1/incidents")["incidents"][0]["state"] == "open"
    set_clock("+0")
    with service:
        assert send(26000, 32000, 28000) == ["open"]
        assert send(32000, 90000, 28000) == ["closed"]  # the pulse has passed
        assert send(90000, 240000, 230000, ("s1", "s2")) == ["open", "closed"]  # and another comes
    set_clock("+240h")
    with service:  # a long pause, and still the same time: it may end what it ends, but for the first hour
        assert service.post(dated(10, seconds=1))["accepted"] == 1
        service.settle()
        assert service.get("/v1/incidents")["incidents"][0]["state"] == "open"
    set_clock("+242h")
    with service:
        assert service.post(dated(10, seconds=7200))["accepted"] == 1
        service.settle()
        assert service.get("/v1/incidents")["incidents"][0]["state"] == "closed"


def main():
    claims = {name: claim for name, claim in globals().items() if name.startswith("test_")}
    sys.exit(bool(run_claims({name: claims[name] for name in sys.argv[2:] or claims})))


main()
