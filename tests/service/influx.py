"""Readings as clients of InfluxDB send them, byte by byte: influx.py HEADWATER [TEST...]

The requests are those of Telegraf's outputs influxdb (version 1) and influxdb_v2 as its sources write them: chunked,
compressed with gzip unless told otherwise, with these headers in this order."""
import base64
import gzip
import hashlib
import json
import os
import socket
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serving import RIVER, Service, rows, run_claims  # noqa: E402

HEADWATER = sys.argv[1]
AT = 1600000000
LINES = (
    b"water,host=gauge7,sensor=s1 concentration_ug_l=41.5,battery=3.1 %d000000000\n"
    b"water,host=gauge7,sensor=s2 concentration_g_m3=0.0125 %d000000000\n" % (AT, AT + 300)
)


def chunked(body, size=37):
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def telegraf_2(body, token="beta", bucket="demo", packed=True, more=""):
    encoding = "Content-Encoding: gzip\r\n" if packed else ""
    head = (
        f"POST /api/v2/write?bucket={bucket}&org=water{more} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"
        "User-Agent: Telegraf\r\nTransfer-Encoding: chunked\r\n"
        f"Authorization: Token {token}\r\n{encoding}Content-Type: text/plain; charset=utf-8\r\n"
        "Accept-Encoding: gzip\r\n\r\n"
    )
    return head.encode() + chunked(gzip.compress(body) if packed else body)


def telegraf_1(body, db="demo", packed=True, credentials="", more=""):
    encoding = "Content-Encoding: gzip\r\n" if packed else ""
    head = (
        f"POST /write?db={db}{more} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"
        "User-Agent: Telegraf/1.38.0 Go/1.26.0\r\nTransfer-Encoding: chunked\r\n"
        f"{credentials}{encoding}Content-Type: text/plain; charset=utf-8\r\nAccept-Encoding: gzip\r\n\r\n"
    )
    return head.encode() + chunked(gzip.compress(body) if packed else body)


def send(service, request):
    """(status, headers, body) as they came."""
    with socket.create_connection(("127.0.0.1", int(service.address.rsplit(":", 1)[1]))) as s:
        s.settimeout(20)
        s.sendall(request)
        data = b""
        while b"\r\n\r\n" not in data:
            data += s.recv(65536)
        head, _, body = data.partition(b"\r\n\r\n")
        status, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        while len(body) < int(headers.get("content-length", 0)):
            body += s.recv(65536)
    return int(status.split()[1]), headers, body


def stored(service):
    return rows(service.db, "SELECT time_s, concentration_g_m3 FROM readings ORDER BY seq")


def with_tokens(folder):
    path = os.path.join(folder, "tokens")
    open(path, "w").write(
        "".join(
            f"{role} {hashlib.sha256(token).hexdigest()}\n" for role, token in (("ingest", b"beta"), ("read", b"gamma"))
        )
    )
    return Service(HEADWATER, folder, "--method", "atgd", "--token-file", path)


def test_both_versions_of_telegraf_are_answered_204_and_nothing_else(folder):
    with Service(HEADWATER, folder, "--method", "atgd") as service:
        for request in (
            telegraf_2(LINES),
            telegraf_1(LINES),
            telegraf_2(LINES, packed=False),
            telegraf_1(LINES, packed=False),
        ):
            status, headers, body = send(service, request)
            assert (
                status == 204 and body == b"" and "content-type" not in headers and "content-length" not in headers
            ), (status, headers, body)
        assert stored(service) == [(AT, 0.0415), (AT + 300, 0.0125)], stored(service)
        # What is no reading is no fault: a line without a concentration, an empty body, comments.
        assert send(service, telegraf_2(b"water,sensor=s1 battery=3.1 1600000600000000000\n"))[0] == 204
        assert send(service, telegraf_2(b""))[0] == send(service, telegraf_1(b"# nothing\n\n"))[0] == 204
        assert len(stored(service)) == 2


def test_whole_numbers_and_every_precision(folder):
    ticks = {"ns": 10**9, "us": 10**6, "ms": 10**3, "s": 1}
    with Service(HEADWATER, folder, "--method", "atgd") as service:
        expected = []
        for index, (name, per_s) in enumerate(
            {**ticks, "": 10**9, "n": 10**9, "u": 10**6, "%C2%B5": 10**6}.items()
        ):
            line = b"water,sensor=s1 concentration_ug_l=%du %d\n" % (20 + index, (AT + 60 * index) * per_s)
            request = (
                telegraf_2(line, more=f"&precision={name}")
                if name in ticks
                else telegraf_1(line, more=f"&precision={name}")
            )
            assert send(service, request)[0] == 204, name
            expected.append((AT + 60 * index, (20 + index) / 1000))
        for name, length in (("m", 60), ("h", 3600)):
            assert (
                send(
                    service,
                    telegraf_1(
                        b"water,sensor=s2 concentration_ug_l=31i %d\n" % (AT // length), more=f"&precision={name}"
                    ),
                )[0]
                == 204
            )
            expected.append((AT // length * length, 0.031))
        assert stored(service) == expected, (stored(service), expected)
        status, _, body = send(service, telegraf_2(LINES, more="&precision=h"))
        assert status == 400 and json.loads(body) == {
            "code": "invalid",
            "message": "precision, expected ns, us, ms or s",
        }, body
        assert send(service, telegraf_1(LINES, more="&precision=day"))[0] == 400


def test_refused_lines_are_told_in_the_words_of_the_version(folder):
    body = LINES + b"water,sensor=nosuch concentration_ug_l=1 1600000000000000000\n"
    with Service(HEADWATER, folder, "--method", "atgd") as service:
        status, headers, answer = send(service, telegraf_2(body))
        assert status == 422 and headers["content-type"] == "application/json", (status, headers)
        told = json.loads(answer)
        assert told == {
            "code": "unprocessable entity",
            "message": "partial write: line 3: no sensor 'nosuch' in river demo dropped=1",
        }, told
        assert len(stored(service)) == 2  # the others are kept
        status, _, answer = send(service, telegraf_1(body))
        assert status == 400 and json.loads(answer) == {
            "error": "partial write: line 3: no sensor 'nosuch' in river demo dropped=1"
        }, answer
        status, _, answer = send(service, telegraf_2(b"water,sensor=s1 1600000000000000000\nwater\n"))
        assert status == 400 and json.loads(answer)["code"] == "invalid", (status, answer)
        assert json.loads(answer)["message"].startswith("partial write: unable to parse: line 1: ") and json.loads(
            answer
        )["message"].endswith(" dropped=2"), answer


def test_the_bucket_names_the_river_where_there_is_one(folder):
    other = os.path.join(folder, "other.yaml")
    open(other, "w").write(RIVER)
    service = Service(HEADWATER, folder, "--method", "atgd")
    service.rivers.append(other)
    line = b"water,sensor=s1 concentration_ug_l=12 %d\n"
    with service:
        assert send(service, telegraf_2(line % (AT * 10**9), bucket="other"))[0] == 204
        assert send(service, telegraf_1(line % (AT * 10**9), db="demo"))[0] == 204
        status, _, body = send(service, telegraf_2(line % (AT * 10**9), bucket="telegraf"))
        assert status == 422 and "several rivers" in json.loads(body)["message"], body
        assert (
            send(
                service,
                telegraf_2(b"water,river=other,sensor=s2 concentration_ug_l=12 1600000000000000000\n", bucket="demo"),
            )[0]
            == 204
        )
        assert send(service, telegraf_1(line % ((AT + 300) * 10**9), db="telegraf", more="&river=demo"))[0] == 204
        found = [
            len(service.get(f"/v1/rivers/{river}/readings?sensor={sensor}")["readings"])
            for river, sensor in (("demo", "s1"), ("other", "s1"), ("other", "s2"))
        ]
        assert found == [2, 1, 1], found


def test_tokens_as_each_version_sends_them(folder):
    def basic(password):
        return "Authorization: Basic " + base64.b64encode(f"telegraf:{password}".encode()).decode() + "\r\n"

    with with_tokens(folder) as service:
        status, _, body = send(service, telegraf_2(LINES, token="wrong"))
        assert status == 401 and json.loads(body)["code"] == "unauthorized", (status, body)
        status, _, body = send(service, telegraf_2(LINES, token="gamma"))
        assert status == 403 and json.loads(body)["code"] == "forbidden", (status, body)
        assert (
            send(service, telegraf_1(LINES))[0]
            == send(service, telegraf_1(LINES, credentials=basic("wrong")))[0]
            == 401
        )
        assert send(service, telegraf_1(LINES, credentials="Authorization: Basic !!!\r\n"))[0] == 401
        assert not stored(service)
        assert send(service, telegraf_1(LINES, credentials=basic("beta")))[0] == 204
        assert send(service, telegraf_2(LINES))[0] == 204
        assert len(stored(service)) == 2


def test_faults_before_the_handler_are_told_the_same_way(folder):
    with Service(HEADWATER, folder, "--method", "atgd", "--body-limit", "1000") as service:
        for request, status, code in (
            (telegraf_2(LINES * 100, packed=False), 413, "request too large"),
            (telegraf_2(LINES * 100), 413, "request too large"),
            (
                telegraf_2(LINES, packed=False).replace(b"Content-Type", b"Content-Encoding: br\r\nContent-Type"),
                415,
                "invalid",
            ),
            (
                telegraf_2(LINES, packed=False).replace(b"Content-Type", b"Content-Encoding: gzip\r\nContent-Type"),
                400,
                "invalid",
            ),
        ):
            answer = send(service, request)
            assert answer[0] == status and json.loads(answer[2])["code"] == code, answer


if __name__ == "__main__":
    chosen = sys.argv[2:]
    sys.exit(
        bool(
            run_claims(
                {
                    name: claim
                    for name, claim in list(globals().items())
                    if name.startswith("test_") and (not chosen or name in chosen)
                }
            )
        )
    )
