"""Run the examples of docs/api.md against a service: api_examples.py HEADWATER API.md

Every ```sh block must end well; the ```json block after it, if any, must show keys and kinds that the answer has.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serving import Service, spill  # noqa: E402


def kind(value):
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def differences(shown, got, path="$"):
    if shown is None or got is None:
        return [] if shown is None or path.endswith(("]", ".interval")) else [f"{path}: nothing, expected {shown}"]
    if kind(shown) != kind(got):
        return [f"{path}: {got!r}, expected something like {shown!r}"]
    if isinstance(shown, dict):
        found = []
        for key, value in shown.items():
            found += differences(value, got[key], f"{path}.{key}") if key in got else [f"{path}.{key}: missing"]
        return found
    if isinstance(shown, list) and shown:
        return differences(shown[0], got[0], path + "[0]") if got else [f"{path}: empty"]
    return []


def main(headwater, page):
    blocks = re.findall(r"```(sh|json)\n(.*?)```", open(page).read(), re.S)
    faults = 0
    with tempfile.TemporaryDirectory() as folder, Service(
        headwater, folder, "--method", "atgd", "--quiet", "7200"
    ) as service:
        service.post(spill(headwater, service.river))
        service.settle()
        for index, (language, text) in enumerate(blocks):
            if language != "sh":
                continue
            run = subprocess.run(
                ["bash", "-eo", "pipefail", "-c", text],
                env={**os.environ, "H": service.address},
                cwd=folder,
                capture_output=True,
                text=True,
            )
            found = []
            follows = blocks[index + 1] if index + 1 < len(blocks) else ("", "")
            streaming = "max-time" in text
            if run.returncode and not (streaming and run.stdout):
                found = [f"exit {run.returncode}: {run.stderr.strip()}"]
            elif follows[0] == "json":
                found = differences(json.loads(follows[1]), json.loads(run.stdout))
            for sentence in found:
                print(f"{text.strip()}\n  {sentence}")
            faults += bool(found)
    print(f"{sum(b[0] == 'sh' for b in blocks)} examples, {faults} at fault")
    sys.exit(bool(faults))


main(*sys.argv[1:])
