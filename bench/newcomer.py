"""How long from `git clone` until a newcomer sees a live incident: newcomer.py [REPOSITORY]

The packages of packages.txt are installed already; nothing else is: no build folder, no web/node_modules. Prints when
each stage was reached, in seconds since the clone began, and how much processor time it took in all: on a machine that
is busy with other things the clock says little.
"""
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

LIMIT_S = 600


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def incident_at(address):
    """Is a live incident shown there? None while nobody answers."""
    try:
        with urllib.request.urlopen(address + "/v1/incidents", timeout=2) as answer:
            return any(incident["state"] == "open" for incident in json.load(answer)["incidents"])
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return None


def main():
    repository = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
    with tempfile.TemporaryDirectory() as folder:
        clone, address = os.path.join(folder, "headwater"), f"127.0.0.1:{free_port()}"
        began = time.monotonic()
        subprocess.run(["git", "clone", "--quiet", repository, clone], check=True)
        stages = {"cloned": time.monotonic() - began}
        log = open(os.path.join(folder, "log"), "w+")
        make = subprocess.Popen(
            ["make", "serve", f"SERVE=--listen {address}"], cwd=clone, stdout=log, stderr=log, start_new_session=True
        )
        try:
            while "incident open" not in stages:
                time.sleep(0.1)
                now = time.monotonic() - began
                answer = incident_at("http://" + address)
                reached = {
                    "configured": os.path.exists(os.path.join(clone, "build", "build.ninja")),
                    "listening": answer is not None,
                    "incident open": answer,
                }
                for stage, there in reached.items():
                    if there and stage not in stages:
                        stages[stage] = now
                if now > LIMIT_S or make.poll() is not None:
                    log.seek(0)
                    sys.exit(f"newcomer: no incident after {now:.0f} s\n{log.read()[-2000:]}")
        finally:
            if make.poll() is None:
                os.killpg(make.pid, signal.SIGTERM)
            make.wait()
    for stage, seconds in stages.items():
        print(f"{stage:<14} {seconds:6.1f} s")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"processor time {used.ru_utime + used.ru_stime:6.1f} s on {os.cpu_count()} cores, load average "
        f"{os.getloadavg()[0]:.1f} in the end"
    )


main()
