"""What a service has stored, in a form that two of them can be compared by: the numbers of the log differ, so an
incident is known by its river and the reading that opened it, an estimate by the reading that moved it."""
import contextlib
import json
import sqlite3

# Exact: SQLite gives back the double that was stored, and Python compares doubles bit by bit but for -0 and NaN.
READINGS = """SELECT v.id, s.id, r.time_s, r.concentration_g_m3, r.below
  FROM readings r JOIN rivers v ON v.key = r.river JOIN sensors s ON s.key = r.sensor ORDER BY v.id, r.seq"""
OPENED = """(SELECT s.id || '@' || r.time_s FROM readings r JOIN sensors s ON s.key = r.sensor WHERE r.seq = {0})"""
INCIDENTS = f"""SELECT v.id, coalesce({OPENED.format('i.id')}, 'by hand'),
  coalesce((SELECT id FROM sensors WHERE key = i.sensor), ''), i.method, i.seed, i.opened_s, i.onset_s,
  i.from_s, i.origin_s, {OPENED.format('i.closed_seq')}, i.closed_s, i.reason
  FROM incidents i JOIN rivers v ON v.key = i.river ORDER BY 1, i.id"""
ESTIMATES = f"""SELECT v.id, coalesce({OPENED.format('i.id')}, 'by hand'), {OPENED.format('e.seq')},
  e.readings, e.provisional, e.has_interval, e.mass_g, e.location_m, e.time_s,
  e.mass_lo, e.mass_hi, e.location_lo, e.location_hi, e.time_lo, e.time_hi
  FROM estimates e JOIN incidents i ON i.id = e.incident JOIN rivers v ON v.key = i.river ORDER BY i.id, e.seq"""
RESULTS = f"""SELECT v.id, coalesce({OPENED.format('i.id')}, 'by hand'), {OPENED.format('i.result_seq')}, i.result
  FROM incidents i JOIN rivers v ON v.key = i.river ORDER BY 1, i.id"""

# Incidents whose engine has not seen all it is going to.
BEHIND = """SELECT count(*) FROM incidents i WHERE i.result_seq < (SELECT max(r.seq) FROM readings r
  WHERE r.river = i.river AND r.time_s >= i.from_s AND (coalesce(i.closed_seq, 0) = 0 OR r.seq <= i.closed_seq))"""


def rows(db, sql):
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True, timeout=20)) as connection:
        return connection.execute(sql).fetchall()


def without_cost(result):
    """A result but for what it took to work it out."""
    if not result:
        return result
    read = json.loads(result)
    read.pop("cost", None)
    return json.dumps(read, sort_keys=True)


class Record:
    def __init__(self, db, unordered=()):
        """unordered: rivers whose readings may stand in another order"""
        found = rows(db, READINGS)
        self.readings = [row for row in found if row[0] not in unordered] + sorted(
            (row for row in found if row[0] in unordered), key=lambda row: row[:3]
        )
        self.incidents = rows(db, INCIDENTS)
        found = rows(db, ESTIMATES)
        self.estimates = {row[:3]: row[3:] for row in found}
        self.last = {row[:2]: row[2] for row in found}
        self.results = {row[:2]: (row[2], without_cost(row[3])) for row in rows(db, RESULTS)}

    def differences(self, other):
        """Sentences; none: the two say the same. Not every reading has an estimate stored (readings that waited
        together give one), but the last of an incident is always there, and those both have must agree."""
        said = []
        if self.readings != other.readings:
            mine, theirs = set(self.readings), set(other.readings)
            said.append(
                f"readings: {len(self.readings)} and {len(other.readings)}; {len(mine - theirs)} only here, "
                f"{len(theirs - mine)} only there"
                + (
                    "; the same ones, but in another order"
                    if mine == theirs and len(self.readings) == len(other.readings)
                    else ""
                )
            )
        if self.incidents != other.incidents:
            said.append(
                f"incidents: {len(self.incidents)} and {len(other.incidents)}; "
                + "; ".join(f"{a} / {b}" for a, b in zip(self.incidents, other.incidents) if a != b)[:600]
            )
        if self.last != other.last:
            said.append(
                "last estimates are of other readings: "
                + str(
                    [
                        (k, self.last.get(k), other.last.get(k))
                        for k in sorted(set(self.last) | set(other.last))
                        if self.last.get(k) != other.last.get(k)
                    ]
                )[:600]
            )
        common = set(self.estimates) & set(other.estimates)
        unlike = [key for key in common if self.estimates[key] != other.estimates[key]]
        if unlike:
            said.append(f"{len(unlike)} of {len(common)} estimates differ, the first for {min(unlike)}")
        if self.results != other.results:
            said.append(
                "results differ: " + str([k for k in self.results if self.results[k] != other.results.get(k)])[:300]
            )
        return said

    def common(self, other):
        return len(set(self.estimates) & set(other.estimates))
