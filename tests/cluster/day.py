"""A recorded day: many rivers, some with one spill or two, the rest quiet; with repeated, late and contradicting
readings. The same seed gives the same day."""
import os
import random
import subprocess

DAY_S = 86_400
HEADER = "time_s,sensor,concentration_g_m3"
# Names as people give them: dots, blanks, stars and letters outside ASCII have to reach the stream and come back.
SENSOR_NAMES = ["s1", "weir.2", "gauge 3", "Brücke>*"]
PLAIN_NAMES = ["s1", "s2", "s3"]


def river_text(rng, name, sensors):
    velocity, area = rng.uniform(0.6, 1.6), rng.uniform(20, 90)
    lines = [
        f"name: {name}",
        f"hydraulics: {{velocity_m_s: {velocity:.3f}, dispersion_m2_s: {rng.uniform(20, 60):.2f}, area_m2: "
        f"{area:.1f}, decay_per_s: 0}}",
        "search: {mass_g: [1000, 400000], location_m: [-30000, -1000], time_s: [-20000, 90000]}",
        "sensors:",
    ]
    for i, sensor in enumerate(sensors):
        lines.append(
            f'  - {{id: "{sensor}", location_m: {i * rng.uniform(4000, 7000):.1f}, noise_relative: 0.05, '
            "noise_absolute_g_m3: 2.0e-5, detection_limit_g_m3: 2.0e-5}"
        )
    lines += [
        "candidates:",
        "  - {id: mill, name: Paper mill, location_m: -9000}",
        "  - {id: works, name: Sewage works, location_m: -15000}",
        "intakes:",
        "  - {id: town, name: Town intake, location_m: 26000, alarm_g_m3: 0.001}",
        "",
    ]
    return "\n".join(lines)


def simulate(headwater, path, source, first, last, every, seed):
    out = subprocess.run(
        [
            headwater,
            "simulate",
            path,
            "--source",
            source,
            "--every",
            str(every),
            "--from",
            str(first),
            "--to",
            str(last),
            "--noise-relative",
            "0.05",
            "--noise-absolute",
            "2e-5",
            "--seed",
            str(seed),
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return out.splitlines()[1:]


def disturb(rng, rows):
    """Some rows come late, some twice, and a few again with another value: then the first counts."""
    keyed = []
    for at, row in enumerate(rows):
        keyed.append((at + (rng.uniform(2, 40) if rng.random() < 0.04 else 0), row))
        if rng.random() < 0.04:
            keyed.append((at + rng.uniform(0, 60), row))
        if rng.random() < 0.004:
            time_s, sensor, value = row.rsplit(",", 2)
            keyed.append((at + rng.uniform(1, 60), f"{time_s},{sensor},{2 * abs(float(value)) + 0.001:.6g}"))
    return [row for _, row in sorted(keyed, key=lambda pair: pair[0])]


class River:
    """Its file, and what its sensors send: batches in the order they are sent, each at a moment of the day."""

    def __init__(self, headwater, folder, number, rng, spills, every):
        self.id = f"river-{number:03d}" if number % 5 else f"River_{number}.km-{number % 7}"
        self.spills = spills
        # Over MQTT redelivery may change the order, and NATS' topics take no dots and blanks: rivers without a spill,
        # plain names.
        self.by_mqtt = not spills and number % 5 != 0 and number % 2 == 1
        sensors = (
            PLAIN_NAMES if self.by_mqtt else SENSOR_NAMES[: rng.choice([2, 3, 4])] if number % 5 else ["s1", "weir.2"]
        )
        self.path = os.path.join(folder, self.id + ".yaml")
        with open(self.path, "w") as out:
            out.write(river_text(rng, self.id, sensors))
        # Half a day each, two releases a second one does not overlap; a quiet river has a release too small to see.
        rows = []
        for half in range(2):
            first, last = half * DAY_S // 2, (half + 1) * DAY_S // 2 - every
            mass = rng.uniform(4_000, 40_000) if half < spills else 0.001
            source = (
                f"{mass:.0f},{-rng.choice([9000, 15000, rng.uniform(5000, 16000)]):.0f},"
                f"{first + rng.uniform(1800, 7200):.0f}"
                if mass > 1
                else f"0.001,-9000,{first + 3600}"
            )
            rows += simulate(headwater, self.path, source, first, last, every, rng.randrange(1, 2**31))
        rows = rows if self.by_mqtt else disturb(rng, rows)
        self.readings = len(rows)
        self.messages = (
            [
                (f"headwater/{self.id}/{sensor}", f"{value} {time_s}")
                for time_s, sensor, value in (row.split(",") for row in rows)
            ]
            if self.by_mqtt
            else []
        )
        self.batches = []
        while rows:
            size = rng.randint(2, 40)
            self.batches.append("\n".join([HEADER, *rows[:size]]) + "\n")
            rows = rows[size:]


class Day:
    def __init__(self, headwater, folder, rivers=30, spilled=12, every=300, seed=1):
        rng = random.Random(seed)
        os.makedirs(folder, exist_ok=True)
        self.rivers = [
            River(headwater, folder, number, rng, 0 if number >= spilled else 1 + number % 2, every)
            for number in range(rivers)
        ]
        self.paths = [f"{river.id}={river.path}" for river in self.rivers]
        self.readings = sum(river.readings for river in self.rivers)
        self.unordered = {river.id for river in self.rivers if river.by_mqtt}
        self.spills = sum(river.spills for river in self.rivers)

    def lanes(self, count, mqtt=False):
        """For as many senders: each has rivers of its own and sends their batches as the day goes on. mqtt: those
        rivers too.
        """
        rivers = [river for river in self.rivers if mqtt or not river.by_mqtt]
        for lane in range(count):
            own = rivers[lane::count]
            yield [
                (river.id, batch)
                for _, river, batch in sorted(
                    (
                        ((at + 0.5) / len(river.batches), river, batch)
                        for river in own
                        for at, batch in enumerate(river.batches)
                    ),
                    key=lambda due: due[0],
                )
            ]

    def messages(self):
        """What comes over MQTT, as the day goes on: (topic, payload)."""
        return [
            message
            for _, _, message in sorted(
                ((at + 0.5) / len(river.messages), river.id, message)
                for river in self.rivers
                if river.by_mqtt
                for at, message in enumerate(river.messages)
            )
        ]
