"""The service as a whole, driven from outside: whole.py HEADWATER [all | TEST...]

On PostgreSQL (postgres.py) those that say nothing of the store are left out unless asked for."""
import hashlib
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from broker import Broker, Publisher  # noqa: E402
from serving import (
    FORKED,
    POSTGRES,
    RIVER,
    Service,
    certificate,
    execute,
    held,
    receiver,
    rows,
    run_claims,
    spill,
)  # noqa: E402

HEADWATER = sys.argv[1]


def serve(folder, *options, **more):
    return Service(HEADWATER, folder, "--method", "atgd", "--quiet", "7200", *options, **more)


def worked_out(db):
    """Everything that must be the same however often the service was stopped."""
    return (
        rows(
            db,
            "SELECT id, river, sensor, method, opened_s, onset_s, from_s, origin_s, closed_seq, closed_s, reason FROM "
            "incidents ORDER BY id",
        ),
        rows(
            db,
            "SELECT incident, seq, mass_g, location_m, time_s, mass_lo, mass_hi, location_lo, location_hi FROM "
            "estimates AS e "
            "WHERE seq = (SELECT max(seq) FROM estimates WHERE incident = e.incident) ORDER BY incident",
        ),
    )


def test_a_spill_opens_an_incident_that_identify_agrees_with(folder):
    with serve(folder) as service:
        lines = spill(HEADWATER, service.river).splitlines()
        # One that comes late, in the middle of the pulse, from long before the lead-in: stored, no part of the
        # incident.
        readings = "\n".join([*lines[:120], "-90000,s1,0.5", *lines[120:]]) + "\n"
        answer = service.post(readings)
        assert answer["accepted"] == readings.count("\n") - 1 and not answer["rejected"], answer
        service.settle()
        incidents = service.get("/v1/incidents")["incidents"]
        assert [i["state"] for i in incidents] == ["closed"], incidents
        incident = service.get(f"/v1/incidents/{incidents[0]['id']}")
        assert incident["close_reason"] == "passed"
        # Every reading from the opening to the closing moved the estimate, and what it moved it to is stored.
        first, last = incident["history"][0]["seq"], incident["history"][-1]["seq"]
        moved = [
            r[0]
            for r in rows(
                service.db,
                f"SELECT seq FROM readings WHERE seq BETWEEN {incident['id']} AND {last} AND time_s >= "
                f"{incident['from_s']} ORDER BY seq",
            )
        ]
        assert [h["seq"] for h in incident["history"]] == moved and first == incident["id"] and len(moved) > 60, (
            len(incident["history"]),
            len(moved),
        )
        export = service.request(f"/v1/incidents/{incident['id']}/readings")[1]
        assert "-90000" not in export
        path = os.path.join(folder, "export.csv")
        open(path, "w").write(export)
        told = json.loads(
            subprocess.run(
                [HEADWATER, "identify", service.river, path, "--method", "atgd", "--format", "json"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        assert told["estimate"] == incident["estimate"] and told["interval"] == incident["interval"], (told, incident)
        assert service.post(readings)["duplicates"] == answer["accepted"]
        for name in ("json", "csv", "geojson"):
            assert service.request(f"/v1/incidents/{incident['id']}/export?format={name}")[0] == 200


def test_restart_comes_back_to_the_same_bits(folder):
    """Stopped after every tenth of the readings, half of the times by kill -9."""
    lines = spill(HEADWATER, serve(folder).river).splitlines()
    header, body = lines[0], lines[1:]
    once, often = os.path.join(folder, "once"), os.path.join(folder, "often")
    os.mkdir(once), os.mkdir(often)
    with serve(once) as service:
        for at in range(0, len(body), 4):
            service.post("\n".join([header, *body[at : at + 4]]))
        service.settle()
        db = service.db
    expected = worked_out(db)
    service = serve(often)
    for tenth in range(10):
        service.start()
        for at in range(tenth * len(body) // 10 // 4 * 4, (tenth + 1) * len(body) // 10, 4):
            service.post("\n".join([header, *body[at : at + 4]]))
        service.kill() if tenth % 2 else service.stop()
    service.start().settle()
    service.stop()
    assert worked_out(service.db) == expected, (worked_out(service.db), expected)
    assert rows(service.db, "SELECT count(*) FROM readings") == [(len(body),)]


# A database as 0.1.0 left it.
FORMER = """CREATE TABLE former(incident BIGINT NOT NULL, seq BIGINT NOT NULL, reading_s DOUBLE PRECISION NOT NULL,
 readings BIGINT NOT NULL, provisional BIGINT NOT NULL, has_interval BIGINT NOT NULL,
 mass_g DOUBLE PRECISION NOT NULL, location_m DOUBLE PRECISION NOT NULL, time_s DOUBLE PRECISION NOT NULL,
 mass_lo DOUBLE PRECISION, mass_hi DOUBLE PRECISION, location_lo DOUBLE PRECISION, location_hi DOUBLE PRECISION,
 time_lo DOUBLE PRECISION, time_hi DOUBLE PRECISION, PRIMARY KEY(incident, seq));
INSERT INTO former SELECT incident, seq, reading_s, readings, provisional, has_interval, 37.5, location_m, time_s,
 mass_lo, mass_hi, location_lo, location_hi, time_lo, time_hi FROM estimates;
DROP TABLE estimates; ALTER TABLE former RENAME TO estimates; ALTER TABLE incidents DROP COLUMN engine;
CREATE TABLE only_sensors(key BIGINT PRIMARY KEY, river BIGINT NOT NULL, id TEXT NOT NULL, UNIQUE(river, id));
INSERT INTO only_sensors SELECT key, river, id FROM sensors; DROP TABLE sensors;
ALTER TABLE only_sensors RENAME TO sensors;
ALTER TABLE commands DROP COLUMN note;
ALTER TABLE readings DROP COLUMN sum; ALTER TABLE commands DROP COLUMN sum; DROP TABLE marks; DROP TABLE faults;
"""


def test_open_incidents_of_a_former_engine_are_worked_again(folder):
    service = serve(folder).start()
    lines = spill(HEADWATER, service.river).splitlines()
    service.post("\n".join(lines))
    later = [f"{200000 + float(line.split(',')[0])},{line.split(',', 1)[1]}" for line in lines[1:101]]
    service.post("\n".join([lines[0], *later]))
    service.settle()
    running, ended = service.get("/v1/incidents")["incidents"]
    assert running["state"] == "open" and ended["state"] == "closed"
    before = [service.get(f"/v1/incidents/{i['id']}")["history"] for i in (running, ended)]
    service.stop()
    execute(service.db, FORMER + ("UPDATE schema_version SET version = 3" if POSTGRES else "PRAGMA user_version = 3"))
    service.start().settle()
    after = [service.get(f"/v1/incidents/{i['id']}")["history"] for i in (running, ended)]
    assert after[0][-1] == before[0][-1] and not any(h["mass_g"] == 37.5 for h in after[0]), after[0][-1]
    assert len(after[1]) == len(before[1]) and all(h["mass_g"] == 37.5 and h["trust"] is None for h in after[1])
    assert service.get(f"/v1/incidents/{ended['id']}")["estimate"] == ended["estimate"]  # its result stays readable
    told = [e for e in service.get("/v1/events")["events"] if e["kind"] == "incident_reworked"]
    assert [(e["incident"], e["body"]["former_engine"]) for e in told] == [(running["id"], 1)], told
    service.stop()
    service.start().settle()
    assert [e["kind"] for e in service.get("/v1/events")["events"]].count("incident_reworked") == 1
    service.stop()


def test_readings_at_or_above_a_limit_are_kept_as_such(folder):
    with serve(folder) as service:
        answer = service.post("time_s,sensor,concentration_g_m3\n300,s1,>0.3\n600,s1,<0.02\n")
        assert answer["accepted"] == 2, answer
        assert service.post("time_s,sensor,concentration_g_m3\n300,s1,>0.3\n300,s1,0.3\n")["duplicates"] == 1
        assert (
            service.post(
                '[{"sensor": "s2", "time_s": 300, "concentration_g_m3": 0.37, "above_limit": true}]',
                kind="application/json",
            )["accepted"]
            == 1
        )
        assert (
            service.post(
                "water,sensor=s2 concentration_g_m3=0.4,below_limit=true,above_limit=true 1600000000000000000",
                kind="text/plain",
            )["accepted"]
            == 0
        )
        service.settle()
        readings = service.get("/v1/rivers/demo/readings?sensor=s1")["readings"]
        assert [(r["concentration_g_m3"], r["below_limit"], r["above_limit"]) for r in readings] == [
            (0.3, False, True),
            (0.02, True, False),
        ], readings
        assert rows(service.db, "SELECT below FROM readings ORDER BY seq") == [(2,), (1,), (2,)]


GAUGED = RIVER + "gauges:\n  - {id: g1, location_m: -6000}\n  - {id: s2, location_m: 7000}\n"


def rising(first, last, step=1800):
    """(time, m3/s) of a flood that triples the 72 m3/s of the river file within five hours."""
    return [(t, 72 * (1 + 2 * min(max(t - 7200, 0) / 18000, 1))) for t in range(first, last, step)]


def spill_in(folder, flow):
    """Readings of a release into this flow, and the river that knows it from a file."""
    path, knows = os.path.join(folder, "flow.csv"), os.path.join(folder, "knows.yaml")
    with open(path, "w") as out:
        out.write("time_s,gauge,discharge_m3_s\n" + "".join(f"{t},g1,{q}\n" for t, q in flow))
    with open(knows, "w") as out:
        out.write(GAUGED + "flow: flow.csv\n")
    return spill(HEADWATER, knows, last=30000), knows


def test_discharges_of_gauges_tell_the_engine_of_the_flow(folder):
    """Sent rather than read from a file, before and amid the readings, they lead to the same answer."""
    flow = rising(-18000, 30000)
    readings, knows = spill_in(folder, flow)
    told = [(t, f"{t},,g1,,{q}") for t, q in flow]
    measured = [
        (float(line.split(",")[0]), "{},{},,{},".format(*line.split(","))) for line in readings.splitlines()[1:]
    ]
    body = "time_s,sensor,gauge,concentration_g_m3,discharge_m3_s\n" + "\n".join(
        text for _, text in sorted(told + measured)
    )
    with serve(folder, river=GAUGED) as service:
        answer = service.post(body)
        assert answer["accepted"] == len(told) + len(measured) and not answer["rejected"], answer
        service.settle()
        incident = service.get("/v1/incidents")["incidents"][0]
        half = service.get(f"/v1/incidents/{incident['id']}")["history"]
        assert len(half) > 60
        readings_path, flow_path = os.path.join(folder, "export.csv"), os.path.join(folder, "flow.csv")
        for path, kind in ((readings_path, "csv"), (flow_path, "flow")):
            status, text, _ = service.request(f"/v1/incidents/{incident['id']}/export?format={kind}")
            assert status == 200
            open(path, "w").write(text)
        assert open(flow_path).readline() == "time_s,gauge,discharge_m3_s\n"
        from_file = json.loads(
            subprocess.run(
                [HEADWATER, "identify", knows, readings_path, "--method", "atgd", "--format", "json"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        assert from_file["estimate"] == incident["estimate"], (from_file["estimate"], incident["estimate"])
        unaware = json.loads(
            subprocess.run(
                [HEADWATER, "identify", service.river, readings_path, "--method", "atgd", "--format", "json"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        assert (
            abs(incident["estimate"]["location_m"] + 12000) < 1500 < abs(unaware["estimate"]["location_m"] + 12000)
        ), (incident["estimate"], unaware["estimate"])
        before = worked_out(service.db)
        service.kill()
        service.start().settle()
        assert worked_out(service.db) == before
        assert service.get("/v1/rivers/demo")["gauges"][0] == {"id": "g1", "location_m": -6000, "branch": None}
        last = service.get("/v1/rivers/demo/readings?gauge=g1&limit=1")["readings"]
        assert last[0]["discharge_m3_s"] == flow[-1][1] and last[0]["gauge"] == "g1", last


def test_discharges_come_through_every_door(folder):
    path = os.path.join(folder, "tape.csv")
    open(path, "w").write("time_s,gauge,discharge_m3_s\n10,g1,70.5\n20,g1,71.5\n")
    bodies = {
        "text/csv": "time_s,sensor,discharge_m3_s\n30,s2,72.5\n",
        "application/x-ndjson": '{"time_s": 40, "gauge": "g1", "discharge_m3_s": 73.5}\n',
        "application/json": '[{"time_min": 1, "gauge": "g1", "discharge_m3_s": "74.5"},'
        ' {"time_s": 61, "gauge": "g1", "discharge_m3_s": -3}]',
        "text/plain": "flow,gauge=g1 discharge_m3_s=75.5 70000000000\n",
    }
    if not shutil.which("mosquitto"):
        print("  (no mosquitto here: left out)")
        return
    with Broker(folder) as broker, serve(
        folder, "--replay", path, "--mqtt", f"127.0.0.1:{broker.port}", river=GAUGED
    ) as service:
        for kind, body in bodies.items():
            answer = service.post(body, kind=kind)
            assert kind == "text/plain" or answer["accepted"] == 1, (
                kind,
                answer,
            )  # of plain seconds line protocol knows none
            assert (
                kind != "application/json"
                or "discharge -3 m3/s, expected a positive number" in answer["rejected"][0]["reason"]
            ), answer
        publisher = Publisher(broker.port)
        publisher.publish(
            [("headwater/demo/g1", "76.5 80"), ("headwater/demo/s2", '{"time_s": 90, "discharge_m3_s": 77.5}')]
        )
        until = time.time() + 20
        while time.time() < until and len(rows(service.db, "SELECT 1 FROM readings WHERE below = 3")) < 7:
            time.sleep(0.1)
        stored = [
            r[0] for r in rows(service.db, "SELECT concentration_g_m3 FROM readings WHERE below = 3 ORDER BY time_s")
        ]
        assert stored == [70.5, 71.5, 72.5, 73.5, 74.5, 76.5, 77.5], stored
        assert not rows(service.db, "SELECT 1 FROM readings WHERE below <> 3")
        assert not service.post("time_s,gauge,discharge_m3_s\n1,s1,70\n")["accepted"]  # a sensor is no gauge


def test_alarms_on_one_path_are_one_incident_and_others_their_own(folder):
    """Two spills on two branches: two incidents, each answered from its own path; the sensor below both opens none."""
    service = serve(folder, river=FORKED)
    times = dict(first=0, last=43200)
    both = [
        spill(HEADWATER, service.river, source, **times).splitlines()
        for source in ("50000,stem:-30000,3600", "30000,ash:-8000,5400")
    ]
    rows_of = [[line.split(",") for line in lines[1:]] for lines in both]
    sums = {(t, s): float(c) for t, s, c in rows_of[0]}
    body = "time_s,sensor,concentration_g_m3\n"
    body += "".join(f"{t},{s},{sums[t, s] + float(c)}\n" for t, s, c in rows_of[1] if (t, s) in sums)
    with service:
        service.post(body)
        service.settle()
        incidents = {i["sensor"]: i for i in service.get("/v1/incidents")["incidents"]}
        assert set(incidents) == {"up", "side"}, list(incidents)
        for sensor, branch, other in (("up", "stem", "side"), ("side", "ash", "up")):
            incident = incidents[sensor]
            assert incident["estimate"]["branch"] == branch, incident["estimate"]
            seen = service.request(f"/v1/incidents/{incident['id']}/readings")[1]
            assert f",{sensor}," in seen and ",low," in seen and f",{other}," not in seen
        before = worked_out(service.db)
        service.kill()
        service.start().settle()
        assert worked_out(service.db) == before


def test_the_stream_resumes_where_it_was(folder):
    def read(service, last, seconds=1.5):
        request = (
            "GET /v1/stream HTTP/1.1\r\nHost: localhost\r\n" + (f"Last-Event-ID: {last}\r\n" if last else "") + "\r\n"
        )
        with socket.create_connection(("127.0.0.1", int(service.address.rsplit(":", 1)[1]))) as s:
            s.sendall(request.encode())
            s.settimeout(seconds)
            data = b""
            try:
                while chunk := s.recv(65536):
                    data += chunk
            except TimeoutError:
                pass
        text = data.decode()
        return [line[4:] for line in text.splitlines() if line.startswith("id: ")], text

    service = serve(folder).start()
    lines = spill(HEADWATER, service.river).splitlines()
    service.post("\n".join(lines[:100]))
    service.settle()
    ids, text = read(service, "0-0")
    assert text.count("event: reading") == 99 and "event: incident_opened" in text and "event: estimate" in text
    service.kill()
    service.start()
    service.post("\n".join([lines[0], *lines[100:110]]))
    service.settle()
    ids, text = read(service, ids[-1])
    assert text.count("event: reading") == 10, text
    assert "event: incident_opened" not in text
    service.stop()


def test_incidents_open_and_close_by_hand(folder):
    with serve(folder) as service:
        service.post("time_s,sensor,concentration_g_m3\n" + "".join(f"{300 * i},s1,0.00001\n" for i in range(20)))
        status, text, _ = service.request("/v1/incidents", '{"river": "demo", "method": "tgd"}', method="POST")
        assert status == 201, text
        opened = json.loads(text)
        assert opened["state"] == "open" and opened["sensor"] is None and opened["method"] == "tgd"
        service.post("time_s,sensor,concentration_g_m3\n9000,s1,0.01\n9300,s1,0.02\n")
        service.settle()
        incident = service.get(f"/v1/incidents/{opened['id']}")
        assert incident["readings"] > 2, incident
        assert service.request(f"/v1/incidents/{opened['id']}/close", "", method="POST")[0] == 200
        assert service.request(f"/v1/incidents/{opened['id']}/close", "", method="POST")[0] == 404
        assert service.request("/v1/incidents", '{"river": "nowhere"}', method="POST")[0] == 404
        assert service.request("/v1/incidents", '{"river": "demo", "method": "x"}', method="POST")[0] == 400
        assert service.request("/v1/incidents", "not json", method="POST")[0] == 400


def test_calendar_rivers_have_dates(folder):
    with serve(folder) as service:
        service.post(
            '{"sensor": "s1", "time": "2020-03-01T09:15:00+01:00", "concentration_mg_l": "<0.02"}\n',
            kind="application/x-ndjson",
        )
        service.settle()
        river = service.get("/v1/rivers/demo")
        assert river["time_base"] == "calendar" and river["sensors"][0]["latest"] == "2020-03-01T08:15:00Z", river
        answer = service.post("time_s,sensor,concentration_g_m3\n1,s1,0\n")
        assert answer["rejected"][0]["fate"] == "time_base", answer
        answer = service.post("time,sensor,concentration_g_m3\n2199-03-01T08:15:00Z,s1,0\n")
        assert answer["rejected"][0]["fate"] == "future", answer


def documented(heading, word):
    """A command of docs/operations.md, as it stands there."""
    text = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/operations.md")).read()
    return next(line for line in text.split(f"## {heading}")[1].splitlines() if line.startswith(word))


def test_a_river_in_the_wrong_time_can_begin_anew(folder):
    right = "time,sensor,concentration_g_m3\n2020-03-01T08:15:00Z,s1,0\n2020-03-01T08:20:00Z,s2,0\n"
    with serve(folder) as service:
        assert service.post("time_s,sensor,concentration_g_m3\n1,s1,0\n")["accepted"] == 1  # a stray row
        refused = service.post(right)
        assert (
            refused["rejected_count"] == 2 and "first reading was in plain seconds" in refused["rejected"][0]["reason"]
        ), refused
        service.settle()
    sql = documented("A river in the wrong time", "sqlite3").split('"')[1]
    execute(service.db, sql)
    with service:
        assert service.post(right)["accepted"] == 2
        service.settle()
        river = service.get("/v1/rivers/demo")
        assert river["time_base"] == "calendar" and river["sensors"][0]["readings"] == 1, river
        refused = service.post("time_s,sensor,concentration_g_m3\n1,s1,0\n")
        assert "first reading had a date" in refused["rejected"][0]["reason"], refused


def test_limits_and_refusals(folder):
    with serve(folder, "--body-limit", "20000", "--rate", "25") as service:
        assert service.request("/v1/readings", "x" * 30000, {"Content-Type": "text/csv"})[0] == 413
        assert service.request("/v1/readings", "x", {"Content-Type": "image/png"})[0] == 415
        assert service.request("/v1/readings?river=none", "x", {"Content-Type": "text/csv"})[0] == 404
        assert service.post("1,2\n")["rejected_count"] == 1
        assert service.request("/v1/nothing")[0] == 404
        assert service.request("/v1/readings")[0] == 405
        assert service.request("/v1/incidents/1%20OR%201=1")[0] == 404
        assert service.request("/v1/incidents?river=x'%20OR%20'1'='1")[0] == 404
        assert service.request("/../../etc/passwd")[0] == 404
        assert service.request("/%2e%2e/%2e%2e/etc/passwd")[0] == 404
        assert service.request("/v1/rivers", headers={"Host": "evil.example"})[0] == 403
        assert service.request("/v1/rivers", headers={"Origin": "http://evil.example"})[0] == 403
        status, text, headers = service.request("/")
        assert (
            status == 200
            and "default-src 'none'" in headers["Content-Security-Policy"]
            and headers["X-Content-Type-Options"] == "nosniff"
        )
        codes = [service.request("/healthz")[0] for _ in range(200)]
        assert 429 in codes, "no rate limit"


def test_tokens_have_roles(folder):
    tokens = {"read": "alpha", "ingest": "beta", "admin": "gamma"}
    path = os.path.join(folder, "tokens")
    with open(path, "w") as out:
        for role, token in tokens.items():
            out.write(f"{role} {hashlib.sha256(token.encode()).hexdigest()}  # {role}\n")
    with serve(folder, "--token-file", path) as service:

        def code(route, token, **more):
            return service.request(
                route, headers={"Authorization": f"Bearer {token}", **more.pop("headers", {})} if token else {}, **more
            )[0]

        assert code("/healthz", None) == 200
        assert code("/v1/rivers", None) == 401 and code("/v1/rivers", "wrong") == 401
        assert code("/v1/rivers", "alpha") == 200 and code("/v1/rivers", "beta") == 403
        csv = "time_s,sensor,concentration_g_m3\n1,s1,0\n"
        assert code("/v1/readings", "alpha", body=csv, headers={"Content-Type": "text/csv"}) == 403
        assert code("/v1/readings", "beta", body=csv, headers={"Content-Type": "text/csv"}) == 200
        assert code("/v1/incidents", "beta", body='{"river": "demo"}') == 403
        assert code("/v1/incidents", "gamma", body='{"river": "demo"}') == 201
        status, _, headers = service.request("/v1/session", "", {"Authorization": "Bearer alpha"})
        assert status == 200 and "HttpOnly" in headers["Set-Cookie"] and "SameSite=Strict" in headers["Set-Cookie"]
        assert service.request("/v1/rivers", headers={"Cookie": "headwater=alpha"})[0] == 200
        assert service.request("/v1/incidents", '{"river": "demo"}', {"Cookie": "headwater=gamma"})[0] in (401, 403)
    assert b"alpha" not in open(path, "rb").read()


def test_a_withdrawn_token_counts_no_longer_after_a_hangup(folder):
    line = lambda token: f"read {hashlib.sha256(token.encode()).hexdigest()}\n"  # noqa: E731
    path = os.path.join(folder, "tokens")
    open(path, "w").write(line("alpha"))

    def reload(service, text, word):
        open(path, "w").write(text)
        before = open(os.path.join(folder, "log")).read().count(word)
        service.process.send_signal(signal.SIGHUP)
        until = time.time() + 10
        while time.time() < until and open(os.path.join(folder, "log")).read().count(word) == before:
            time.sleep(0.02)

    with serve(folder, "--token-file", path) as service:
        code = lambda token: service.request("/v1/rivers", headers={"Authorization": f"Bearer {token}"})[
            0
        ]  # noqa: E731
        assert (code("alpha"), code("beta")) == (200, 401)
        with socket.create_connection(("127.0.0.1", int(service.address.rsplit(":", 1)[1]))) as stream:
            stream.sendall(b"GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer alpha\r\n\r\n")
            stream.settimeout(10)
            heard = b""
            while b"hello" not in heard:
                heard += stream.recv(65536)
            reload(service, line("beta"), "tokens_reloaded")
            while not heard.endswith(b"\r\n0\r\n\r\n"):  # its last chunk, within the time above
                heard += stream.recv(65536)
        assert (code("alpha"), code("beta")) == (401, 200)
        reload(service, "not a token\n", "tokens_not_reloaded")
        assert (code("alpha"), code("beta")) == (401, 200)
        assert service.stop() == 0


def test_other_machines_need_tokens(folder):
    service = serve(folder)
    run = subprocess.run(
        [HEADWATER, "serve", service.river, "--listen", "0.0.0.0:0", "--db", service.db], capture_output=True, text=True
    )
    assert run.returncode == 2 and "--token-file" in run.stderr, run
    run = subprocess.run([HEADWATER, "serve", service.river, "--listen", "nonsense"], capture_output=True, text=True)
    assert run.returncode == 2, run
    run = subprocess.run([HEADWATER, "serve", os.path.join(folder, "absent.yaml")], capture_output=True, text=True)
    assert run.returncode == 1 and run.stderr.count("\n") == 1, run


def test_tls_serves_https(folder):
    made = certificate(folder, "localhost")
    if not made:
        print("  (no openssl program here: left out)")
        return
    with serve(folder, "--tls-cert", made[0], "--tls-key", made[1]) as service:
        assert service.address.startswith("https://")
        run = subprocess.run(["curl", "-fsSk", service.address + "/healthz"], capture_output=True, text=True)
        assert run.returncode == 0 and '"ok"' in run.stdout, run


def test_an_encrypted_broker_is_verified_and_given_the_password(folder):
    if not shutil.which("mosquitto") or not certificate(folder, "authority"):
        print("  (no mosquitto or openssl program here: left out)")
        return
    authority, key = certificate(folder, "authority")
    cert, cert_key = certificate(
        folder, "broker", "-CA", authority, "-CAkey", key, "-addext", "subjectAltName=DNS:localhost"
    )
    passwords = os.path.join(folder, "passwords")
    subprocess.run(
        ["mosquitto_passwd", "-c", "-b", passwords, "gauge", "correct horse"], check=True, capture_output=True
    )
    broker = Broker(
        folder,
        more=f"cafile {authority}\ncertfile {cert}\nkeyfile {cert_key}\n"
        f"allow_anonymous false\npassword_file {passwords}\n",
    )
    address, secret = f"mqtts://localhost:{broker.port}", {
        "HEADWATER_MQTT_USER": "gauge",
        "HEADWATER_MQTT_PASSWORD": "correct horse",
    }

    def connects(service, expected):
        until = time.time() + 10
        while time.time() < until:
            log = open(os.path.join(folder, "log")).read()
            if expected in log:
                break
            time.sleep(0.05)
        assert expected in log and "correct horse" not in log, (expected, log[-2000:])
        return service

    with broker:
        # Nobody vouches for it; or not under that name; or the password is missing: no connection, and the log says
        # why.
        with serve(folder, "--mqtt", address) as service:
            connects(service, "certificate")
        with serve(folder, "--mqtt", address.replace("localhost", "127.0.0.1"), "--mqtt-ca", authority) as service:
            connects(service, "does not match")
        with serve(folder, "--mqtt", address, "--mqtt-ca", authority) as service:
            connects(service, "mqtt_refused")
        with serve(folder, "--mqtt", address, "--mqtt-ca", authority, environment=secret) as service:
            connects(service, "mqtt_connected")
            assert b"correct" not in open(f"/proc/{service.process.pid}/cmdline", "rb").read()
            time.sleep(0.3)  # subscribed
            publisher = Publisher(broker.port, ssl.create_default_context(cafile=authority), "gauge", "correct horse")
            publisher.publish([("headwater/demo/s1", f"0.00001 {i}") for i in range(300)])
            until = time.time() + 20
            while time.time() < until and service.metric("headwater_log_records") < 300:
                time.sleep(0.1)
            assert service.metric("headwater_log_records") == 300 == service.metric("headwater_mqtt_acknowledged_total")
    for options, sentence in (
        (["--mqtt", "mqtts://gauge:secret@localhost"], "--mqtt-credentials"),
        (["--mqtt", "localhost:1883", "--mqtt-ca", authority], "--mqtt-ca"),
        (["--mqtt", "nowhere"], "--mqtt"),
    ):
        run = subprocess.run(
            [HEADWATER, "serve", service.river, "--listen", "127.0.0.1:0", "--db", service.db, *options],
            capture_output=True,
            text=True,
        )
        assert run.returncode == 2 and sentence in run.stderr and "secret" not in run.stderr, run


def test_places_lie_on_the_centreline(folder):
    line = {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "properties": {"from_m": -20000, "to_m": 0},
                "geometry": {"type": "LineString", "coordinates": [[7, 50], [7, 50.2]]},
            },
            {
                "type": "Feature",
                "properties": {"to_m": 20000},
                "geometry": {
                    "type": "MultiLineString",
                    "coordinates": [[[7, 50.2], [7.1, 50.2]], [[7.1, 50.2], [7.2, 50.2]]],
                },
            },
        ],
    }
    path = os.path.join(folder, "line.geojson")
    json.dump(line, open(path, "w"))
    with serve(folder, river=RIVER + "centerline: line.geojson\n") as service:
        service.post(spill(HEADWATER, service.river))
        service.settle()
        drawn = service.get("/v1/rivers/demo/centerline")
        assert drawn["geometry"]["coordinates"] == [[7, 50], [7, 50.2], [7.1, 50.2], [7.2, 50.2]], drawn
        assert drawn["properties"]["at_m"][0] == -20000 and abs(drawn["properties"]["at_m"][2] - 10000) < 1, drawn
        incident = service.get("/v1/incidents")["incidents"][0]
        status, text, headers = service.request(f"/v1/incidents/{incident['id']}/export?format=geojson")
        assert status == 200 and headers["Content-Type"] == "application/geo+json"
        found = {f["properties"]["kind"]: f for f in json.loads(text)["features"]}
        assert (
            found["sensor"]["geometry"]["type"] == "Point"
            and abs(found["intake"]["geometry"]["coordinates"][0] - 7.15) < 1e-6
        ), found
        latitude = 50 + 0.2 * (incident["estimate"]["location_m"] + 20000) / 20000
        assert abs(found["source"]["geometry"]["coordinates"][1] - latitude) < 1e-6, found["source"]
        assert found["source_interval"]["geometry"]["type"] == "LineString"
        assert {f["properties"]["kind"] for f in service.get("/v1/rivers/demo/places")["features"]} == {
            "river",
            "sensor",
            "candidate",
            "intake",
        }
    json.dump({"type": "Point", "coordinates": [7, 50]}, open(path, "w"))
    run = subprocess.run([HEADWATER, "serve", service.river, "--db", service.db], capture_output=True, text=True)
    assert run.returncode == 1 and run.stderr.count("\n") == 1 and "expected a LineString" in run.stderr, run
    os.remove(path)
    run = subprocess.run([HEADWATER, "serve", service.river, "--db", service.db], capture_output=True, text=True)
    assert run.returncode == 1 and "line.geojson" in run.stderr, run


def test_replay_plays_a_spill(folder):
    path = os.path.join(folder, "readings.csv")
    open(path, "w").write(spill(HEADWATER, serve(folder).river, last=30000))
    with serve(folder, "--replay", path, "--speed", "20000") as service:
        until = time.time() + 20
        while time.time() < until and not service.get("/v1/incidents")["incidents"]:
            time.sleep(0.1)
        assert service.get("/v1/incidents?state=open")["incidents"], "no incident from the replay"


def test_hooks_are_told_once_per_event(folder):
    told, program = os.path.join(folder, "told"), os.path.join(folder, "hook")
    with open(program, "w") as out:
        out.write(f"#!/bin/sh\ncat >>{told}; echo >>{told}\n")
    os.chmod(program, 0o755)
    with receiver(first=500) as (url, received):  # at first it is not ready
        service = Service(HEADWATER, folder, "--quiet", "7200", "--webhook", url, "--command", program)
        with service:
            service.post(spill(HEADWATER, service.river))
            service.settle()
            until = time.time() + 20
            while time.time() < until and service.metric("headwater_hooks_total") < 2 * len(
                service.get("/v1/events")["events"]
            ):
                time.sleep(0.1)
            time.sleep(0.2)
        with service:
            time.sleep(0.5)  # nothing is told again
    kinds = [event["kind"] for event in received]
    assert sorted(k for k in kinds[1:] if not k.endswith("_changed")) == [
        "candidate",
        "incident_closed",
        "incident_opened",
        "intake_alarm",
    ], kinds
    alarm = next(event["body"] for event in received if event["kind"] == "intake_alarm")
    assert (
        alarm["sentence"].startswith("Town intake: close from ")
        and alarm["from_s"] < alarm["first_s"] < alarm["last_s"] < alarm["until_s"]
    ), alarm
    assert (
        alarm["trust"] == ("provisional" if alarm["provisional"] else "full")
        and ("; provisional." in alarm["sentence"]) == alarm["provisional"]
    ), alarm
    assert kinds[0] == kinds[1] and received[0]["id"] == received[1]["id"]
    assert [json.loads(line)["id"] for line in open(told)] == [event["id"] for event in received[1:]]
    run = subprocess.run(
        [
            HEADWATER,
            "serve",
            service.river,
            "--webhook",
            "file:///etc/passwd",
            "--db",
            service.db,
            "--listen",
            "127.0.0.1:0",
        ],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 2 and "--webhook" in run.stderr, run


def test_a_sensor_that_stops_is_told_once_and_once_more_when_it_is_back(folder):
    told, program = os.path.join(folder, "told"), os.path.join(folder, "hook")
    with open(program, "w") as out:
        out.write(f"#!/bin/sh\ncat >>{told}; echo >>{told}\n")
    os.chmod(program, 0o755)
    rows_of = lambda sensor, first, last: "".join(
        f"{t},{sensor},0.00001\n" for t in range(first, last, 300)
    )  # noqa: E731
    header = "time_s,sensor,concentration_g_m3\n"

    def kinds(service):
        return [(e["kind"], e["subject"]) for e in service.get("/v1/events")["events"]]

    def wait_for(service, expected):
        until = time.time() + 15
        while time.time() < until and kinds(service) != expected:
            time.sleep(0.1)
        assert kinds(service) == expected, kinds(service)

    service = serve(folder, "--command", program)
    silent, heard = ("sensor_silent", "s1"), ("sensor_heard", "s1")
    with service:
        service.post(header + rows_of("s1", 0, 3000) + rows_of("s2", 0, 6000))
        wait_for(service, [silent])
        states = [s["state"] for s in service.get("/v1/rivers/demo")["sensors"]]
        assert states == ["silent", "quiet"], states
        event = service.get("/v1/events")["events"][0]
        assert event["river"] == "demo" and event["body"]["latest_s"] == 2700 and event["incident"] == 0, event
    service.start()
    time.sleep(2.5)  # two looks: nothing new
    assert kinds(service) == [silent], kinds(service)
    service.kill()
    with service:
        service.post(header + rows_of("s1", 6000, 6300))
        wait_for(service, [silent, heard])
        service.post(header + rows_of("s2", 6000, 12000))
        wait_for(service, [silent, heard, silent])
        said = [e["body"]["sentence"] for e in service.get("/v1/events")["events"]]
        assert said[:2] == [
            "Demo River: sensor s1 is silent, last reading 50 min before.",
            "Demo River: sensor s1 reports again.",
        ], said
        assert said[2].startswith("Demo River: sensor s1 is silent, last reading 1 h "), said
        until = time.time() + 10
        heard_of = lambda: {e["id"]: e["kind"] for e in map(json.loads, open(told))}  # noqa: E731  at least once each
        while time.time() < until and len(heard_of()) < 3:
            time.sleep(0.1)
    found = list(heard_of().values())
    assert found == ["sensor_silent", "sensor_heard", "sensor_silent"], found


def test_a_river_nobody_has_heard_of_for_days_is_silent(folder):
    """Three days pass by moving what is stored into the past; the readings came as they were taken."""
    stamp = lambda ago: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - ago))  # noqa: E731
    with serve(folder) as service:
        service.post(
            "time,sensor,concentration_g_m3\n" + "".join(f"{stamp(600 - 60 * i)},s1,0.00001\n" for i in range(10))
        )
        service.settle()
        assert service.get("/v1/rivers/demo")["sensors"][0]["state"] == "quiet"
    execute(
        service.db,
        "UPDATE readings SET time_s = time_s - 259200, received_us = received_us - 259200000000; DELETE FROM snapshots",
    )
    with service as again:
        again.settle()
        sensor = again.get("/v1/rivers/demo")["sensors"][0]
        assert sensor["state"] == "silent" and abs(sensor["age_s"] - 259200) < 3600, sensor


def age(db, days):
    """Everything stored came so many days earlier, but for the last two readings, one of them two hours ago.

    A clock that stands apart from them would be doubted.
    """
    us, last = days * 86400 * 1000000, "(SELECT max(seq) FROM readings)"
    execute(
        db,
        f"UPDATE readings SET received_us = received_us - {us} WHERE seq < {last} - 1; "
        f"UPDATE readings SET received_us = received_us - 7200000000 WHERE seq = {last} - 1; UPDATE "
        f"incidents SET opened_us = opened_us - {us}, closed_us = closed_us - {us}",
    )


def wait_until_removed(service, least):
    until = time.time() + 20
    while time.time() < until and service.metric("headwater_readings_removed_total") < least:
        time.sleep(0.1)
    return service.metric("headwater_readings_removed_total")


def test_old_readings_go_and_results_stay(folder):
    readings = None
    with serve(folder) as service:
        readings = spill(HEADWATER, service.river)
        accepted = service.post(readings)["accepted"]
        service.settle()
        before = service.get("/v1/incidents")["incidents"][0]
    age(service.db, 40)
    with serve(folder, "--keep", "41") as service:
        time.sleep(0.5)
        assert service.metric("headwater_readings_removed_total") == 0
    with serve(folder, "--keep", "30") as service:
        removed = wait_until_removed(service, accepted - 2)
        assert removed == accepted - 2, (removed, accepted)  # the last two stay
        route = f"/v1/incidents/{before['id']}"
        after = service.get(route)
        assert {k: after[k] for k in before if k != "noticed"} == {
            k: before[k] for k in before if k != "noticed"
        }, after
        assert len(after["history"]) > 10
        assert rows(service.db, "SELECT count(*) FROM events WHERE kind = 'estimate'")[0][0] <= 1
        for question in ("/readings", "/posterior", "/bulletin", "/export?format=csv"):
            status, text, _ = service.request(route + question)
            assert status == 410 and "no longer kept" in text, (question, status, text)
        assert service.request(route + "/export?format=geojson")[0] == 200
        # Sent again after that time it counts as new: docs/operations.md says so. Numbers are not given twice.
        assert service.post(readings)["accepted"] == accepted - 2
        service.settle()
        assert min(i["id"] for i in service.get("/v1/incidents")["incidents"]) == before["id"]
    run = subprocess.run(
        [HEADWATER, "serve", service.river, "--db", service.db, "--listen", "127.0.0.1:0", "--keep", "0.5"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 2 and "--keep" in run.stderr, run


def test_an_open_incident_keeps_what_it_was_worked_out_from(folder):
    """To the same bits as without --keep, stopped in between."""
    lines = spill(HEADWATER, serve(folder).river, source="50000,-12000,75600", last=130000).splitlines()
    half = len(lines) * 2 // 3  # on the pulse
    once, kept = os.path.join(folder, "once"), os.path.join(folder, "kept")
    os.mkdir(once), os.mkdir(kept)
    with serve(once) as service:
        service.post("\n".join(lines[:half]))
        service.settle()
        service.post("\n".join([lines[0], *lines[half:]]))
        service.settle()
        expected = service.db
    with serve(kept) as service:
        service.post("\n".join(lines[:half]))
        service.settle()
        assert service.get("/v1/incidents")["incidents"][0]["state"] == "open"
    age(service.db, 40)
    with serve(kept, "--keep", "30") as service:
        removed = wait_until_removed(service, 50)
        assert 50 <= removed < half - 60, (removed, half)  # those before the lead-in of six hours
        service.post("\n".join([lines[0], *lines[half:]]))
        service.settle()
        service.kill()
        service.start().settle()
        assert service.get("/v1/incidents")["incidents"][0]["state"] == "closed"
        assert worked_out(service.db) == worked_out(expected)


def test_a_million_readings_restart_within_two_seconds(folder):
    """The database is filled directly, its snapshot made by a first start."""
    with serve(folder) as service:
        service.post("time_s,sensor,concentration_g_m3\n0,s1,0\n0,s2,0\n")
        service.settle()
    execute(
        service.db,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) INSERT INTO readings "
        "SELECT i + 2, 1, 1 + i % 2, 10.0 * i, 1e-6 * (i % 7), 0, 1, NULL FROM n",
    )
    with service as again:
        again.settle(60)
    began = time.time()
    with service as again:
        took = time.time() - began
        assert again.metric("headwater_tracker_lag_records") == 0
        print(f"  {took:.2f} s to listening with {again.metric('headwater_log_records'):.0f} records")
        assert took < 2, took


def test_an_older_database_is_brought_up_to_date(folder):
    """As the first version left it: without cursors and without a word on which incidents are finished."""
    with serve(folder) as service:
        service.post(spill(HEADWATER, service.river))
        service.settle()
        before = service.get("/v1/incidents")["incidents"]
    version = (
        "UPDATE schema_version SET version = 1" if service.db.startswith("postgresql:") else "PRAGMA user_version = 1"
    )
    execute(
        service.db,
        FORMER
        + f"DROP INDEX incidents_unfinished; ALTER TABLE incidents DROP COLUMN finished; DROP TABLE cursors; {version}",
    )
    run = subprocess.run([HEADWATER, "export", "--store", service.db], capture_output=True, text=True)
    assert run.returncode == 3 and "older version" in run.stderr and run.stderr.count("\n") == 1, run
    with service as again:
        again.settle()
        told = again.get("/v1/incidents")["incidents"]
        assert [{**i, "cost": None} for i in told] == [
            {**i, "cost": None} for i in before
        ], told  # worked again: only its cost is another
    assert rows(service.db, "SELECT count(*) FROM cursors")


def test_a_database_held_by_another_refuses_and_comes_back(folder):
    with serve(folder) as service:
        csv = "time_s,sensor,concentration_g_m3\n{},s1,0\n"
        assert service.post(csv.format(1))["accepted"] == 1
        with held(service.db):
            status, text, _ = service.request("/v1/readings", csv.format(2), {"Content-Type": "text/csv"})
            assert status == 503 and "another process" in text, (status, text)
            assert service.request("/readyz")[0] == 503
        assert service.post(csv.format(2))["accepted"] == 1
        assert service.request("/readyz")[0] == 200


WITHOUT_STORE = {
    "test_limits_and_refusals",
    "test_tokens_have_roles",
    "test_a_withdrawn_token_counts_no_longer_after_a_hangup",
    "test_other_machines_need_tokens",
    "test_tls_serves_https",
    "test_an_encrypted_broker_is_verified_and_given_the_password",
    "test_places_lie_on_the_centreline",
    "test_replay_plays_a_spill",
    "test_discharges_come_through_every_door",
    "test_a_million_readings_restart_within_two_seconds",
}


def main():
    every = [name for name in globals() if name.startswith("test_")]
    chosen = sys.argv[2:] or [name for name in every if not (POSTGRES and name in WITHOUT_STORE)]
    chosen = every if chosen == ["all"] else chosen
    sys.exit(bool(run_claims({name: globals()[name] for name in chosen})))


main()
