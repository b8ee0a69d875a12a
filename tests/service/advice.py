"""Where to sample next, asked of a running service: advice.py HEADWATER [TEST...]"""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serving import RIVER, Service, processor_s, run_claims, spill  # noqa: E402

HEADWATER = sys.argv[1]
# Doubt in the hydraulics leaves something to learn.
DOUBTFUL = RIVER.replace("velocity_m_s: 1.2,", "velocity_m_s: {median: 1.2, factor: 1.15},").replace(
    "dispersion_m2_s: 40,", "dispersion_m2_s: {median: 40, factor: 1.6},"
)


def with_a_pulse(folder, until_s=18900):
    """The pulse has passed the first sensor and is on its way to the second."""
    service = Service(HEADWATER, folder, river=DOUBTFUL).start()
    header, *lines = spill(HEADWATER, service.river).splitlines()
    kept = [line for line in lines if float(line.split(",")[0]) <= until_s and float(line.split(",")[0]) % 900 == 0]
    service.post("\n".join([header, *kept]) + "\n")
    service.settle(150)
    return service, service.get("/v1/incidents")["incidents"][0]["id"]


def other_questions(service, incident):
    intake = service.get(f"/v1/incidents/{incident}/advice?for=intake")
    crews = service.get(f"/v1/incidents/{incident}/advice?crews=3")
    refused = service.request(f"/v1/incidents/{incident}/advice?for=moon")
    many = service.request(f"/v1/incidents/{incident}/advice?crews=9")
    absent = service.request("/v1/incidents/999999/advice")
    assert intake["question"] == "intake" and intake["region_m"] is None and intake["places"][0]["bits"] > 0, intake
    assert 1 < len(crews["places"]) <= 3, crews
    apart = [(place["location_m"], place["stretch_m"]) for place in crews["places"]]
    assert len({at for at, _ in apart}) == len(apart), apart
    assert refused[0] == many[0] == 400 and "place, who or intake" in refused[1], (refused, many)
    assert absent[0] == 404, absent


def takes_less_than_200_ms(service, incident):
    """Of processor time, which other work on the machine hardly changes; `make bench-advice` prints both."""
    for question in ("place", "who", "intake", "place&crews=3"):
        used = processor_s(service.process.pid)
        for _ in range(5):
            service.get(f"/v1/incidents/{incident}/advice?for={question}")
        used = (processor_s(service.process.pid) - used) / 5
        assert used < 0.2, (question, used)


def test_places_and_times_from_now_on_ranked_by_what_they_tell(folder):
    service, incident = with_a_pulse(folder)
    with_now = service.get(f"/v1/incidents/{incident}/advice")
    later = service.get(f"/v1/incidents/{incident}/advice?delay=3600&now=18900")
    readings = os.path.join(folder, "export.csv")
    open(readings, "w").write(service.request(f"/v1/incidents/{incident}/readings")[1])
    assert with_now["schema"] == "headwater.advice/1" and with_now["question"] == "place", with_now
    assert with_now["refusal"] is None, with_now
    assert with_now["now_s"] == 18900 and with_now["places"], with_now
    bits = [place["bits"] for place in with_now["places"]]
    assert bits == sorted(bits, reverse=True) and 0 < bits[0] < with_now["entropy_bits"], bits
    for place in with_now["places"]:
        assert place["time_s"] >= 18900 and place["from_s"] <= place["time_s"] <= place["until_s"], place
        assert place["stretch_m"][0] <= place["location_m"] <= place["stretch_m"][1], place
        assert 0 < place["region_m"] <= with_now["region_m"] and 0 <= place["seen"] <= 1, place
        lo, mid, hi = place["expected_g_m3"]
        assert 0 <= lo <= mid <= hi, place
    assert min(place["from_s"] for place in later["places"]) >= 18900 + 3600, later
    told = subprocess.run(
        [HEADWATER, "advise", service.river, readings, "--format", "json"], check=True, capture_output=True, text=True
    )
    same = json.loads(told.stdout)
    assert [p["location_m"] for p in same["places"]] == [p["location_m"] for p in with_now["places"]], same
    assert same["entropy_bits"] == with_now["entropy_bits"], (same, with_now)
    other_questions(service, incident)
    takes_less_than_200_ms(service, incident)
    service.stop()


def test_refused_with_a_sentence_where_there_is_nothing_to_advise_on(folder):
    with Service(HEADWATER, folder, river=DOUBTFUL) as service:
        clean = "".join(f"{300 * i},{s},<0.00002\n" for i in range(40) for s in ("s1", "s2"))
        service.post("time_s,sensor,concentration_g_m3\n" + clean)
        opened = service.request(
            "/v1/incidents", '{"river": "demo", "from": 9000}', {"Content-Type": "application/json"}
        )
        incident = json.loads(opened[1])["id"]
        service.post("time_s,sensor,concentration_g_m3\n12300,s1,<0.00002\n12300,s2,<0.00002\n")
        service.settle()
        status, text, _ = service.request(f"/v1/incidents/{incident}/advice")
        answer = json.loads(text)
        assert status == 200 and answer["places"] == [] and "no spill is seen" in answer["refusal"], (status, text)


def test_a_method_without_samples_says_so(folder):
    with Service(HEADWATER, folder, "--method", "atgd") as service:
        service.post("\n".join(spill(HEADWATER, service.river).splitlines()[:140]))
        service.settle()
        incident = service.get("/v1/incidents")["incidents"][0]["id"]
        status, text, _ = service.request(f"/v1/incidents/{incident}/advice")
        assert status == 409 and "atgd has no samples" in text, (status, text)


def main():
    began = time.time()
    claims = {name: claim for name, claim in globals().items() if name.startswith("test_")}
    failed = run_claims({name: claims[name] for name in sys.argv[2:] or claims})
    print(f"{time.time() - began:.1f} s")
    sys.exit(bool(failed))


main()
