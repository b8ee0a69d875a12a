"""The description of the interface against the routes and real answers: openapi.py HEADWATER ROUTES.c [TEST...]"""
import json
import os
import re
import sys
import tempfile

import jsonschema

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serving import RIVER, Service, run_claims, spill  # noqa: E402

HEADWATER, ROUTES = sys.argv[1:3]
# The dashboard's files are no interface.
ASSETS = {("get", "/"), ("get", "/{}"), ("get", "/assets/{}")}
LINE = {
    "type": "Feature",
    "properties": {},
    "geometry": {"type": "LineString", "coordinates": [[10, 50], [10.4, 50.3]]},
}
DOUBTFUL = RIVER.replace("velocity_m_s: 1.2,", "velocity_m_s: {median: 1.2, factor: 1.15},").replace(
    "dispersion_m2_s: 40,", "dispersion_m2_s: {median: 40, factor: 1.6},"
)


def table():
    """{(method, path with {} for names): role} of routes.c"""
    rows = re.findall(r'\{"([A-Z]+)", "([^"]+)", (?:HW_ROLE_)?(\w+), hw__\w+', open(ROUTES).read())
    return {(method.lower(), path): "none" if role == "0" else role.lower() for method, path, role in rows}


def bare(path):
    return re.sub(r"\{\w+\}", "{}", path)


def operations(description):
    return {
        (method, bare(path)): op for path, methods in description["paths"].items() for method, op in methods.items()
    }


def description_of(folder):
    with Service(HEADWATER, folder, "--method", "atgd") as service:
        status, text, headers = service.request("/v1/openapi.json")
        assert status == 200 and headers["Content-Type"] == "application/json"
        return json.loads(text)


def test_every_route_is_described_and_nothing_else(folder):
    description = description_of(folder)
    assert description["openapi"] == "3.1.0" and re.match(r"\d+\.\d+\.\d+$", description["info"]["version"])
    described, routes = operations(description), table()
    assert len(routes) > 25, routes
    assert set(described) == set(routes) - ASSETS, set(described) ^ (set(routes) - ASSETS)
    for key, op in described.items():
        assert op["x-headwater-role"] == routes[key], (key, op["x-headwater-role"], routes[key])
        assert bool(op["security"]) == (routes[key] != "none"), key
        assert op["summary"] and any(code.startswith("2") for code in op["responses"]), key
    ids = [op["operationId"] for op in described.values()]
    assert len(ids) == len(set(ids)), ids
    for path, methods in description["paths"].items():
        for op in methods.values():
            named = {p["name"] for p in op.get("parameters", []) if p["in"] == "path"}
            assert named == set(re.findall(r"\{(\w+)\}", path)), (path, named)


def test_every_schema_is_one_and_every_reference_leads_somewhere(folder):
    description = description_of(folder)
    for name, schema in description["components"]["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(schema)
    for reference in set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(description))):
        assert reference in description["components"]["schemas"], reference


def check_answer(description, service, path, ask, method="get", body=None):
    """The answer is one that is described: its status, its kind and its shape."""
    headers = (
        {"Content-Type": "text/csv" if path.endswith("readings") else "application/json"} if body is not None else {}
    )
    status, text, got = service.request(ask, body, headers, method=method.upper())
    responses = description["paths"][path][method]["responses"]
    assert str(status) in responses, f"{method} {ask}: {status} is not described: {text[:200]}"
    contents = responses[str(status)].get("content", {})
    kind = got["Content-Type"].split(";")[0] if got["Content-Type"] else None
    assert kind in contents or "*/*" in contents, f"{method} {ask}: {kind}, described are {list(contents)}"
    if "json" in kind and kind in contents:
        schema = {**contents[kind]["schema"], "components": description["components"]}
        faults = list(jsonschema.Draft202012Validator(schema).iter_errors(json.loads(text)))
        places = [f"{'/'.join(map(str, fault.absolute_path))}: {fault.message[:120]}" for fault in faults[:3]]
        assert not faults, f"{method} {ask}: {places}"
    return status, text


READING = {
    "/v1/overview": "",
    "/v1/rivers": "",
    "/v1/rivers/{river}": "/v1/rivers/demo",
    "/v1/rivers/{river}/readings": "/v1/rivers/demo/readings?sensor=s1",
    "/v1/rivers/{river}/places": "/v1/rivers/demo/places",
    "/v1/rivers/{river}/centerline": "/v1/rivers/demo/centerline",
    "/v1/centerlines": "",
    "/v1/incidents": "",
    "/v1/incidents/{id}": "/v1/incidents/ID",
    "/v1/incidents/{id}/readings": "/v1/incidents/ID/readings",
    "/v1/incidents/{id}/posterior": "/v1/incidents/ID/posterior?samples=20&grid=4",
    "/v1/incidents/{id}/forecast": "/v1/incidents/ID/forecast?x_m=8000&from=18000&to=30000&count=9",
    "/v1/incidents/{id}/plume": "/v1/incidents/ID/plume?time=20000&from_m=0&to_m=9000&count=9",
    "/v1/incidents/{id}/advice": "/v1/incidents/ID/advice",
    "/v1/incidents/{id}/bulletin": "/v1/incidents/ID/bulletin",
    "/v1/incidents/{id}/export": "/v1/incidents/ID/export?format=geojson",
    "/v1/events": "/v1/events?estimates=1",
    "/v1/methods": "",
    "/v1/openapi.json": "",
    "/metrics": "",
    "/metrics/rivers": "",
    "/healthz": "",
    "/readyz": "",
}
NOT_ASKED = {"/v1/stream"}  # it never ends; the tests of the stream read it


def ask_everything(folder, method, river):
    with Service(HEADWATER, folder, "--method", method, river=river) as service:
        description = service.get("/v1/openapi.json")
        gets = {path for path, methods in description["paths"].items() if "get" in methods}
        assert gets == set(READING) | NOT_ASKED, gets ^ (set(READING) | NOT_ASKED)
        for path, ask in READING.items():  # before anything is known, and of what is not there
            check_answer(description, service, path, (ask or path).replace("ID", "999"))
        header, *lines = spill(HEADWATER, service.river).splitlines()
        times = range(0, 18901, 1800 if method == "posterior" else 900)  # few: each has an answer of its own
        kept = [line for line in lines if float(line.split(",")[0]) in times]
        check_answer(
            description,
            service,
            "/v1/readings",
            "/v1/readings?river=demo",
            "post",
            "\n".join([header, *kept, "1e9,nosuch,1"]),
        )
        check_answer(description, service, "/v1/readings", "/v1/readings?river=demo", "post", "time_s,sensor\n")
        service.settle(90)
        incident = str(service.get("/v1/incidents")["incidents"][0]["id"])
        for path, ask in READING.items():
            status, text = check_answer(description, service, path, (ask or path).replace("ID", incident))
            assert status == 200 or (method == "atgd" and status == 409) or "centerline" in path, (
                path,
                status,
                text[:200],
            )
        check_answer(description, service, "/v1/incidents", "/v1/incidents", "post", "{}")
        check_answer(description, service, "/v1/incidents", "/v1/incidents", "post", '{"river": "demo"}')
        check_answer(description, service, "/v1/session", "/v1/session", "post", "")
        for what in ("acknowledge", "close"):
            path = f"/v1/incidents/{{id}}/{what}"
            check_answer(description, service, path, path.replace("{id}", incident), "post", "{}")
            check_answer(description, service, path, path.replace("{id}", "999"), "post", "{}")


def test_real_answers_are_as_described_with_the_engine(folder):
    ask_everything(folder, "posterior", DOUBTFUL)


def test_real_answers_are_as_described_with_a_learner_and_a_map(folder):
    with tempfile.TemporaryDirectory() as maps:
        line = os.path.join(maps, "line.geojson")
        json.dump(LINE, open(line, "w"))
        ask_everything(folder, "atgd", RIVER + f"centerline: {line}\n")


def main():
    claims = {name: claim for name, claim in globals().items() if name.startswith("test_")}
    sys.exit(bool(run_claims({name: claims[name] for name in sys.argv[3:] or claims})))


main()
