"""How long an answer to "where to sample next" takes: advice.py HEADWATER [ROUNDS]

A long river (14 sensors, 8 candidates, 12 intakes) and a network, each with a spill on its way, asked over HTTP for
every question, and for three crews. Prints the time until the answer is there and the processor time of the service;
the second is what carries over from a busy machine. `make bench-advice` runs it; the aim is 200 ms."""
import os
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "service"))
from serving import Service, processor_s, spill  # noqa: E402

LONG = """name: Long river
hydraulics: {velocity_m_s: 0.8, dispersion_m2_s: 40, area_m2: 40, decay_per_s: 0}
search: {mass_g: [1000, 200000], location_m: [-30000, -1000]}
sensors: [SENSORS]
candidates: [CANDIDATES]
intakes: [INTAKES]
"""
for word, item, count in (
    ("SENSORS", "{id: p%d, location_m: %d, noise_relative: 0.05, noise_absolute_g_m3: 2.0e-5}", 14),
    ("CANDIDATES", "{id: c%d, location_m: -%d}", 8),
    ("INTAKES", "{id: i%d, location_m: %d, alarm_g_m3: 0.001}", 12),
):
    first, step = {"SENSORS": (0, 1500), "CANDIDATES": (4000, 2500), "INTAKES": (3000, 3500)}[word]
    LONG = LONG.replace(word, ", ".join(item % (i, first + step * i) for i in range(count)))

NETWORK = """name: Network
hydraulics: {velocity_m_s: 0.7, dispersion_m2_s: 40, decay_per_s: 0}
branches:
  - {id: stem, head_m: -40000, reaches: [{to_m: 10000, discharge_m3_s: 8}]}
  - {id: ash, head_m: -15000, joins: {branch: stem, at_m: -20000}, reaches: [{to_m: 0, discharge_m3_s: 2}]}
  - {id: oak, head_m: -12000, joins: {branch: stem, at_m: -9000}, reaches: [{to_m: 0, discharge_m3_s: 1}]}
search: {mass_g: [10, 100000]}
sensors:
  - {id: s1, branch: ash, location_m: -900, noise_relative: 0.05, noise_absolute_g_m3: 2.0e-5}
  - {id: s2, branch: stem, location_m: -2000, noise_relative: 0.05, noise_absolute_g_m3: 2.0e-5}
candidates: [{id: dairy, branch: ash, location_m: -9000}, {id: forge, branch: oak, location_m: -7000}]
intakes: [{id: town, branch: stem, location_m: 5000, alarm_g_m3: 0.001}]
"""
CASES = (
    ("14 sensors, 12 intakes", LONG, "60000,-14000,3600", 27000),
    ("network", NETWORK, "20000,ash:-9000,3600", 16800),
)
QUESTIONS = ("place", "who", "intake", "place&crews=3")


def thinned(csv, every_s=900):
    """An answer follows each reading, and only the last is looked at."""
    header, *lines = csv.splitlines()
    return "\n".join([header, *(line for line in lines if float(line.split(",")[0]) % every_s == 0)]) + "\n"


def measure(service, path, rounds):
    wall, used = [], processor_s(service.process.pid)
    for _ in range(rounds):
        began = time.monotonic()
        status, text, _ = service.request(path)
        assert status == 200, text
        wall.append(time.monotonic() - began)
    return wall, (processor_s(service.process.pid) - used) / rounds


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    print("river                   question        median     worst   processor")
    for name, river, source, last in CASES:
        with tempfile.TemporaryDirectory() as folder, Service(sys.argv[1], folder, river=river) as service:
            service.post(thinned(spill(sys.argv[1], service.river, source, last)))
            service.settle(120)
            incident = service.get("/v1/incidents")["incidents"][0]["id"]
            for question in QUESTIONS:
                wall, used = measure(service, f"/v1/incidents/{incident}/advice?for={question}", rounds)
                middle, worst = 1000 * statistics.median(wall), 1000 * max(wall)
                print(f"{name:<24}{question:<14}{middle:6.0f} ms {worst:6.0f} ms {1000 * used:6.0f} ms", flush=True)
    print(f"{rounds} answers each; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


main()
