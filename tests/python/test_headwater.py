"""test_headwater.py FOLDER: the Python package on a bundled spill, river.yaml and readings.csv."""
import ast
import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy
import pandas

import headwater

FOLDER = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path("examples/truckee")
RIVER, READINGS = FOLDER / "river.yaml", FOLDER / "readings.csv"


class Package(unittest.TestCase):
    def setUp(self):
        self.river = headwater.River(RIVER)

    def test_says_what_the_program_says(self):
        program = os.environ.get("HEADWATER")
        estimate = headwater.identify(self.river, READINGS)
        self.assertIn(estimate.river, repr(self.river))
        if program:
            printed = json.loads(
                subprocess.run(
                    [program, "identify", RIVER, READINGS, "--format", "json"], capture_output=True, check=True
                ).stdout
            )
            for key in ("estimate", "interval", "candidates", "arrivals", "trust"):
                self.assertEqual(estimate[key], printed[key], key)

    def test_frames_pieces_and_single_readings_give_the_same_bits(self):
        readings = headwater.read(READINGS, self.river)
        whole = headwater.identify(self.river, readings)
        frame = readings.frame()
        self.assertEqual(len(frame), len(readings))
        by_frame = headwater.identify(self.river, frame)
        pieces = headwater.Run(self.river)
        for begin in range(0, len(frame), 50):
            pieces.observe(frame.iloc[begin : begin + 50])
        single = headwater.Run(self.river)
        for row in frame.itertuples():
            single.observe(
                row.time.to_pydatetime(), row.sensor, row.concentration_g_m3, row.below_limit, row.above_limit
            )
        for other in (by_frame, pieces.estimate(), single.estimate()):
            self.assertEqual(other["interval"], whole["interval"])
            self.assertEqual(other["estimate"], whole["estimate"])

    def test_frames_as_pandas_reads_them(self):
        """Times and limits as texts: what read_csv makes of a readings file."""
        frame = pandas.read_csv(READINGS)
        self.assertEqual(frame["concentration_g_m3"].dtype, object)
        whole = headwater.identify(self.river, READINGS)
        for times in (frame["time"], pandas.to_datetime(frame["time"]).dt.tz_convert("Europe/Berlin")):
            by_frame = headwater.identify(self.river, frame.assign(time=times))
            self.assertEqual(by_frame["interval"], whole["interval"])
        wrong = frame.assign(concentration_g_m3=["high"] + list(frame["concentration_g_m3"][1:]))
        with self.assertRaisesRegex(headwater.InputError, "row 0: concentration_g_m3 'high', expected a number"):
            headwater.identify(self.river, wrong)
        with self.assertRaisesRegex(headwater.InputError, "a frame without sensors"):
            headwater.identify(self.river, frame.drop(columns="sensor"))

    def test_stubs_know_what_there_is(self):
        folder = pathlib.Path(__file__).parents[2] / "python" / "headwater"
        for stub, module in (("__init__.pyi", headwater), ("_headwater.pyi", headwater._headwater)):
            tree = ast.parse((folder / stub).read_text())
            for node in tree.body:
                if not isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                    continue
                real = getattr(module, node.name)
                for member in node.body if isinstance(node, ast.ClassDef) else ():
                    if isinstance(member, ast.FunctionDef):
                        self.assertTrue(hasattr(real, member.name), f"{stub}: {node.name}.{member.name}")
                known = {getattr(member, "name", None) for member in node.body}
                for name in vars(real) if isinstance(node, ast.ClassDef) and module is headwater else ():
                    if callable(getattr(real, name)) and not name.startswith("_"):
                        self.assertIn(name, known, f"{stub}: {node.name} lacks {name}")
        self.assertEqual(
            set(headwater.__all__),
            {n.name for n in ast.parse((folder / "__init__.pyi").read_text()).body if hasattr(n, "name")}
            | {"Error", "InputError", "MachineError", "River", "Table", "__version__", "methods"},
        )

    def test_arrays_are_looked_into_not_copied(self):
        readings = headwater.read(READINGS, self.river)
        values = numpy.asarray(memoryview(readings.table))
        self.assertEqual(values.shape, (len(readings), 5))
        self.assertFalse(values.flags.owndata or values.flags.writeable)
        run = headwater.Run(self.river)
        run.observe(readings)
        draws = run.samples()
        self.assertFalse(draws.flags.owndata)
        del run, readings
        gc.collect()
        self.assertAlmostEqual(draws["weight"].sum(), 1, delta=1e-9)  # weights of a call sum to 1
        self.assertTrue(numpy.isfinite(values).all())

    def test_strided_columns_of_any_kind_are_taken(self):
        values = numpy.asarray(memoryview(headwater.read(READINGS, self.river).table))
        run, other = headwater.Run(self.river, "atgd"), headwater.Run(self.river, "atgd")
        run.observe(values[:, 0], values[:, 1], values[:, 2], values[:, 3])
        other.observe(values[:, 0].copy(), values[:, 1].astype(numpy.int32), values[:, 2].copy(), values[:, 3] != 0)
        self.assertEqual(run.estimate()["estimate"], other.estimate()["estimate"])
        with self.assertRaisesRegex(ValueError, "time_s has format 'l'"):
            run.observe(values[:, 0].astype(int), values[:, 1], values[:, 2])
        with self.assertRaisesRegex(ValueError, "as long as the others"):
            run.observe(values[:, 0], values[1:, 1], values[:, 2])

    def test_missing_readings_are_passed_over(self):
        run = headwater.Run(self.river, "atgd")
        self.assertEqual(run.observe(numpy.array([1.0, 2.0]), numpy.array([0, 0]), numpy.array([numpy.nan, 0.3])), 2)
        self.assertEqual(run.readings, 1)
        self.assertEqual(run.estimate()["skipped"]["missing"], 1)

    def test_errors_are_exceptions_with_the_same_sentences(self):
        with self.assertRaisesRegex(headwater.InputError, "nowhere.yaml: No such file"):
            headwater.River("nowhere.yaml")
        with self.assertRaisesRegex(headwater.InputError, "r:1: unknown key 'colour'"):
            headwater.River(text="colour: red", name="r")
        with self.assertRaisesRegex(headwater.InputError, "level 5, expected a share between 0 and 1"):
            headwater.Run(self.river, level=5)
        with self.assertRaisesRegex(ValueError, "no method 'atdg'"):
            headwater.Run(self.river, "atdg")
        with self.assertRaisesRegex(headwater.InputError, "sensor 's77' is not in the river file"):
            headwater.Run(self.river).observe(
                pandas.DataFrame({"time_s": [1.0], "sensor": ["s77"], "concentration_ug_l": [2.0]})
            )
        with self.assertRaisesRegex(headwater.InputError, "reading 0: "):
            headwater.Run(self.river).observe(numpy.array([1.0]), numpy.array([99]), numpy.array([0.3]))
        with self.assertRaises(headwater.InputError):
            headwater.Run(self.river).estimate()
        with self.assertRaisesRegex(headwater.InputError, "times without an offset"):
            headwater.Run(self.river).observe(
                pandas.DataFrame(
                    {"time": pandas.to_datetime(["2026-03-01"]), "sensor": ["s1"], "concentration_ug_l": [2.0]}
                )
            )
        with self.assertRaises(TypeError):
            headwater.River()

    def test_tables_of_other_programs_are_read_and_told(self):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write("Zeit;Stelle;Konz (ppb)\n04.05.2026 10:15;s1;0,37\n04.05.2026 10:30;s1;14,2\n")
            file.flush()
            readings = headwater.read(file.name, self.river, timezone="Europe/Berlin")
        self.assertTrue(any("decimal comma" in note for note in readings.notes))
        frame = readings.frame()
        self.assertEqual(frame["time"][0], pandas.Timestamp("2026-05-04T08:15:00Z"))
        self.assertAlmostEqual(frame["concentration_g_m3"][1], 0.0142, delta=1e-15)

    def test_the_interpreter_goes_on_while_a_run_computes(self):
        readings = headwater.read(READINGS, self.river)
        ticks, done = [0], threading.Event()

        def work():
            headwater.identify(self.river, readings)
            done.set()

        worker = threading.Thread(target=work)
        worker.start()
        while not done.is_set():
            ticks[0] += 1
            done.wait(0.0005)
        worker.join()
        self.assertGreater(ticks[0], 3)  # a run that kept the lock would let at most a tick in at either end

    def test_estimates_show_themselves(self):
        estimate = headwater.identify(self.river, READINGS)
        self.assertIn("readings", repr(estimate))
        self.assertIn("90 % interval", str(estimate))
        page = estimate._repr_html_()
        self.assertIn("<table>", page)
        self.assertIn("mass_g", page)
        self.assertIn(estimate.estimate["time"][:10], page)  # the calendar, not seconds since 1970
        self.assertIn("interval", dir(estimate))
        self.assertEqual(dict(estimate), estimate.to_dict())
        nothing = headwater.identify(
            self.river, pandas.DataFrame({"time_s": [1.0, 2.0], "sensor": "s1", "concentration_g_m3": 0.0})
        )
        self.assertIn("no source: ", nothing._repr_html_())
        self.assertIn("no source; no sensor shows a pulse", repr(nothing))
        self.assertEqual(estimate.to_dict()["schema"], "headwater.estimate/1")
        with self.assertRaises(AttributeError):
            estimate.colour

    def test_predictions_and_plots(self):
        run = headwater.Run(self.river)
        run.observe(headwater.read(READINGS, self.river))
        time_s = run.estimate().estimate["time_s"] + numpy.linspace(0, 40000, 50)
        band = run.predict(self.river.sensors[0]["location_m"], time_s)
        self.assertEqual(band.shape, (50, 3))
        self.assertTrue((band[:, 0] <= band[:, 2]).all())
        import matplotlib

        matplotlib.use("Agg")
        self.assertEqual(run.plot().get_title(), self.river.name)


if __name__ == "__main__":
    unittest.main()
