"""A real mosquitto, and somebody who publishes to it, for the tests."""
import os
import signal
import socket
import struct
import subprocess
import time


class Broker:
    """A mosquitto of our own, keeping its sessions on disk."""

    def __init__(self, folder, port=None, more="allow_anonymous true\n"):
        self.folder = folder
        if port is None:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
        self.port = port
        with open(os.path.join(folder, "mosquitto.conf"), "w") as out:
            out.write(
                f"listener {port} 127.0.0.1\n{more}persistence true\npersistence_location "
                f"{folder}/\nautosave_interval 1\n"
                "max_inflight_messages 200\nmax_queued_messages 0\n" + ("user root\n" if os.getuid() == 0 else "")
            )

    def start(self):
        self.process = subprocess.Popen(
            ["mosquitto", "-c", os.path.join(self.folder, "mosquitto.conf")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("mosquitto does not start")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


class Publisher:
    """QoS 1 over a plain socket: a message counts as handed over once the broker acknowledged it."""

    def __init__(self, port, tls=None, user=None, password=None, client="test", timeout=None):
        """tls: an ssl.SSLContext"""
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        text = lambda value: struct.pack(">H", len(value)) + value.encode()  # noqa: E731
        body = (
            text("MQTT")
            + bytes([4, 0xC2 if user else 2, 0, 60])
            + text(client)
            + (text(user) + text(password) if user else b"")
        )
        self.socket.sendall(bytes([0x10, len(body)]) + body)
        assert self.read(4)[:2] == b"\x20\x02"

    def read(self, size):
        data = b""
        while len(data) < size:
            chunk = self.socket.recv(size - len(data))
            if not chunk:
                raise ConnectionError("the broker went away")
            data += chunk
        return data

    def publish(self, messages):
        for number, (topic, payload) in enumerate(messages, 1):
            body = struct.pack(">H", len(topic)) + topic.encode() + struct.pack(">H", number) + payload.encode()
            length, head = len(body), b"\x32"
            while True:
                head += bytes([(length & 0x7F) | (0x80 if length > 0x7F else 0)])
                length >>= 7
                if not length:
                    break
            self.socket.sendall(head + body)
        for _ in messages:
            self.read(4)
