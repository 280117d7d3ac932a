"""Prints the figures of `./x growth` as a table. Draws these figures and the figures of `./x simulate` as curves on one page."""

import collections
import csv
import math
import pathlib
import sys

WIDTH, HEIGHT, GAP, MARGIN = 300, 190, 90, 70
COLOURS = ["#1565c0", "#c62828", "#2e7d32"]
FIGURES = {
    "start_ms": "ms from the launcher's start to the first barrier",
    "barrier_us": "us for a barrier",
    "task_kib": "KiB of memory for a task",
    "pair_kib": "KiB for a pair of tasks that talk",
    "end_ms": "ms from a kill -9 to the end of the job",
}
# Diagrams of `./x simulate`: the title, and for each curve the part and the measure in its table.
SIMULATED = {
    "s until all hosts agree (simulated)": {
        "all hosts join": ("all come", "time to agree"),
        "a tenth is lost": ("a tenth is lost", "time to agree"),
        "leader and a tenth": ("leader and a tenth", "time to agree"),
    },
    "messages of a host while all join (simulated)": {
        "mean": ("all come", "messages per host, mean"),
        "busiest host": ("all come", "messages of the busiest host"),
    },
    "connections of a host (simulated)": {
        "mean": ("all come", "connections per host, mean"),
        "checked": ("all come", "checked connections per host, mean"),
        "busiest host": ("all come", "connections of the busiest host"),
    },
}


def read_figures(path):
    figures = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in open(path, encoding="utf-8"):
        system, tasks, name, value = line.split()
        if name in FIGURES:
            figures[name][system].append((int(tasks), float(value)))
    return figures


def read_simulation(results):
    """The diagrams of the newest table of `./x simulate`, if there is one."""
    tables = sorted(results.glob("*/simulation.csv"), key=lambda path: path.stat().st_mtime)
    values = collections.defaultdict(list)
    for row in csv.DictReader(open(tables[-1], encoding="utf-8")) if tables else []:
        values[row["part"], row["measure"]].append((int(row["hosts"]), float(row["value"])))
    diagrams = {title: {label: values[key] for label, key in curves.items() if values[key]} for title, curves in SIMULATED.items()}
    return {title: curves for title, curves in diagrams.items() if curves}


def print_table(figures):
    for name, text in FIGURES.items():
        tasks = sorted({count for points in figures[name].values() for count, _ in points})
        print(text)
        print(f"  {'tasks':10}" + "".join(f"{count:>9}" for count in tasks))
        for system, points in figures[name].items():
            values = dict(points)
            print(f"  {system:10}" + "".join(f"{values[count]:9.1f}" if count in values else f"{'-':>9}" for count in tasks))


def ticks(low, high):
    return [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def number(value):
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def panel(title, unit, curves, left, top):
    """One diagram with logarithmic axes, as elements of SVG."""
    points = [point for series in curves.values() for point in series if point[1] > 0]
    across, up = ticks(min(p[0] for p in points), max(p[0] for p in points)), ticks(min(p[1] for p in points), max(p[1] for p in points))
    if len(up) == 1:
        up.append(up[0] * 10)

    def x(value):
        return left + WIDTH * (math.log10(value / across[0]) / max(1e-9, math.log10(across[-1] / across[0])))

    def y(value):
        return top + HEIGHT * (1 - math.log10(value / up[0]) / math.log10(up[-1] / up[0]))

    parts = [f'<text class="title" x="{left}" y="{top - 12}">{title}</text>']
    for value in across:
        parts.append(f'<line class="grid" x1="{x(value):.1f}" y1="{top}" x2="{x(value):.1f}" y2="{top + HEIGHT}"/>')
        parts.append(f'<text x="{x(value):.1f}" y="{top + HEIGHT + 16}" text-anchor="middle">{number(value)}</text>')
    for value in up:
        parts.append(f'<line class="grid" x1="{left}" y1="{y(value):.1f}" x2="{left + WIDTH}" y2="{y(value):.1f}"/>')
        parts.append(f'<text x="{left - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{number(value)}</text>')
    parts.append(f'<text x="{left + WIDTH}" y="{top + HEIGHT + 32}" text-anchor="end">{unit}</text>')
    for at, (label, series) in enumerate(curves.items()):
        path = " ".join(f"{x(count):.1f},{y(value):.1f}" for count, value in sorted(series) if value > 0)
        colour = COLOURS[at % len(COLOURS)]
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{path}"/>')
        parts.append(f'<text x="{left + 8}" y="{top + 16 + 15 * at}" style="fill:{colour}">{label}</text>')
    return parts


def draw(panels, path):
    rows = math.ceil(len(panels) / 2)
    width, height = 2 * (WIDTH + GAP) + MARGIN, rows * (HEIGHT + GAP) + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        "<style>text{font:12px sans-serif;fill:#333}.title{font-weight:bold}.grid{stroke:#ddd}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for at, (title, unit, curves) in enumerate(panels):
        parts += panel(title, unit, curves, MARGIN + 10 + at % 2 * (WIDTH + GAP), MARGIN + at // 2 * (HEIGHT + GAP))
    path.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def main():
    figures, results = read_figures(sys.argv[1]), pathlib.Path(sys.argv[2])
    print_table(figures)
    panels = [(text, "tasks", figures[name]) for name, text in FIGURES.items()]
    panels += [(title, "hosts", curves) for title, curves in read_simulation(results).items()]
    # The axes are logarithmic.
    panels = [panel for panel in panels if any(value > 0 for series in panel[2].values() for _, value in series)]
    draw(panels, results / "growth.svg")
    print(f"curves: {results / 'growth.svg'}")


main()
