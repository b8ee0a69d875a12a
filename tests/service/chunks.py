"""Chunked bodies with lines as they should not be: chunks.py HEADWATER [--seconds N] [--seed N]

Bodies are damaged by a few bytes, cut anywhere, sent behind other requests, plain and over TLS. A strict reading of RFC
9112, 7.1 says what each is. The service may take a body only if that reading takes it, and then says of it what it says
of the same bytes sent with a Content-Length; nothing of any other body is stored."""

import argparse
import contextlib
import json
import os
import random
import socket
import ssl
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from serving import Service, certificate, rows, run_claims  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("headwater")
parser.add_argument("--seconds", type=float, default=10, help="of trying, plain and over TLS each")
parser.add_argument("--seed", type=int, default=1)
ARGUMENTS = parser.parse_args()

HEAD = b"POST /v1/readings?river=demo HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n"
HEX = b"0123456789abcdefABCDEF"
ODD = (b"\r", b"\n", b"\r\n", b"\n\r", b"\r\r\n", b";", b"0", b"a", b"F", b" ", b"\t", b"\0", b"\x80", b"+", b"-", b"x")


def line(text, at):
    """Up to its CRLF, and where the next begins; None: it has another end, or none yet."""
    ends = [end for end in (text.find(b"\r", at), text.find(b"\n", at)) if end >= 0]
    if not ends or text[min(ends) : min(ends) + 2] != b"\r\n":
        return None, at
    return text[at : min(ends)], min(ends) + 2


def decode(text):
    """What the body says; None: it is not one, or not whole."""
    out, at = b"", 0
    while True:
        size, at = line(text, at)
        digits = size and size[: len(size) - len(size.lstrip(HEX))]
        if not digits or size[len(digits) : len(digits) + 1] not in (b"", b";", b" ", b"\t"):
            return None
        count = int(digits, 16)
        if count == 0:
            break
        out, at = out + text[at : at + count], at + count
        if text[at : at + 2] != b"\r\n":
            return None
        at += 2
    while True:
        trailer, at = line(text, at)
        if trailer is None:
            return None
        if not trailer:
            return out


def encode(rng, text):
    out = b""
    while text:
        count = rng.choice((1, 2, 3, 9, 15, 16, 17, 40, 400))
        piece, text = text[:count], text[count:]
        extension = rng.choice((b"", b"", b"", b";a=b", b';a="b c"', b";"))
        size = rng.choice((b"%x", b"%X", b"%04x")) % len(piece)
        out += size + extension + b"\r\n" + piece + b"\r\n"
    return out + rng.choice((b"0", b"00", b"0;z")) + b"\r\n" + rng.choice((b"", b"", b"X: y\r\n")) + b"\r\n"


def damage(rng, text):
    """A few bytes, rather at the lines' ends than elsewhere."""
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        ends = [i for i, byte in enumerate(text) if byte in b"\r\n"]
        at = rng.choice(ends) if ends and rng.random() < 0.7 else rng.randrange(len(text) + 1)
        kind = rng.random()
        if kind < 0.35:
            text = text[:at] + text[at + 1 :]
        elif kind < 0.7:
            text = text[:at] + rng.choice(ODD) + text[at:]
        elif kind < 0.9:
            text = text[:at] + rng.choice(ODD) + text[at + 1 :]
        else:
            text = text[:at]
    return text


def pieces(rng, text):
    """Cut up as a network might."""
    if rng.random() < 0.4:
        return [text]
    cuts = sorted(rng.randrange(len(text) + 1) for _ in range(rng.choice((1, 2, 5, 30))))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)]) if a < b]


def answers(connection, sent):
    """All that came back, as (status, body)."""
    heard = b""
    with contextlib.suppress(OSError):  # it may have left before the end
        for piece in sent:
            connection.sendall(piece)
            if len(sent) > 1:
                time.sleep(0.0002)
    with contextlib.suppress(OSError):  # nothing more comes; what is on its way back can still be read, TLS or not
        socket.socket.shutdown(connection, socket.SHUT_WR)
    with contextlib.suppress(OSError):
        while more := connection.recv(65536):
            heard += more
    told = []
    while heard:
        head, _, rest = heard.partition(b"\r\n\r\n")
        length = next(
            (int(h.split(b":")[1]) for h in head.split(b"\r\n") if h.lower().startswith(b"content-length:")), 0
        )
        told.append((int(head.split()[1]), rest[:length]))
        heard = rest[length:]
    return told


class Trial:
    def __init__(self, service, encrypted):
        self.service, self.stored, self.number, self.kinds = service, 0, 0, {}
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if encrypted else None
        if encrypted:
            self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE

    def ask(self, sent):
        with socket.create_connection(("127.0.0.1", int(self.service.address.rsplit(":", 1)[1]))) as plain:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.context.wrap_socket(plain) if self.context else contextlib.nullcontext(plain) as connection:
                connection.settimeout(20)
                return answers(connection, sent)

    def one(self, rng):
        self.number += 1
        text = b"time_s,sensor,concentration_g_m3\n" + b"".join(
            b"%d,s1,0\n" % (1000 * self.number + i) for i in range(rng.choice((1, 2, 5)))
        )
        sound = encode(rng, text)
        body = damage(rng, sound)
        behind = rng.choice((b"", b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        head = HEAD + b"Transfer-Encoding: chunked\r\n" + rng.choice((b"", b"", b"Expect: 100-continue\r\n")) + b"\r\n"
        ahead = rng.choice((b"", b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        meant = decode(body + behind)
        told = [answer for answer in self.ask(pieces(rng, ahead + head + body + behind)) if answer[0] != 100]
        context = (ARGUMENTS.seed, self.number, ahead, body, behind, told)
        assert not ahead or told[0][0] == 200, context
        told = told[1:] if ahead else told
        assert len(told) <= 1, context  # nothing behind such a body is a request
        status = told[0][0] if told else 0
        if status in (200, 422):
            assert meant is not None, context
            again = self.ask([HEAD + b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(meant) + meant])
            first, second = json.loads(told[0][1]), json.loads(again[0][1])
            assert status == again[0][0], (context, again)
            assert second["accepted"] == 0 and first["accepted"] <= second["duplicates"], (context, again)
            self.stored += first["accepted"]
        else:
            assert status in (0, 400, 413), context
            assert ahead or body != sound, context
        kind = "taken" if status in (200, 422) else "refused" if status else "no answer"
        self.kinds[kind] = self.kinds.get(kind, 0) + 1


def attack(folder, *options):
    rng = random.Random(ARGUMENTS.seed)
    with Service(ARGUMENTS.headwater, folder, "--method", "atgd", "--rate", "100000", *options) as service:
        trial, until = Trial(service, bool(options)), time.time() + ARGUMENTS.seconds
        while time.time() < until:
            trial.one(rng)
        print(f"  {trial.number} bodies: {trial.kinds}, {trial.stored} readings")
        assert trial.kinds.get("taken", 0) > 0 and trial.kinds.get("refused", 0) > 0, trial.kinds
        assert rows(service.db, "SELECT count(*) FROM readings") == [(trial.stored,)]


def test_bodies_in_the_clear(folder):
    attack(folder)


def test_bodies_over_tls(folder):
    made = certificate(folder, "localhost")
    if not made:
        print("  (no openssl program here: left out)")
        return
    attack(folder, "--tls-cert", made[0], "--tls-key", made[1])


if __name__ == "__main__":
    claims = {name: claim for name, claim in globals().items() if name.startswith("test_")}
    sys.exit(bool(run_claims(claims)))
