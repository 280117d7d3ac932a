"""Starts the programs of this folder in turns, Parvum and each peer, and prints what they measured side by side.

usage: compare.py [--rounds 3] [--only ring,tasks,joblib] [--out results.jsonl]

The interpreter that runs this must have the package parvum (`eval "$(./x env)"`) and the peers
(tools/peers-python.sh); what is missing is named and left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "parvum", "peers")
EXECUTORS = ("parvum", "multiprocessing", "loky", "dask", "ray")

# What each measure must reach: against whom, how many times better.
BARS = [
    ("array", 8, [("mpich", 1.3), ("openmpi", 1.3), ("ray", 50), ("dask", 50)]),
    ("array", 1 << 20, [("mpich", 1.5), ("openmpi", 1.5), ("ray", 3), ("dask", 10)]),
    ("array", 64 << 20, [("mpich", 1.5), ("openmpi", 1.5), ("ray", 3), ("dask", 10)]),
    ("dictionary", 10 << 20, [("mpich", 3), ("openmpi", 3)]),
    ("one by one", 0, [("ray", 10), ("dask", 10)]),
    ("in chunks", 0, [("ray", 10), ("dask", 10)]),
]


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def programs(only: set[str]) -> list[tuple[str, list[str], dict[str, str]]]:
    """What is started in a round: what it is called, its words, its variables."""
    here = sys.executable
    found: list[tuple[str, list[str], dict[str, str]]] = []

    def add(name: str, module: str, words: list[str], variables: dict[str, str] | None = None) -> None:
        if has(module):
            found.append((name, words, variables or {}))
        else:
            print(f"compare: {name} is left out: {module} is not installed", file=sys.stderr)

    if "ring" in only:
        for system in ("parvum", "multiprocessing", "ray", "dask"):
            module = {"dask": "distributed"}.get(system, system)
            add(f"ring of {system}", module, [here, f"{HERE}/ring_{system}.py"])
        for mpi in ("mpich", "openmpi"):
            mpiexec = f"{PEERS}/{mpi}/bin/mpiexec"
            if not os.path.exists(mpiexec):
                print(f"compare: mpi4py on {mpi} is left out: {mpiexec} is not there (./x peers)", file=sys.stderr)
                continue
            variables = {
                "LD_LIBRARY_PATH": f"{PEERS}/{mpi}/lib",
                "MPI4PY_MPIABI": mpi,
                "OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            }
            add(f"ring of mpi4py on {mpi}", "mpi4py", [mpiexec, "-n", "2", here, f"{HERE}/ring_mpi4py.py", "--name", mpi], variables)
    for kind, program in (("tasks", "tasks_any.py"), ("joblib", "joblib_any.py")):
        if kind in only:
            for system in EXECUTORS:
                if kind == "joblib" and system == "multiprocessing":
                    continue
                module = {"dask": "distributed"}.get(system, system)
                add(f"{kind} of {system}", module, [here, f"{HERE}/{program}", "--system", system])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="ring,tasks,joblib")
    parser.add_argument("--out", default="")
    options = parser.parse_args()
    values: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    units: dict[str, str] = {}
    plan = programs(set(options.only.split(",")))
    for turn in range(options.rounds):
        # The order changes, so that nobody always comes after the same.
        for name, words, variables in plan[turn % len(plan) :] + plan[: turn % len(plan)]:
            with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as file:
                try:
                    done = subprocess.run(
                        [*words, "--out", file.name], env={**os.environ, **variables}, capture_output=True, text=True, timeout=300
                    )
                except subprocess.TimeoutExpired:
                    print(f"compare: {name} took longer than 300 s", file=sys.stderr)
                    continue
                if done.returncode != 0:
                    print(f"compare: {name} failed:\n{done.stderr[-2000:]}", file=sys.stderr)
                for line in file:
                    found = json.loads(line)
                    values[found["measure"], found["size"], found["system"]].append(found["median"])
                    units[found["measure"]] = found["unit"]
                    if options.out:
                        with open(options.out, "a", encoding="utf-8") as out:
                            out.write(json.dumps({"round": turn, **found}) + "\n")
    show(values, units)
    return 0


def show(values: dict[tuple[str, int, str], list[float]], units: dict[str, str]) -> None:
    median = {key: statistics.median(found) for key, found in values.items()}
    for measure, size in dict.fromkeys((measure, size) for measure, size, _ in median):
        own = median.get((measure, size, "parvum"))
        print(f"{measure}, {size} bytes" if size else measure, f"({units[measure]})")
        for (m, s, system), value in median.items():
            if (m, s) == (measure, size):
                more_is_better = units[measure] == "/s"
                ratio = "" if own is None or not value or system == "parvum" else f"   x{own / value if more_is_better else value / own:.2f}"
                print(f"    {system:<18}{value:>14.2f}{ratio}")
    print("bars:")
    for measure, size, against in BARS:
        for peer, least in against:
            own, other = median.get((measure, size, "parvum")), median.get((measure, size, peer))
            if own is not None and other is not None:
                ratio = own / other if units[measure] == "/s" else other / own
                verdict = "met" if ratio >= least else "MISSED"
                print(f"    {measure} {size or ''} against {peer}: {ratio:.2f} of {least}: {verdict}")


if __name__ == "__main__":
    sys.exit(main())
