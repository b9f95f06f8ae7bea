"""The benchmark `list_sim`: how fast the range splitter lists, in simulated time.

A call takes 0.1 and 0.001 for each entry; 48 are in flight; nothing is known beforehand. Figures
are how many times faster than page after page, and calls beyond the pages that this needs.
bench/macro/list_sim.cpp runs it, tests/support/name_shapes.hpp says what the shapes are.
"""

import json
import statistics
import subprocess

import report

# Least speed-up by size and shape, most calls beyond the pages, as a multiple of the slots.
AIMS = {1_000_000: {**dict.fromkeys("aceh", (42, 5)), **dict.fromkeys("bd", (40, 5)), "i": (40, 8),
                    "f": (38, 12), "g": (38, 8), "j": (38, 8), "k": (38, 12)},
        100_000: {**dict.fromkeys("abcdefghij", (15, None)), "k": (10, None)},
        10_000: dict.fromkeys("abcdefghijk", (1.5, 40 / 48)),
        100_000_000: dict.fromkeys("abd", (47, 1000 / 48))}
COLOURS = ("#1f77b4", "#d62728")
WIDTH, HEIGHT, LEFT, TOP = 640, 150, 50, 30


def simulate(folder, *arguments):
    done = subprocess.run([folder / "bench/macro/bench_list_sim", *map(str, arguments)],
                          stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def summary(line, jitter):
    speedups = [run["speedup"] for run in line["runs"]]
    extra = [run["calls"] - line["pages"] for run in line["runs"]]
    least, slots = AIMS.get(line["names"], {}).get(line["shape"], (None, None))
    most = None if slots is None else round(slots * line["slots"])
    median = statistics.median(speedups)
    missed = not jitter and ((least is not None and median < least) or
                             (most is not None and statistics.median(extra) > most))
    return {"names": line["names"], "shape": line["shape"], "title": line["title"],
            "jitter": jitter, "median": median, "worst": min(speedups), "bound": line["bound"],
            "aim": least, "extra": statistics.median(extra), "extra_worst": max(extra),
            "extra_aim": most, "cpu": line["cpu_us_per_object"], "missed": missed,
            "original": line.get("original"), "by_folder": line.get("by_folder")}


def table(rows):
    head = ("names", "shape", "", "x median", "worst", "aim", "bound", "calls+", "worst", "aim",
            "original", "by folder", "us/name", "")
    lines = [head]
    for row in rows:
        rivals = [f"{row[name]['speedup']:.1f}" if row[name] else "-"
                  for name in ("original", "by_folder")]
        aims = ["-" if aim is None else str(aim) for aim in (row["aim"], row["extra_aim"])]
        lines.append((f"{row['names']:,}", row["shape"], row["title"], f"{row['median']:.1f}",
                      f"{row['worst']:.1f}", aims[0], f"{row['bound']:.1f}", f"{row['extra']:.0f}",
                      f"{row['extra_worst']:.0f}", aims[1], *rivals, f"{row['cpu']:.3f}",
                      ("jitter" if row["jitter"] else "") + ("  missed" if row["missed"] else "")))
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return ["  ".join(cell.ljust(width) if i in (1, 2, 13) else cell.rjust(width)
                      for i, (cell, width) in enumerate(zip(line, widths))).rstrip()
            for line in lines]


def picture(lines):
    """Slots busy over time, one panel a shape, as SVG."""
    height = TOP + len(lines) * (HEIGHT + TOP)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 20}" '
             f'height="{height}" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>']
    for panel, line in enumerate(lines):
        base = TOP + panel * (HEIGHT + TOP) + HEIGHT
        end = line["sequential"] / line["runs"][0]["speedup"]
        steps = line["busy"] + [[end, 0]]
        points, before = [], 0
        for at, busy in steps:
            x = LEFT + at / end * WIDTH
            for value in (before, busy):
                points.append(f"{x:.1f},{base - value / line['slots'] * HEIGHT:.1f}")
            before = busy
        colour = COLOURS[panel % 2]
        parts += [
            f'<polygon points="{LEFT},{base} {" ".join(points)}" fill="{colour}" opacity="0.6"/>',
            f'<path d="M{LEFT},{base - HEIGHT} V{base} H{LEFT + WIDTH}" fill="none" stroke="#888"/>',
            f'<text x="{LEFT}" y="{base - HEIGHT - 6}">{line["shape"]}  {line["title"]}: '
            f'{line["runs"][0]["speedup"]:.1f}x in {end:.1f}</text>',
            f'<text x="{LEFT - 6}" y="{base - HEIGHT + 10}" text-anchor="end">{line["slots"]}</text>',
            f'<text x="{LEFT - 6}" y="{base}" text-anchor="end">0</text>']
    return "\n".join([*parts, "</svg>"]) + "\n"


def run(folder, options, versions):
    seeds = 2 if options.quick else 8
    rows = []
    main_lines = simulate(folder, "--sizes", 1_000_000, "--seeds", seeds, "--rivals", "--busy")
    rows += [summary(line, False) for line in main_lines]
    rows += [summary(line, False) for line in
             simulate(folder, "--sizes", 100_000, 10_000, "--seeds", seeds, "--rivals")]
    rows += [summary(line, True) for line in
             simulate(folder, "--sizes", 1_000_000, "--seeds", seeds, "--jitter")]
    if not options.quick:
        rows += [summary(line, False) for line in
                 simulate(folder, "--sizes", 100_000_000, "--seeds", 1, "--shapes", "abd")]
    (report.OUT / "list_sim.svg").write_text(picture(main_lines))
    result = {"bench": "list_sim", "versions": versions, "simulated": rows}
    (report.OUT / "list_sim.json").write_text(json.dumps(result, indent=1) + "\n")
    print("\n".join(table(rows)))
    print(f"slots busy over time: {report.OUT / 'list_sim.svg'}\n", flush=True)
