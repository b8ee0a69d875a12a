"""What the desk needs of the service: alarms and their lives, whole exports, little to send: desk.py HEADWATER"""
import gzip
import json
import os
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serving import RIVER, Service, receiver, run_claims, spill  # noqa: E402

HEADWATER = sys.argv[1]
HOUR_S = 3600
DOUBTFUL = "velocity_m_s: {median: 1.2, factor: 1.15}, dispersion_m2_s: {median: 40, factor: 1.5},"


def post(service, path, body):
    status, text, _ = service.request(path, json.dumps(body), {"Content-Type": "application/json"})
    return status, json.loads(text)


def dated(csv, day="2026-11-17"):
    """Seconds of a day as instants."""
    lines = csv.splitlines()
    rows = ["time" + lines[0][len("time_s") :]]
    for line in lines[1:]:
        seconds, rest = line.split(",", 1)
        whole = int(float(seconds))
        rows.append(f"{day}T{whole // HOUR_S:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}Z,{rest}")
    return "\n".join(rows) + "\n"


def test_an_alarm_is_raised_acknowledged_and_closed_and_every_step_is_told(folder):
    with Service(HEADWATER, folder) as service:
        service.post(spill(HEADWATER, service.river, last=16000))
        service.settle(60)
        incident = service.get("/v1/incidents")["incidents"][0]
        path = f"/v1/incidents/{incident['id']}"
        assert {(a["kind"], a["subject"]) for a in incident["alarms"]} == {
            ("incident", ""),
            ("candidate", "mill"),
            ("intake", "town"),
        }, incident["alarms"]
        assert all(a["state"] in ("raised", "changed") and a["acknowledged"] is None for a in incident["alarms"])
        assert all(a["trust"] in ("full", "provisional") for a in incident["alarms"] if a["kind"] != "incident")

        for wrong in ({}, {"who": ""}, {"who": 7}, {"who": "x" * 81}, {"who": "A", "note": "n" * 501}, [1]):
            assert post(service, path + "/acknowledge", wrong)[0] == 400, wrong
        assert post(service, "/v1/incidents/999999/acknowledge", {"who": "A"})[0] == 404
        status, told = post(service, path + "/acknowledge", {"who": 'Ann "A"', "note": "gate shut", "subject": "town"})
        assert status == 200
        heard = {a["subject"]: a["acknowledged"] for a in told["alarms"]}
        assert heard["mill"] is None and heard[""] is None
        assert (heard["town"]["who"], heard["town"]["note"]) == ('Ann "A"', "gate shut"), heard
        post(service, path + "/acknowledge", {"who": "Ben"})
        service.request(path + "/close", "", method="POST")
        ended = service.get(path)
        assert {a["state"] for a in ended["alarms"]} == {"closed"}
        assert all(a["acknowledged"]["who"] == "Ben" for a in ended["alarms"])
        events = service.get("/v1/events")["events"]
        assert [e["kind"] for e in events if "acknowledged" in e["kind"]] == ["incident_acknowledged"] * 2
        assert all(e["body"]["sentence"].endswith(".") for e in events if e["kind"] != "incident_reworked"), events
        latest = service.get("/v1/events?latest=2")
        assert [e["id"] for e in latest["events"]] == [e["id"] for e in events[-2:]] and latest["more"]
    with service as again:  # and it is still so after a restart
        again.settle(60)
        assert again.get(path)["alarms"] == ended["alarms"]
        assert len(again.get("/v1/events")["events"]) == len(events)


# The dye works and the brewery are in doubt while the first readings rise; the whole pulse speaks for the mill and for
# a peak that the brewery can live with.
DOUBTED = RIVER.replace("intakes:", "  - {id: dye, name: Dye works, location_m: -9000}\nintakes:") + (
    "  - {id: brewery, name: Brewery, location_m: 15000, alarm_g_m3: 0.3}\n"
)


def parts_of(csv, *ends_s):
    """A record in parts, each with its head: up to the first time, up to the next, and what is left."""
    head, *lines = csv.splitlines()
    parts = [[] for _ in range(len(ends_s) + 1)]
    for line in lines:
        parts[sum(float(line.split(",")[0]) > end for end in ends_s)].append(line)
    return ["\n".join([head, *part]) + "\n" for part in parts]


def test_an_alarm_that_later_readings_take_back_is_withdrawn_and_whoever_heard_of_it_is_told(folder):
    with receiver() as (url, received):
        options = ("--webhook", url, "--intake-probability", "0.4", "--candidate-probability", "0.3")
        with Service(HEADWATER, folder, *options, river=DOUBTED) as service:
            alarms = lambda: {a["subject"]: a for a in service.get(path)["alarms"]}  # noqa: E731
            parts = parts_of(spill(HEADWATER, service.river, last=16000), 11700, 12600)
            service.post(parts[0])
            service.settle(60)
            path = f"/v1/incidents/{service.get('/v1/incidents')['incidents'][0]['id']}"
            assert alarms()["dye"]["state"] == "raised" and "brewery" not in alarms(), alarms()
            service.post(parts[1])
            service.settle(60)
            raised = alarms()["brewery"]
            assert raised["state"] == "raised" and raised["sentence"].startswith("Brewery: close from "), raised
            assert raised["provisional"] and raised["sentence"].endswith("; provisional."), raised
            assert alarms()["dye"]["state"] == "withdrawn", alarms()
            post(service, path + "/acknowledge", {"who": "Ben"})
            post(service, path + "/acknowledge", {"who": "Ann", "note": "valve shut", "subject": "brewery"})
            service.post(parts[2])
            service.settle(60)
            now = alarms()
            assert now["dye"]["state"] == now["brewery"]["state"] == "withdrawn", now
            assert now["dye"]["acknowledged"] is None, now["dye"]  # it was over before anybody came
            assert now["town"]["state"] in ("raised", "changed") and now["mill"]["state"] != "withdrawn", now
            gone = now["brewery"]
            assert gone["sentence"].startswith("Brewery: the alarm is withdrawn, probability now "), gone
            assert gone["sentence"].endswith("; provisional.") == gone["provisional"], gone
            assert (gone["acknowledged"]["who"], gone["acknowledged"]["note"]) == ("Ann", "valve shut"), gone
            assert gone["since"] == raised["since"] and gone["at"] > raised["at"], (raised, gone)
            assert now["dye"]["sentence"].startswith("Dye works is no longer suspected: probability "), now["dye"]
            bulletin = service.request(path + "/bulletin")[1]
            told = [a for a in now.values() if a["kind"] != "incident"]
            assert all(f"  {a['state']:<11}{a['sentence']}\n" in bulletin for a in told), bulletin
            assert f"acknowledged by Ann, {gone['acknowledged']['at']}: valve shut\n" in bulletin, bulletin
            assert "First noticed 3 h " in bulletin, bulletin  # no bare seconds
            service.request(path + "/close", "", method="POST")
            ended = alarms()
            states = {s: a["state"] for s, a in ended.items()}
            assert states == {
                "": "closed",
                "mill": "closed",
                "town": "closed",
                "dye": "withdrawn",
                "brewery": "withdrawn",
            }
            events = [e for e in service.get("/v1/events")["events"] if e["kind"] != "estimate"]
            deadline = time.monotonic() + 20
            while len(received) < len(events) and time.monotonic() < deadline:
                time.sleep(0.1)
        lives = [e["kind"] for e in events if e["subject"] == "brewery" and not e["kind"].endswith("_changed")]
        assert lives == ["intake_alarm", "incident_acknowledged", "intake_alarm_withdrawn"], lives
        assert [e["kind"] for e in events if e["subject"] == "dye" and not e["kind"].endswith("_changed")] == [
            "candidate",
            "candidate_withdrawn",
        ]
        assert received == events, (received, events)  # the same words, in the same order
        with service as again:  # and nobody is told of it twice
            again.settle(60)
            time.sleep(0.5)
            assert {a["subject"]: a for a in again.get(path)["alarms"]} == ended
        assert len(received) == len(events), received[len(events) :]


def test_a_search_box_of_another_season_gives_no_answer_and_says_why(folder):
    river = RIVER.replace("time_s: [-40000, 40000]", "time_s: [2026-05-01T00:00:00Z, 2026-05-02T00:00:00Z]")
    with Service(HEADWATER, folder, river=river) as service:
        plain = os.path.join(folder, "plain.yaml")
        with open(plain, "w") as out:
            out.write(RIVER)
        service.post(dated(spill(HEADWATER, plain, last=16000)))
        service.settle(60)
        incident = service.get("/v1/incidents")["incidents"][0]
        assert incident["estimate"] is None and incident["trust"] == "none" and incident["arrivals"] == []
        assert "2026-05-01 00:00 to 2026-05-02 00:00 UTC" in incident["trust_reason"], incident["trust_reason"]
        assert "out of date" in service.get("/v1/rivers/demo")["remarks"][0]
        assert "out of date" in service.get("/v1/overview")["rivers"][0]["remarks"][0]
        assert "NO ANSWER" in service.request(f"/v1/incidents/{incident['id']}/bulletin")[1]


def test_a_box_without_a_time_follows_the_incident(folder):
    with Service(HEADWATER, folder, river=RIVER.replace(", time_s: [-40000, 40000]", "")) as service:
        service.post(dated(spill(HEADWATER, service.river, last=16000)))
        service.settle(60)
        incident = service.get("/v1/incidents")["incidents"][0]
        assert incident["trust"] in ("full", "provisional"), incident["trust_reason"]
        assert abs(incident["estimate"]["location_m"] + 12000) < 600, incident["estimate"]
        assert incident["estimate"]["time"].startswith("2026-11-17T0"), incident["estimate"]
        assert service.get("/v1/rivers/demo")["remarks"] == []


def test_nothing_is_cut_without_a_word(folder):
    count = 30000
    with Service(HEADWATER, folder) as service:
        rows = [f"{10 * i},s1,{1e-5 + 1e-7 * (i % 7):.8g}" for i in range(count)]
        rows[11111] = "111110,s1,0.0371"  # one spike, which no picture may lose
        for i in range(0, count, 10000):
            service.post("time_s,sensor,concentration_g_m3\n" + "\n".join(rows[i : i + 10000]) + "\n")
        base = "/v1/rivers/demo/readings?"
        some = service.get(base + "sensor=s1&limit=500")
        assert len(some["readings"]) == 500 and some["more"] and some["readings"][-1]["time_s"] == 10 * (count - 1)
        few = service.get(base + "sensor=s1&points=200")
        assert few["total"] == count and few["thinned"] and len(few["readings"]) <= 200
        assert max(r["concentration_g_m3"] for r in few["readings"]) == 0.0371
        times = [r["time_s"] for r in few["readings"]]
        assert times == sorted(set(times)) and times[-1] > 10 * count * 0.98
        assert few["seq"] == count
        news = service.get(base + f"sensor=s1&after={few['seq']}")
        assert news["readings"] == [] and not news["more"]
        service.post("time_s,sensor,concentration_g_m3\n5,s1,1e-5\n")  # late, and yet after that number
        assert [r["time_s"] for r in service.get(base + f"sensor=s1&after={few['seq']}")["readings"]] == [5]
        whole = service.request(base + "format=csv")[1].splitlines()
        assert len(whole) == 1 + count + 1 and whole[0] == "time_s,sensor,concentration_g_m3"
        span = service.request(base + "format=csv&sensor=s1&from=100&to=200")[1].splitlines()
        assert [line.split(",")[0] for line in span[1:]] == [str(t) for t in range(100, 201, 10)]


def test_what_somebody_opens_is_answered_from_what_was_read_before(folder):
    with Service(HEADWATER, folder) as service:
        service.post(spill(HEADWATER, service.river, last=9000))  # long before it comes by
        status, opened = post(service, "/v1/incidents", {"river": "demo"})
        assert status == 201, opened
        service.settle(60)
        incident = service.get(f"/v1/incidents/{opened['id']}")
        assert incident["readings"] == 62 and incident["trust"] == "full" and incident["spill"] < 0.5, incident
        assert len(incident["history"]) == 1
        service.post("time_s,sensor,concentration_g_m3\n9300,s1,<0.00002\n")
        service.settle(60)
        assert service.get(f"/v1/incidents/{opened['id']}")["readings"] == 63


def test_a_question_goes_before_readings_that_wait(folder):
    """An engine with hundreds of readings to catch up on, of which each answer takes its time."""
    river = RIVER.replace("velocity_m_s: 1.2, dispersion_m2_s: 40,", DOUBTFUL)
    with Service(HEADWATER, folder, river=river) as service:
        record = spill(HEADWATER, service.river, source="50000,-12000,3600", last=50000)
        service.post(record)
        deadline = time.monotonic() + 60
        while not any(i["readings"] for i in service.get("/v1/incidents")["incidents"]):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        path = f"/v1/incidents/{service.get('/v1/incidents')['incidents'][0]['id']}"
        assert "POLLUTION BULLETIN" in service.request(path + "/bulletin")[1]
        assert service.get(path)["readings"] < record.count("\n") - 1 - 64, "it waited for the readings"


def test_a_port_that_is_taken_is_not_shared(folder):
    with Service(HEADWATER, folder) as service:
        db = os.path.join(folder, "other.db")
        port = service.address.rsplit(":", 1)[1]
        command = [HEADWATER, "serve", service.river, "--listen", f"127.0.0.1:{port}", "--db", db]
        second = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert second.returncode == 3 and "in use" in second.stderr, (second.returncode, second.stderr)


def test_many_readings_travel_packed(folder):
    with Service(HEADWATER, folder) as service:
        service.post(spill(HEADWATER, service.river, last=30000))
        path = "/v1/rivers/demo/readings?sensor=s1"
        request = urllib.request.Request(service.address + path, headers={"Accept-Encoding": "br, gzip;q=0.8"})
        with urllib.request.urlopen(request) as answer:
            packed = answer.read()
            assert answer.headers["Content-Encoding"] == "gzip" and answer.headers["Vary"] == "Accept-Encoding"
        plain, headers = service.request(path)[1:]
        assert headers["Content-Encoding"] is None
        assert gzip.decompress(packed).decode() == plain and len(packed) < len(plain) / 5
        for refused in ("identity", "gzip;q=0", "gzipped"):
            request = urllib.request.Request(service.address + path, headers={"Accept-Encoding": refused})
            with urllib.request.urlopen(request) as answer:
                assert answer.headers["Content-Encoding"] is None, refused


NETWORK = """name: Elm and Ash
hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 40, decay_per_s: 0}
branches:
  - {id: stem, name: River Elm, head_m: -40000, reaches: [{to_m: 10000, discharge_m3_s: 8}], centerline: elm.geojson}
  - {id: ash, name: Ash Brook, head_m: -15000, joins: {branch: stem, at_m: -20000},
     reaches: [{to_m: 0, discharge_m3_s: 2}]}
search: {mass_g: [10, 100000], time_s: [-20000, 40000]}
sensors:
  - {id: s1, name: Mill Bridge, branch: ash, location_m: -900}
  - {id: s2, branch: stem, location_m: -2000}
candidates: [{id: dairy, name: Dairy, branch: ash, location_m: -9000}]
intakes: [{id: town, branch: stem, location_m: 5000, alarm_g_m3: 0.001}]
"""


def test_a_network_shows_its_branches_names_and_lines(folder):
    with open(os.path.join(folder, "elm.geojson"), "w") as out:
        line = [[7.0, 50.0], [7.01, 50.1], [7.0, 50.2], [7.0, 50.2001], [7.0, 50.45]]
        json.dump({"type": "LineString", "coordinates": line}, out)
    with Service(HEADWATER, folder, river=NETWORK) as service:
        river = service.get("/v1/rivers/demo")
        assert [(b["id"], b["joins"], b["joins_at_m"]) for b in river["branches"]] == [
            ("stem", None, None),
            ("ash", "stem", -20000),
        ]
        assert [(s["name"], s["branch"]) for s in river["sensors"]] == [("Mill Bridge", "ash"), ("", "stem")]
        assert river["candidates"][0]["branch"] == "ash" and river["has_centerline"]
        lines = service.get("/v1/rivers/demo/centerline")["features"]
        assert [f["properties"]["branch"] for f in lines] == ["stem"]
        assert lines[0]["properties"]["at_m"][0] == -40000 and lines[0]["properties"]["at_m"][-1] == 10000
        few = service.get("/v1/centerlines?within_m=200")["features"][0]
        assert few["properties"]["river"] == "demo" and len(few["geometry"]["coordinates"]) == 4, few
        service.post(spill(HEADWATER, service.river, source="20000,ash:-9000,3600", last=17000, first=6000))
        service.settle(60)
        incident = service.get("/v1/incidents")["incidents"][0]
        assert incident["estimate"]["branch"] == "ash", incident["estimate"]
        ask = f"/v1/incidents/{incident['id']}"
        assert service.get(ask + "/posterior?samples=0")["branch"] == "ash"
        now_s = incident["opened_s"]
        on_ash = service.get(ask + f"/plume?branch=ash&time={now_s}&from_m=-15000&to_m=0&count=20")
        assert max(c[1] for c in on_ash["concentration_g_m3"]) > 0
        assert service.request(ask + f"/plume?branch=oak&time={now_s}&from_m=0&to_m=1")[0] == 404


sys.exit(bool(run_claims({name: claim for name, claim in list(globals().items()) if name.startswith("test_")})))
