#!/bin/sh
# notebook.sh PYTHON NOTEBOOK: does every cell run? Skipped where Jupyter is not at hand.
"$1" -c 'import nbconvert, ipykernel' 2>/dev/null || { echo 'skip: no nbconvert and ipykernel'; exit 77; }
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
# The notebook finds its river beside it.
cp -r "$(dirname "$2")/." "$work" && cd "$work" || exit 99
export HOME="$work" MPLBACKEND=Agg
"$1" -m nbconvert --to notebook --execute --ExecutePreprocessor.kernel_name=python3 --output done.ipynb "$(basename "$2")" 2>log || { cat log; exit 1; }
"$1" - <<'PY'
import json
cells = [cell for cell in json.load(open("done.ipynb"))["cells"] if cell["cell_type"] == "code"]
assert cells and all(cell["execution_count"] for cell in cells)
assert any("image/png" in output.get("data", {}) for cell in cells for output in cell["outputs"]), "no picture"
print(len(cells), "cells")
PY
