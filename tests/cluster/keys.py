"""Certificates, and NATS' own credentials (nkeys and JWTs), made with nothing but openssl."""
import base64
import json
import os
import subprocess
import time

SEED, OPERATOR, ACCOUNT, USER = 18 << 3, 14 << 3, 0, 20 << 3  # first byte of a key, as NATS has it
PKCS8 = bytes.fromhex("302e020100300506032b657004220420")  # an Ed25519 key as DER, but for its 32 bytes
NO_LIMITS = {"subs": -1, "data": -1, "payload": -1}


def openssl(*words, **more):
    return subprocess.run(["openssl", *words], check=True, capture_output=True, **more).stdout


def certificates(folder, name, host="localhost"):
    """An authority of that name and a certificate of its for a machine: paths (authority, certificate, key)."""
    ca, ca_key, cert, key, request, more = (
        os.path.join(folder, name + end) for end in (".ca.pem", ".ca.key", ".pem", ".key", ".csr", ".ext")
    )
    openssl(
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        f"/CN={name}",
        "-keyout",
        ca_key,
        "-out",
        ca,
    )
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={host}", "-keyout", key, "-out", request)
    with open(more, "w") as out:
        out.write(f"subjectAltName = DNS:{host}\n")
    openssl(
        "x509",
        "-req",
        "-in",
        request,
        "-CA",
        ca,
        "-CAkey",
        ca_key,
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        more,
        "-out",
        cert,
    )
    return ca, cert, key


def checksum(data):
    """CRC-16/XMODEM"""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc.to_bytes(2, "little")


def written(data):
    return base64.b32encode(data + checksum(data)).decode().rstrip("=")


def url64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Key:
    def __init__(self, folder, kind):
        self.seed = os.urandom(32)
        self.path = os.path.join(folder, f"key-{self.seed[:4].hex()}.der")
        with open(self.path, "wb") as out:
            out.write(PKCS8 + self.seed)
        public = openssl("pkey", "-inform", "DER", "-in", self.path, "-pubout", "-outform", "DER")[-32:]
        self.public = written(bytes([kind]) + public)
        self.secret = written(bytes([SEED | kind >> 5, (kind & 31) << 3]) + self.seed)

    def token(self, subject, name, claims):
        """A JWT in which this key says something of `subject`."""
        body = {
            "jti": os.urandom(16).hex(),
            "iat": int(time.time()),
            "iss": self.public,
            "name": name,
            "sub": subject,
            "nats": {**claims, "version": 2},
        }
        text = (
            url64(json.dumps({"typ": "JWT", "alg": "ed25519-nkey"}).encode()) + "." + url64(json.dumps(body).encode())
        )
        with open(self.path + ".text", "w") as out:
            out.write(text)
        return (
            text
            + "."
            + url64(
                openssl(
                    "pkeyutl", "-sign", "-inkey", self.path, "-keyform", "DER", "-rawin", "-in", self.path + ".text"
                )
            )
        )


class Realm:
    """An operator, its system account and one account for headwater: a server's configuration, users of the account."""

    def __init__(self, folder):
        self.folder = folder
        operator, self.account, system = Key(folder, OPERATOR), Key(folder, ACCOUNT), Key(folder, ACCOUNT)
        limits = {**NO_LIMITS, "imports": -1, "exports": -1, "wildcards": True, "conn": -1, "leaf": -1}
        storage = {"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1}
        jwt = os.path.join(folder, "operator.jwt")
        with open(jwt, "w") as out:
            out.write(operator.token(operator.public, "operator", {"type": "operator"}))
        account = operator.token(self.account.public, "headwater", {"type": "account", "limits": {**limits, **storage}})
        self.conf = (
            f"operator: {jwt}\nresolver: MEMORY\nsystem_account: {system.public}\nresolver_preload: {{\n"
            f"  {self.account.public}: {account}\n"
            f"  {system.public}: {operator.token(system.public, 'SYS', {'type': 'account', 'limits': limits})}\n}}\n"
        )

    def user(self, name, account=None):
        """A credentials file; account: a key that vouches for the user instead of the realm's own."""
        key, path = Key(self.folder, USER), os.path.join(self.folder, name + ".creds")
        token = (account or self.account).token(key.public, name, {"type": "user", "pub": {}, "sub": {}, **NO_LIMITS})
        with open(path, "w") as out:
            out.write(
                f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY "
                f"SEED-----\n{key.secret}\n------END USER NKEY SEED------\n"
            )
        return path
