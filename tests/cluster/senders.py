"""Who hands in the readings of a recorded day, each river's in order, until they are acknowledged."""
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "service"))
from broker import Publisher  # noqa: E402


class Sender(threading.Thread):
    """Each batch, in order, to one service or the other until it is acknowledged."""

    def __init__(self, lane, displays, pace):
        super().__init__(daemon=True)
        self.lane, self.displays, self.pace, self.done, self.tries, self.give_up = lane, displays, pace, 0, 0, False

    def run(self):
        at = 0
        for river, batch in self.lane:
            while self.pace(self.done / len(self.lane)) and not self.give_up:
                time.sleep(0.02)
            while not self.give_up:
                self.tries += 1
                if self.displays[at % len(self.displays)].post(river, batch, 8):
                    break
                at += 1  # perhaps the other one
                time.sleep(0.05)
            self.done += 1


class Sensors(threading.Thread):
    """Those that publish over MQTT, QoS 1, to one NATS node or another; acknowledged means by NATS."""

    AT_ONCE = 10

    def __init__(self, name, rows, ports, pace):
        """rows: (topic, payload) in order"""
        super().__init__(daemon=True)
        self.client, self.lane, self.ports, self.pace = name, rows, ports, pace
        self.done, self.tries, self.give_up = 0, 0, False

    def run(self):
        publisher, at = None, 0
        while self.done < len(self.lane) and not self.give_up:
            if self.pace(self.done / len(self.lane)):
                time.sleep(0.02)
                continue
            some = self.lane[self.done : self.done + self.AT_ONCE]
            self.tries += 1
            try:
                publisher = publisher or Publisher(self.ports[at % len(self.ports)], client=self.client, timeout=6)
                publisher.publish(some)
                self.done += len(some)
            except (OSError, AssertionError):
                publisher, at = None, at + 1
                time.sleep(0.1)
