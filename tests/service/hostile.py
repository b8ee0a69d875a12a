"""The service against those who mean it ill, or are broken in a way that looks like it: hostile.py HEADWATER [TEST...]"""
import contextlib
import os
import select
import shutil
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from broker import Broker, Publisher  # noqa: E402
from serving import Service, run_claims  # noqa: E402

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
            bad = [("headwater/demo/s1", "x" * 70000), ("headwater/demo/s1", "x" * 3000000), ("headwater/demo/" + "s" * 300, "1 1"), ("headwater/" + "r" * 60000 + "/s1", "1 1"),
                   ("headwater/demo/s1", "[" * 60000), ("headwater/demo/s1", '{"sensor":' * 5000)]
            Publisher(broker.port).publish([*bad, ("headwater/demo/s1", "0.00001 300"), *bad, ("headwater/demo/s1", "0.00001 600")])
            assert wait_for(lambda: service.metric("headwater_log_records") == 2), open(os.path.join(folder, "log")).read()[-2000:]
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
        for host in ("127.evil.com", f"127.0.0.1.evil.com:{port}", "localhost:1.evil.com", "[::1].evil.com", "127.0.0.1@evil.com"):
            for headers in ({"Host": host}, {"Host": host, "Origin": "http://" + host}):
                assert service.request("/v1/rivers", headers=headers)[0] in (400, 403), headers
                assert service.request("/v1/incidents", '{"river": "demo"}', headers=headers, method="POST")[0] in (400, 403), headers
                assert service.request("/v1/readings?river=demo", "time_s,sensor,concentration_g_m3\n1,s1,0\n", {**headers, "Content-Type": "text/csv"})[0] in (400, 403), headers
        for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "localhost"):
            assert service.request("/v1/rivers", headers={"Host": host, "Origin": "http://" + host})[0] == 200, host
            assert service.request("/v1/rivers", headers={"Host": host, "Origin": f"http://{host}.evil.com"})[0] == 403, host
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


def main():
    claims = {name: claim for name, claim in globals().items() if name.startswith("test_")}
    sys.exit(bool(run_claims({name: claims[name] for name in sys.argv[2:] or claims})))


main()
