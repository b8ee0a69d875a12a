"""Prometheus rules and the Grafana dashboard against what the service exposes: monitoring.py HEADWATER PACKAGING"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serving import Service, run_claims, spill  # noqa: E402

HEADWATER, PACKAGING = sys.argv[1:]
# The learner of this test makes no forecast, so the intakes' metrics have a head and no row.
INTAKE = ("exceeds_alarm", "peak_g_m3", "first_seconds")
RULES, DASHBOARD = os.path.join(PACKAGING, "prometheus-rules.yml"), os.path.join(PACKAGING, "grafana.json")


def promtool(*words, page=None):
    """No complaint of Debian's prometheus, where it is installed; warnings about names end with 3."""
    program = shutil.which("promtool")
    if not program:
        print("  (no promtool here: left out)")
        return
    run = subprocess.run([program, *words], input=page, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def exposed(folder):
    with Service(HEADWATER, folder, "--method", "atgd") as service:
        service.post("\n".join(spill(HEADWATER, service.river).splitlines()[:140]))  # the incident is open
        service.settle()
        pages = [service.request(path)[1] for path in ("/metrics", "/metrics/rivers")]
        for page in pages:
            promtool("check", "metrics", page=page)
        text = "".join(pages)
        for line in text.splitlines():
            assert re.match(r"(# (HELP|TYPE) |headwater_\w+({\w+=\".*\"})? (NaN|[-+0-9.e]+)$)", line), line
        assert 'headwater_sensor_concentration_g_m3{river="demo",sensor="s1"} ' in text, text
        assert re.search(r'headwater_incident_info{river="demo",incident="\d+",trust="\w*"} 1', text), text
        return set(re.findall(r"^(headwater_\w+){?", text, re.M))


def named(text):
    return set(re.findall(r"\bheadwater_\w+", text))


def expressions():
    """Each rule's expression stands on a line of its own, which is what makes the file YAML and not a riddle."""
    return re.findall(r"^ +expr: (.+)$", open(RULES).read(), re.M)


def test_promtool_takes_the_rules(folder):
    promtool("check", "rules", RULES)


def test_rules_are_plain_blocks_with_balanced_expressions(folder):
    text = open(RULES).read()
    found = expressions()
    assert len(found) == text.count("- alert: ") == text.count("expr: ") >= 5, found
    for expression in found:
        for opening, closing in ("()", "[]", "{}"):
            assert expression.count(opening) == expression.count(closing), expression
        assert (
            not expression.startswith(("{", "[", '"')) and ": " not in expression and " #" not in expression
        ), expression


def test_every_metric_of_the_rules_is_one_of_the_service(folder):
    unknown = named(" ".join(expressions())) - exposed(folder)
    assert named(" ".join(expressions())) and not unknown, unknown


def test_every_metric_of_the_dashboard_is_one_of_the_service(folder):
    dashboard = open(DASHBOARD).read()
    unknown = named(dashboard) - exposed(folder) - {"headwater_intake_" + name for name in INTAKE}
    assert named(dashboard) and not unknown, unknown


def test_the_dashboard_has_a_data_source_of_ones_own_and_every_part(folder):
    dashboard = json.load(open(DASHBOARD))
    variables = {v["name"]: v["type"] for v in dashboard["templating"]["list"]}
    assert variables["datasource"] == "datasource" and variables["river"] == "query", variables
    panels = [p for p in dashboard["panels"] if p["type"] != "row"]
    assert all(p["datasource"]["uid"] == "${datasource}" and p["targets"] for p in panels), panels
    rows_ = [p["title"] for p in dashboard["panels"] if p["type"] == "row"]
    assert rows_ == ["Incidents", "Intakes", "Sensors", "The service"], rows_
    assert len({p["id"] for p in dashboard["panels"]}) == len(dashboard["panels"])


sys.exit(bool(run_claims({name: claim for name, claim in list(globals().items()) if name.startswith("test_")})))
