"""The service against those who mean it ill, or are broken in a way that looks like it: hostile.py HEADWATER [TEST...]"""
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from broker import Broker, Publisher  # noqa: E402
from serving import Service, run_claims  # noqa: E402

HEADWATER = sys.argv[1]


def serve(folder, *options, **more):
    return Service(HEADWATER, folder, "--method", "atgd", *options, **more)


def wait_for(condition, seconds=15):
    until = time.time() + seconds
    while time.time() < until and not condition():
        time.sleep(0.05)
    return condition()


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


def main():
    claims = {name: claim for name, claim in globals().items() if name.startswith("test_")}
    sys.exit(bool(run_claims({name: claims[name] for name in sys.argv[2:] or claims})))


main()
