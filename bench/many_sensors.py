"""A service with a million sensors: many_sensors.py HEADWATER [--rivers N] [--sensors N]

Printed: how long the start takes and what it costs, and what the first pages of the long answers add."""

import argparse
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "service"))
from serving import Service, processor_s  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("headwater")
parser.add_argument("--rivers", type=int, default=100)
parser.add_argument("--sensors", type=int, default=10_000, help="a river file holds at most 10,000")
chosen = parser.parse_args()
HEAD = """name: Many
hydraulics: {velocity_m_s: 1.2, dispersion_m2_s: 40, area_m2: 60, decay_per_s: 0}
search: {mass_g: [1000, 200000], location_m: [-30000, -1000], time_s: [-40000, 40000]}
sensors:
"""
TEXT = HEAD + "".join(f"  - {{id: n{i}, location_m: {i}}}\n" for i in range(chosen.sensors))


def memory_mb(pid):
    """The most it has had."""
    line = next(line for line in open(f"/proc/{pid}/status") if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


with tempfile.TemporaryDirectory() as folder:
    others = [os.path.join(folder, f"r{i}.yaml") for i in range(chosen.rivers - 1)]
    for path in others:
        with open(path, "w") as out:
            out.write(TEXT)
    began = time.time()
    with Service(chosen.headwater, folder, *others, river=TEXT) as service:
        took, pid = time.time() - began, service.process.pid
        before = memory_mb(pid)
        print(
            f"{chosen.rivers * chosen.sensors} sensors on {chosen.rivers} rivers: start {took:.1f} s on the clock,"
            f" {processor_s(pid):.1f} s of processor, {before:.0f} MB; load average {os.getloadavg()[0]:.1f}"
        )
        for path in ("/v1/rivers", "/v1/overview", "/metrics/rivers"):
            asked = time.time()
            status, text, _ = service.request(path)
            assert status == 200, (path, status)
            print(f"{path}: {time.time() - asked:.2f} s, {len(text) / 1000:.0f} kB, {memory_mb(pid) - before:+.0f} MB")
