#!/usr/bin/env python3
"""Tables of benchmark results: `bench/report.py [NAME...]` prints those saved in bench/out."""

import json
import math
import pathlib
import sys

OUT = pathlib.Path(__file__).resolve().parent / "out"
BAR_FULL = 2.0  # the ratio at which a bar is full
BAR_WIDTH = 20


def row(case, unit, ours, reference, value, ratios=(), aim=None):
    """A row of the result. `ratios` are ours / reference, round by round; `aim`: the most that the
    ratio of the row is to be, or {"least", "most"}."""
    has_ratio = ours is not None and value not in (None, 0)
    return {"case": case, "unit": unit, "ours": ours, "reference": reference,
            "reference_value": value, "ratio": ours / value if has_ratio else None,
            "ratio_min": min(ratios) if ratios else None,
            "ratio_max": max(ratios) if ratios else None,
            "ratio_interval": interval(ratios), "rounds": len(ratios), "aim": aim}


def interval(ratios):
    """Where the median of all rounds there could be lies with 95 % certainty, by the order of those
    there were; less than six do not say."""
    n = len(ratios)
    outside = 1  # of these, at either end
    while sum(math.comb(n, below) for below in range(outside + 1)) <= 0.025 * 2 ** n:
        outside += 1
    if n < 6:
        return None
    ordered = sorted(ratios)
    return [ordered[outside - 1], ordered[n - outside]]


def number(value):
    if value is None:
        return "-"
    if value == 0 or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


def aligned(lines, left):
    """Rows of cells as text lines; the columns in `left` begin at the left."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return ["  ".join(cell.ljust(width) if i in left else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(line, widths))).rstrip()
            for line in lines]


def bar(ratio):
    """The ratio as a bar, with a mark where ours equals the reference."""
    if ratio is None:
        return ""
    cells = list("." * BAR_WIDTH)
    filled = max(0, min(BAR_WIDTH, round(ratio / BAR_FULL * BAR_WIDTH)))
    cells[:filled] = "#" * filled
    cells[round(BAR_WIDTH / BAR_FULL)] = "|"
    return "".join(cells)


def bounds(row):
    """The least and the most that the ratio of a row with an aim is to be; None = no bound."""
    aim = row["aim"]
    return (aim["least"], aim["most"]) if isinstance(aim, dict) else (None, aim)


def met(row):
    """Whether the ratio of a row with an aim is within it."""
    (least, most), ratio = bounds(row), row["ratio"]
    return ratio is not None and (least is None or ratio >= least) and (most is None or ratio <= most)


def verdict(row):
    """The aim of a row, and whether it was missed."""
    if row.get("aim") is None or row["ratio"] is None:
        return ""
    least, most = bounds(row)
    return (number(most) if least is None else f">= {number(least)}") + ("" if met(row) else " missed")


def table(result):
    """The rows of one result as text lines."""
    head = ("case", "unit", "ours", "reference", "", "ratio", "95 %", "least", "most", "rounds", "")
    lines = [head]
    with_aims = any(row.get("aim") is not None for row in result["rows"])
    if with_aims:
        lines = [(*head, "aim")]
    for row in result["rows"]:
        lines.append((row["case"], row["unit"], number(row["ours"]), row["reference"],
                      number(row["reference_value"]), number(row["ratio"]),
                      "-".join(map(number, row.get("ratio_interval") or [None])),
                      number(row["ratio_min"]), number(row["ratio_max"]), str(row["rounds"]),
                      bar(row["ratio"]), *([verdict(row)] if with_aims else [])))
    versions = ", ".join(f"{name} {value}" for name, value in result["versions"].items())
    return [f"{result['bench']}: {versions}", *aligned(lines, {0, 1, 3, 10, 11})]


def main():
    names = sys.argv[1:] or sorted(path.stem for path in OUT.glob("*.json"))
    for name in names:
        result = json.loads((OUT / f"{name}.json").read_text())
        if "rows" in result:
            print("\n".join(table(result)), end="\n\n")


if __name__ == "__main__":
    main()
