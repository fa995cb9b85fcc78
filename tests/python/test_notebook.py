#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executes examples/notebook.ipynb as Jupyter does, in a kernel of its own. Needs Debian's python3-nbclient and
python3-ipykernel; where the first python3 has them not, that of the system is asked."""
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SKIPPED = 77  # to meson


def has(python):
    return subprocess.run([python, "-c", "import nbclient, nbformat, ipykernel"], capture_output=True).returncode == 0


def main():
    pythons = [python for python in (sys.executable, "/usr/bin/python3") if os.path.exists(python) and has(python)]
    if not pythons:
        print("skipped: nbclient and ipykernel are not installed (Debian: python3-nbclient python3-ipykernel)")
        return SKIPPED
    if pythons[0] != sys.executable:
        return subprocess.run([pythons[0], __file__]).returncode
    import nbclient
    import nbformat

    os.environ["PYTHONPATH"] = str(ROOT / "python")
    book = nbformat.read(ROOT / "examples/notebook.ipynb", as_version=4)
    if any(cell.get("outputs") for cell in book.cells):
        print("the notebook is kept without outputs: Jupyter's \"Clear all outputs\" before it is saved")
        return 1
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    shown = [output for cell in book.cells for output in cell.get("outputs", [])]
    drawn = [output for output in shown if "<svg" in output.get("data", {}).get("text/html", "")]
    print(f"{len(book.cells)} cells, {len(shown)} outputs, {len(drawn)} of them drawn")
    return 0 if len(drawn) >= 2 else 1


if __name__ == "__main__":
    sys.exit(main())
