"""The benchmark `list_sim`: how fast the range splitter lists, in simulated time.

A call takes 0.1 and 0.001 for each entry; 48 are in flight; nothing is known beforehand. Figures
are how many times faster than page after page, and calls beyond the pages that this needs.
bench/macro/list_sim.cpp runs it, tests/support/name_shapes.hpp says what the shapes are.
"""

import json
import statistics
import subprocess

import png
import report

# Least speed-up by size and shape, most calls beyond the pages, as a multiple of the slots.
AIMS = {1_000_000: {**dict.fromkeys("aceh", (42, 5)), **dict.fromkeys("bd", (40, 5)),
                    "i": (40, 8), **dict.fromkeys("gj", (38, 8)), **dict.fromkeys("fk", (38, 12))},
        100_000: {**dict.fromkeys("abcdefghij", (15, None)), "k": (10, None)},
        10_000: dict.fromkeys("abcdefghijk", (1.5, 40 / 48)),
        100_000_000: dict.fromkeys("abd", (47, 1000 / 48))}
CPU_AIM = 0.05  # us a name, at 100 million
SMALL = (1, 100, 500, 1000, 1001, 1500, 2000, 3000, 5000)
COLOURS = ((31, 119, 180), (214, 39, 40))
WIDTH, HEIGHT, LEFT, TOP = 640, 120, 40, 24


def simulate(folder, *arguments):
    done = subprocess.run([folder / "bench/macro/bench_list_sim", *map(str, arguments)],
                          stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def summary(line, jitter=False):
    speedups = [run["speedup"] for run in line["runs"]]
    extra = [run["calls"] - line["pages"] for run in line["runs"]]
    least, slots = AIMS.get(line["names"], {}).get(line["shape"], (None, None))
    most = None if slots is None else round(slots * line["slots"])
    median = statistics.median(speedups)
    cpu = line["cpu_us_per_object"]
    missed = not jitter and ((least is not None and median < least) or
                             (most is not None and statistics.median(extra) > most) or
                             (line["names"] >= 100_000_000 and cpu > CPU_AIM))
    return {"names": line["names"], "shape": line["shape"], "title": line["title"],
            "jitter": jitter, "median": median, "worst": min(speedups), "bound": line["bound"],
            "aim": least, "extra": statistics.median(extra), "extra_worst": max(extra),
            "extra_aim": most, "cpu": cpu, "missed": missed,
            "original": line.get("original"), "by_folder": line.get("by_folder")}


def table(rows):
    lines = [("names", "shape", "", "x median", "worst", "aim", "bound", "calls+", "worst", "aim",
              "original", "by folder", "us/name", "")]
    for row in rows:
        rivals = [f"{row[name]['speedup']:.1f}" if row[name] else "-"
                  for name in ("original", "by_folder")]
        aims = ["-" if aim is None else str(aim) for aim in (row["aim"], row["extra_aim"])]
        lines.append((f"{row['names']:,}", row["shape"], row["title"], f"{row['median']:.1f}",
                      f"{row['worst']:.1f}", aims[0], f"{row['bound']:.1f}", f"{row['extra']:.0f}",
                      f"{row['extra_worst']:.0f}", aims[1], *rivals, f"{row['cpu']:.3f}",
                      ("jitter" if row["jitter"] else "") + ("  missed" if row["missed"] else "")))
    return report.aligned(lines, (1, 2, 13))


def small_table(lines):
    """The worst ratio of time to page after page, of all seeds: names by shape."""
    ratios = {(line["names"], line["shape"]): 1 / min(run["speedup"] for run in line["runs"])
              for line in lines}
    shapes = sorted({shape for _, shape in ratios})
    rows = [("names", *shapes)]
    for names in SMALL:
        rows.append((f"{names:,}", *(f"{ratios[names, shape]:.2f}" if (names, shape) in ratios
                                     else "-" for shape in shapes)))
    return ["small buckets: worst ratio of time to sequential", *report.aligned(rows, ())]


def picture(lines):
    """Slots busy over time, one panel a shape."""
    canvas = png.Canvas(LEFT + WIDTH + 20, TOP + len(lines) * (HEIGHT + TOP))
    for panel, line in enumerate(lines):
        base = (panel + 1) * (HEIGHT + TOP)
        end = line["sequential"] / line["runs"][0]["speedup"]
        for (at, busy), (until, _) in zip(line["busy"], [*line["busy"][1:], (end, 0)]):
            canvas.fill(LEFT + at / end * WIDTH, base - busy / line["slots"] * HEIGHT,
                        LEFT + until / end * WIDTH, base, COLOURS[panel % 2])
        canvas.fill(LEFT, base, LEFT + WIDTH, base + 1, (128, 128, 128))
        canvas.text(LEFT, base - HEIGHT - 12, f"{line['shape']}  {line['title']}: "
                    f"{line['runs'][0]['speedup']:.1f}x in {end:.1f}")
        canvas.text(LEFT - 24, base - HEIGHT, str(line["slots"]))
        canvas.text(LEFT - 16, base - 10, "0")
    return canvas


def run(folder, options, versions):
    seeds = ("--seeds", 2 if options.quick else 16)
    main_lines = simulate(folder, "--sizes", 1_000_000, *seeds, "--rivals", "--busy")
    rows = [summary(line) for line in main_lines]
    rows += [summary(line) for line in
             simulate(folder, "--sizes", 100_000, 10_000, *seeds, "--rivals")]
    rows += [summary(line, jitter=True) for line in
             simulate(folder, "--sizes", 1_000_000, 100_000, *seeds, "--jitter")]
    if not options.quick:
        rows += [summary(line) for line in
                 simulate(folder, "--sizes", 100_000_000, "--seeds", 1, "--shapes", "abd")]
    small = simulate(folder, "--sizes", *SMALL, *seeds)
    picture(main_lines).save(report.OUT / "list_sim.png")
    result = {"bench": "list_sim", "versions": versions, "simulated": rows, "small": small}
    (report.OUT / "list_sim.json").write_text(json.dumps(result, indent=1) + "\n")
    print("\n".join([*table(rows), "", *small_table(small)]))
    print(f"slots busy over time: {report.OUT / 'list_sim.png'}\n", flush=True)
