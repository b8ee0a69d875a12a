"""Where a river spill came from, when, how much, and how sure.

    import headwater
    river = headwater.River("river.yaml")
    readings = headwater.read("readings.csv", river)
    estimate = headwater.identify(river, readings)
    print(estimate)

Readings may also be pandas frames, or columns of anything with the buffer protocol, one piece after the other:

    run = headwater.Run(river)
    for piece in pieces:
        run.observe(piece)
        print(run.estimate())

Errors are headwater.InputError (also a ValueError) and headwater.MachineError (also an OSError), with the sentences of
the command line.
"""
import datetime as _datetime
import html as _html
import json as _json
import re as _re

from ._headwater import Error, InputError, MachineError, River, Table, __version__, methods
from . import _headwater

__all__ = [
    "Error",
    "Estimate",
    "InputError",
    "MachineError",
    "Readings",
    "River",
    "Run",
    "Table",
    "__version__",
    "identify",
    "methods",
    "read",
]

_UNITS = {"concentration_g_m3": 1.0, "concentration_mg_l": 1.0, "concentration_ug_l": 1e-3, "concentration_ng_l": 1e-6}
_TIMES = {"time_s": 1.0, "time_min": 60.0, "time_h": 3600.0}


def _numpy():
    import numpy

    return numpy


def _when(unix_s):
    return _datetime.datetime.fromtimestamp(unix_s, _datetime.timezone.utc)


def _column_of_times(times):
    """A frame's times as instants: of a zone already, or texts in ISO 8601 with an offset."""
    import pandas

    if getattr(times.dtype, "tz", None) is not None:
        return times
    if times.dtype == object and all(isinstance(t, str) and _re.search(r"(Z|[+-]\d\d:?\d\d)$", t) for t in times):
        return pandas.to_datetime(times, utc=True)
    raise InputError(
        "times without an offset, expected a column of times with a zone (tz_localize), or texts such as "
        "2026-03-01T08:15:00Z"
    )


def _column_of_values(name, values):
    """Numbers, and which are limits: texts such as <0.02 and >0.3 are."""
    numpy = _numpy()
    if values.dtype != object:
        return numpy.asarray(values, dtype=float), None, None
    numbers, below, above = numpy.empty(len(values)), [], []
    for i, value in enumerate(values):
        text = value.strip() if isinstance(value, str) else value
        mark = text[:1] if isinstance(text, str) else ""
        below.append(mark == "<")
        above.append(mark == ">")
        try:
            numbers[i] = "nan" if text in ("", None) else text[1:] if mark in ("<", ">") else text
        except (TypeError, ValueError):
            raise InputError(
                f"row {i}: {name} {value!r}, expected a number, '<' or '>' and a limit, or nothing"
            ) from None
    return numbers, numpy.array(below), numpy.array(above)


class Readings:
    """What a file said: columns of numbers, and how many rows were passed over.

    origin: the instant of time_s = 0 in seconds since 1970 (UTC), None for times without a calendar.
    notes: what was taken for what in a table that is not written headwater's way.
    """

    def __init__(self, table, river, counts, origin, notes):
        self.table, self.river, self.counts, self.origin, self.notes = table, river, counts, origin, notes

    def __len__(self):
        return len(self.table)

    def __repr__(self):
        return f"<Readings: {len(self)} of {len(self.river.sensors)} sensors>"

    def __array__(self, dtype=None):
        return _numpy().asarray(memoryview(self.table), dtype=dtype)

    def frame(self):
        """A pandas frame: time (UTC) or time_s, sensor, concentration_g_m3, below_limit, above_limit."""
        import pandas

        values = _numpy().asarray(memoryview(self.table))
        ids = [sensor["id"] for sensor in self.river.sensors]
        time = values[:, 0]
        if self.origin is not None:
            time = pandas.to_datetime(self.origin + time, unit="s", utc=True)
        return pandas.DataFrame(
            {
                "time_s" if self.origin is None else "time": time,
                "sensor": [ids[int(i)] for i in values[:, 1]],
                "concentration_g_m3": values[:, 2],
                "below_limit": values[:, 3] != 0,
                "above_limit": values[:, 4] != 0,
            }
        )


def read(path, river, columns=None, timezone=None):
    """The readings of a CSV or NDJSON file, or of a table that another program wrote (columns, timezone: as on the
    command line, docs/import.md). What was taken for what is in .notes."""
    table, counts, origin, notes = _headwater.read(path, river, columns, timezone)
    return Readings(table, river, counts, origin, notes)


class Estimate:
    """An answer. Every key of the JSON object headwater.estimate/1 is an attribute and an item."""

    def __init__(self, text, words):
        self._keys, self._words = _json.loads(text), words

    def __getattr__(self, name):
        try:
            return self.__dict__["_keys"][name]
        except KeyError:
            raise AttributeError(f"an estimate has no {name}") from None

    def __getitem__(self, key):
        return self._keys[key]

    def __contains__(self, key):
        return key in self._keys

    def __dir__(self):
        return [*super().__dir__(), *self._keys]

    def keys(self):
        return self._keys.keys()

    def to_dict(self):
        """The object itself, a copy."""
        return _json.loads(_json.dumps(self._keys))

    def __str__(self):
        return self._words

    def __repr__(self):
        source = self._keys["estimate"]
        if source is None:
            return f"<Estimate of {self.readings} readings: no source; {self.trust_reason}>"
        return (
            f"<Estimate of {self.readings} readings: {source['mass_g']:.4g} g at {source['location_m']:.0f} m, "
            f"{source['time'] or format(source['time_s'], '.0f') + ' s'}>"
        )

    def _clock(self, time_s):
        """A time of this estimate for people: of the calendar where it has one."""
        source = self._keys["estimate"] or {}
        if time_s is None:
            return ""
        if source.get("time") is None:
            return f"{time_s:.5g}"
        begin = _datetime.datetime.fromisoformat(source["time"].replace("Z", "+00:00"))
        half_a_minute = 30  # to the nearest, as in words
        moved = _datetime.timedelta(seconds=time_s - source["time_s"] + half_a_minute)
        return (begin + moved).strftime("%Y-%m-%d %H:%M UTC")

    def _repr_html_(self):
        """Numbers with their intervals, the suspects, what intakes must expect, the warnings."""

        def row(*cells):
            return "<tr>" + "".join(f"<td>{_html.escape(str(cell))}</td>" for cell in cells) + "</tr>"

        def number(value):
            return "" if value is None else f"{value:.5g}"

        source, interval = self._keys["estimate"], self._keys["interval"] or {}
        rows = ["<tr><th>" + _html.escape(self.river) + "</th><th>estimate</th><th>from</th><th>to</th></tr>"]
        for key in ("mass_g", "location_m", "time_s") if source else ():
            lo, hi = interval.get(key) or (None, None)
            show = self._clock if key == "time_s" else number
            name = "time" if key == "time_s" and source["time"] else key
            rows.append(row(name, show(source[key]), show(lo), show(hi)))
        for suspect in self.candidates:
            rows.append(row(suspect["id"] or "none of these", f"{100 * suspect['probability']:.0f} %", "", ""))
        for arrival in self.arrivals if source else ():
            for key, words in (("first_s", "arrives at"), ("peak_s", "peaks at")):
                lo, mid, hi = arrival[key] or (None, None, None)
                rows.append(row(f"{words} {arrival['id']}", *(self._clock(t) for t in (mid, lo, hi))))
        said = [] if source else [f"no source: {self.trust_reason}"]
        said += [f"trust: {self.trust}"] if self.trust and source else []
        sentences = "".join(f"<li>{_html.escape(sentence)}</li>" for sentence in said + self.warnings)
        return "<table>" + "".join(rows) + "</table>" + (f"<ul>{sentences}</ul>" if sentences else "")


class Run:
    """One method at work on one river: readings go in, an estimate comes out after any of them.

    options: seed, level, particles, threads, origin. The interpreter's lock is released while it computes.
    """

    def __init__(self, river, method="posterior", **options):
        self._run = _headwater.Run(river, method, **options)
        self.river = river
        self._index = {sensor["id"]: i for i, sensor in enumerate(river.sensors)}

    @property
    def readings(self):
        """Readings used so far."""
        return self._run.readings

    @property
    def origin(self):
        """The instant of time_s = 0 in seconds since 1970 (UTC), or None."""
        return self._run.origin

    def __repr__(self):
        return f"<Run on {self.river.name or 'a river'}: {self.readings} readings>"

    def observe(self, readings=None, sensor=None, concentration_g_m3=None, below_limit=None, above_limit=None):
        """Takes readings: those of headwater.read, a pandas frame with the columns of a readings file, one reading
        (time, sensor, concentration), or columns with the buffer protocol. The time is a number of seconds, or where
        the river has a calendar a datetime with an offset. NaN is a missing reading. Gives how many were looked at."""
        if isinstance(readings, Readings):
            return self._observe_table(readings)
        if hasattr(readings, "columns"):
            return self._observe_frame(readings)
        if isinstance(sensor, str):
            return self._observe_one(readings, sensor, concentration_g_m3, below_limit, above_limit)
        return self._run.observe(readings, sensor, concentration_g_m3, below_limit, above_limit)

    def _observe_table(self, readings):
        self._take_origin(readings.origin)
        values = _numpy().asarray(memoryview(readings.table))
        return self._run.observe(*(values[:, i] for i in range(5)))

    def _observe_one(self, time, sensor, concentration, below_limit, above_limit):
        import array

        if isinstance(time, _datetime.datetime):
            if time.tzinfo is None:
                raise InputError("a time without an offset, expected one such as datetime(..., tzinfo=timezone.utc)")
            unix_s = time.timestamp()
            self._take_origin(0.0 if self.river.calendar else unix_s if self.origin is None else self.origin)
            time = unix_s - self.origin
        return self._run.observe(
            array.array("d", [time]),
            array.array("q", [self._place(sensor)]),
            array.array("d", [concentration]),
            array.array("b", [bool(below_limit)]),
            array.array("b", [bool(above_limit)]),
        )

    def _observe_frame(self, frame):
        numpy = _numpy()
        if "sensor" not in frame.columns:
            raise InputError("a frame without sensors, expected a column sensor")
        value, *marks = self._frame_values(frame)
        place = numpy.array([self._place(sensor) for sensor in frame["sensor"]], dtype=numpy.int64)
        flags = []
        for name, mark in zip(("below_limit", "above_limit"), marks):
            flag = numpy.ascontiguousarray(frame[name], dtype=bool) if name in frame.columns else None
            flags.append(mark if flag is None else flag if mark is None else flag | mark)
        return self._run.observe(self._frame_times(frame), place, value, *flags)

    def _frame_times(self, frame):
        numpy = _numpy()
        for name, seconds in _TIMES.items():
            if name in frame.columns:
                return numpy.asarray(frame[name], dtype=float) * seconds
        if "time" not in frame.columns:
            raise InputError("a frame without time, expected one of the columns time, time_s, time_min, time_h")
        import pandas

        time = _column_of_times(frame["time"])
        unix_s = (time - pandas.Timestamp(0, tz="UTC")).dt.total_seconds().to_numpy()
        self._take_origin(0.0 if self.river.calendar else unix_s[0] if self.origin is None else self.origin)
        return unix_s - self.origin

    @staticmethod
    def _frame_values(frame):
        for name, g_m3 in _UNITS.items():
            if name in frame.columns:
                numbers, below, above = _column_of_values(name, frame[name])
                return numbers * g_m3, below, above
        raise InputError("a frame without concentrations, expected one of the columns " + ", ".join(_UNITS))

    def _place(self, sensor):
        try:
            return self._index[sensor]
        except KeyError:
            raise InputError(
                f"sensor '{sensor}' is not in the river file, expected one of: " + ", ".join(self._index)
            ) from None

    def _take_origin(self, origin):
        if origin is None:
            return
        if self.readings and self.origin is not None and self.origin != origin:
            raise InputError("readings that count their time from another instant, expected the same in one run")
        self._run.origin = origin

    def estimate(self):
        """What is known after the readings so far."""
        return Estimate(self._run.estimate_json(), self._run.estimate_text())

    def samples(self, most=10000):
        """Weighted draws of everything unknown, as a record array: mass_g, location_m, time_s, branch, velocity_m_s,
        dispersion_m2_s, weight. It looks into the library's own numbers; nothing is copied."""
        numpy = _numpy()
        table = self._run.samples(most)
        kind = numpy.dtype([(name, float) for name in table.columns])
        return numpy.asarray(memoryview(table)).view(kind)[:, 0] if len(table) else numpy.empty(0, kind)

    def predict(self, location_m, time_s):
        """lo, mid and hi of the concentration (g/m3) at one place and these times, an array of three columns."""
        numpy = _numpy()
        return numpy.asarray(memoryview(self._run.predict(location_m, numpy.ascontiguousarray(time_s, dtype=float))))

    def plot(self, axes=None):
        """Place against time of the release, the draws as a cloud; gives the axes (matplotlib)."""
        import matplotlib.dates
        import matplotlib.pyplot

        axes = axes or matplotlib.pyplot.subplots(layout="constrained")[1]
        draws = self.samples()
        time = draws["time_s"] / 3600 if self.origin is None else [_when(self.origin + t) for t in draws["time_s"]]
        axes.scatter(draws["location_m"] / 1000, time, s=4 + 200 * draws["weight"], alpha=0.3)
        for candidate in self.river.candidates:
            axes.axvline(candidate["location_m"] / 1000, color="grey", linewidth=0.8)
            axes.annotate(
                candidate["name"] or candidate["id"],
                (candidate["location_m"] / 1000, 1),
                rotation=90,
                xycoords=("data", "axes fraction"),
                va="top",
                ha="right",
                fontsize=8,
            )
        unit = "h" if self.origin is None else "UTC"
        if self.origin is not None:
            axes.yaxis.set_major_formatter(matplotlib.dates.DateFormatter("%d %b %H:%M"))
        axes.set(xlabel="place, river km", ylabel=f"time of release, {unit}", title=self.river.name)
        return axes


def identify(river, readings, method="posterior", **options):
    """The estimate after all these readings: a Readings, a pandas frame, or the path of a file."""
    if not isinstance(readings, Readings) and not hasattr(readings, "columns"):
        readings = read(readings, river)
    run = Run(river, method, **options)
    run.observe(readings)
    return run.estimate()
