#!/usr/bin/python3
"""What re-running a sampler after every reading costs, beside the posterior engine, at equal interval accuracy.

    compare_emcee.py HEADWATER

One record, simulated by HEADWATER itself. A long emcee run gives the reference 90 % interval of the place at three
stages of the record. Then, at each stage and from scratch, as after every reading:
  emcee                   steps are doubled until its interval is as near the reference as headwater's own (or within
                          5 % of its width, whichever is easier)
  differential evolution  SciPy's, to its default tolerance, with an interval from the curvature at its optimum; it has
                          no intervals of its own, so its accuracy is shown, not matched
Seconds of one such re-run are divided by headwater's mean seconds per reading. Both likelihoods are NumPy, vectorised
over walkers and population, so that Python's overhead is as small as it gets.
"""
import csv
import json
import subprocess
import sys
import tempfile
import time

try:
    import emcee
    import numpy as np
    from scipy.optimize import differential_evolution
except ImportError as missing:
    print(f"compare_emcee: skipped, {missing.name} is not installed")
    sys.exit(0)

V, D, A, NOISE = 80 / 60.0, 40.5, 60.0, 1.5e-4
BOX = np.array([[500.0, 5000.0], [-30000.0, -15000.0], [-24000.0, -8760.0]])
SENSORS = np.array([-14210.5, 0.0])
RIVER = f"""name: bench
hydraulics: {{velocity_m_s: {V}, dispersion_m2_s: {D}, area_m2: {A}}}
search: {{mass_g: [500, 5000], location_m: [-30000, -15000], time_s: [-24000, -8760]}}
sensors:
  - {{id: s1, location_m: {SENSORS[0]}, noise_relative: 0, noise_absolute_g_m3: {NOISE}, background_g_m3: 0}}
  - {{id: s2, location_m: {SENSORS[1]}, noise_relative: 0, noise_absolute_g_m3: {NOISE}, background_g_m3: 0}}
"""


def log_likelihood(points, x, t, c):
    """points: (n, 3) of mass, place, time."""
    s, l, t0 = points[:, :1], points[:, 1:2], points[:, 2:]
    age, far = t[None, :] - t0, x[None, :] - l
    ok = (age > 0) & (far > 0)
    age = np.where(ok, age, 1.0)
    model = np.where(ok, s / (A * np.sqrt(4 * np.pi * D * age)) * np.exp(-((far - V * age) ** 2) / (4 * D * age)), 0.0)
    inside = np.all((points >= BOX[:, 0]) & (points <= BOX[:, 1]), axis=1)
    return np.where(inside, -0.5 * np.sum(((c[None, :] - model) / NOISE) ** 2, axis=1), -np.inf)


def best_point(data, seed):
    return differential_evolution(
        lambda p: -log_likelihood(p.T, *data) if p.ndim == 2 else -log_likelihood(p[None, :], *data)[0],
        BOX,
        vectorized=True,
        updating="deferred",
        seed=seed,
        polish=True,
    )


def run_emcee(data, steps, seed):
    """From scratch: optimum, walkers around it, half thrown away. Returned: interval of the place, seconds."""
    begin = time.perf_counter()
    rng = np.random.default_rng(seed)
    np.random.seed(seed)
    start = best_point(data, seed).x
    walkers = np.clip(start + rng.normal(size=(32, 3)) * [5.0, 50.0, 40.0], BOX[:, 0] + 1e-6, BOX[:, 1] - 1e-6)
    sampler = emcee.EnsembleSampler(32, 3, log_likelihood, args=data, vectorize=True)
    sampler.run_mcmc(walkers, steps)
    place = sampler.get_chain(discard=steps // 2, flat=True)[:, 1]
    return np.quantile(place, [0.05, 0.95]), time.perf_counter() - begin


def run_de(data, seed):
    begin = time.perf_counter()
    x = best_point(data, seed).x
    h = np.array([0.5, 2.0, 2.0])
    hessian = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            corners = [x + a * h * np.eye(3)[i] + b * h * np.eye(3)[j] for a in (1, -1) for b in (1, -1)]
            f = -log_likelihood(np.array(corners), *data)
            hessian[i, j] = (f[0] - f[1] - f[2] + f[3]) / (4 * h[i] * h[j])
    sd = np.sqrt(np.abs(np.linalg.pinv(hessian)[1, 1]))
    return np.array([x[1] - 1.645 * sd, x[1] + 1.645 * sd]), time.perf_counter() - begin


def off(interval, reference):
    return float(np.max(np.abs(np.asarray(interval) - reference)) / (reference[1] - reference[0]))


def main():
    headwater = sys.argv[1]
    folder = tempfile.mkdtemp()
    river, record = f"{folder}/river.yaml", f"{folder}/readings.csv"
    with open(river, "w") as f:
        f.write(RIVER)
    with open(record, "w") as f:
        subprocess.run(
            [
                headwater,
                "simulate",
                river,
                "--source",
                "1300,-22106,-12900",
                "--every",
                "180",
                "--from",
                "-8400",
                "--to",
                "6000",
                "--noise-absolute",
                str(NOISE),
            ],
            stdout=f,
            check=True,
        )
    with open(record) as f:
        rows = list(csv.DictReader(line for line in f if not line.startswith("#")))
    lines = subprocess.run([headwater, "identify", river, record, "--each"], capture_output=True, text=True, check=True)
    results = [json.loads(line) for line in lines.stdout.splitlines()]
    whole = json.loads(
        subprocess.run(
            [headwater, "identify", river, record, "--format", "json"], capture_output=True, text=True, check=True
        ).stdout
    )
    own = whole["cost"]["seconds"] / whole["readings"]
    x = np.array([SENSORS[0] if r["sensor"] == "s1" else SENSORS[1] for r in rows])
    t = np.array([float(r["time_s"]) for r in rows])
    c = np.array([float(r[next(k for k in r if k.startswith("concentration"))]) for r in rows])
    print(
        f"posterior engine, dispersion known: {len(rows)} readings, {1e6 * own:.0f} us each on average (answer "
        "included once)"
    )
    print("  interval ends off the reference, in interval widths; seconds of one re-run and times headwater's reading")
    for n in (len(rows) // 3, len(rows) // 2, len(rows)):
        data = (x[:n], t[:n], c[:n])
        reference, _ = run_emcee(data, 8000, 99)
        mine = off(results[n - 1]["interval"]["location_m"], reference)
        steps = 64
        interval, seconds = run_emcee(data, steps, 1)
        while off(interval, reference) > max(mine, 0.05) and steps < 8192:
            steps *= 2
            interval, seconds = run_emcee(data, steps, 1)
        de, de_seconds = run_de(data, 1)
        print(
            f"  after {n:4d}: headwater off {mine:.3f} | emcee {steps:5d} steps off {off(interval, reference):.3f}, "
            f"{seconds:6.2f} s, {seconds / own:8.0f} times | differential evolution off {off(de, reference):.3f}, "
            f"{de_seconds:5.2f} s, {de_seconds / own:7.0f} times"
        )


main()
