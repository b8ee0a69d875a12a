"""Ten million readings through the engine: ten_million.py HEADWATER [--readings N] [--method NAME]

The sensors of the bundled river say a value every few milliseconds while a spill passes, as `simulate` makes them, with
noise; `identify` reads them from a pipe. Printed: the answer's first lines, the time it took, readings a second, and
the most memory it had."""

import argparse
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
parser = argparse.ArgumentParser()
parser.add_argument("headwater")
parser.add_argument("--readings", type=int, default=10_000_000)
parser.add_argument("--method", default="posterior")
chosen = parser.parse_args()
river = os.path.join(HERE, "..", "examples", "truckee", "river.yaml")

spill = [chosen.headwater, "simulate", river, "--source", "1300,-22106,2026-05-04T03:25:00Z"]
spill += ["--noise-relative", "0.05", "--noise-absolute", "2e-5"]
slow = subprocess.run([*spill, "--every", "60"], check=True, capture_output=True, text=True).stdout
every_s = 60 * (slow.count("\n") - 1) / chosen.readings
began = time.time()
source = subprocess.Popen([*spill, "--every", f"{every_s:.6f}"], stdout=subprocess.PIPE)
process = subprocess.Popen(
    [chosen.headwater, "identify", river, "-", "--method", chosen.method],
    stdin=source.stdout,
    stdout=subprocess.PIPE,
    text=True,
)
source.stdout.close()
answer = process.stdout.read()
_, ended, usage = os.wait4(process.pid, 0)
took = time.time() - began
source.wait()
print("\n".join(answer.splitlines()[:2]))
print(
    f"{chosen.method}: {took:.0f} s on the clock, {usage.ru_utime + usage.ru_stime:.0f} s of processor,"
    f" {chosen.readings / took:.0f} readings/s, at most {usage.ru_maxrss / 1024:.0f} MB;"
    f" load average {os.getloadavg()[0]:.1f}"
)
sys.exit(os.waitstatus_to_exitcode(ended))
