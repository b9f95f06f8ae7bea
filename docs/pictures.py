#!/usr/bin/env python3
"""Draws the pictures of docs/training.md and docs/sampling.md.

    python3 docs/pictures.py [FOLDER]       writes FOLDER/*.svg; by default into docs/

They are plain SVG on a ground of their own, so that they can be read on a dark page, too.
"""

import sys
from pathlib import Path

INK, PALE, GROUND = "#24292f", "#8c959f", "#ffffff"
USED, READY, MOVING, LATER = "#d0d7de", "#4ac26b", "#54aeff", "#ffffff"
RANKS = ("#54aeff", "#f7b955")

# CPU of a sample of 100 KiB in microseconds, of all processes: the getter's in C++, and what each way adds. As
# `./dev bench feed` measures the getter (43), batches() (50) and a DataLoader with 2 workers (172), and
# `./dev bench dataloader` "torch alone" (89); medians of 4 rounds on a Xeon with 2 cores, by the preset dev.
COSTS = (("DataLoader, 2 workers", (("the library", 43, MOVING), ("Python's part, and between processes", 40, RANKS[1]),
                                    ("torch: collate, shared memory", 89, USED))),
         ("batches()", (("the library", 43, MOVING), ("Python's part", 7, RANKS[1]))))


class Picture:
    def __init__(self, width, height, told):
        self.size = width, height
        self.told = told
        self.parts = []

    def add(self, part):
        self.parts.append("  " + part)

    def box(self, x, y, width, height, fill, stroke=INK, dash=""):
        self.add(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" fill="{fill}" '
                 f'stroke="{stroke}"' + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")

    def text(self, x, y, words, anchor="start", size=14, fill=INK, weight="normal"):
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        self.add(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}" fill="{fill}" '
                 f'font-weight="{weight}">{words}</text>')

    def line(self, points, stroke=INK, width=1.5, dash="", arrow=False):
        told = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.add(f'<polyline points="{told}" fill="none" stroke="{stroke}" stroke-width="{width}"'
                 + (f' stroke-dasharray="{dash}"' if dash else "")
                 + (' marker-end="url(#tip)"' if arrow else "") + "/>")

    def __str__(self):
        width, height = self.size
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" font-family="sans-serif">',
            f"  <title>{self.told}</title>",
            '  <defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{INK}"/></marker></defs>',
            f'  <rect width="{width}" height="{height}" rx="6" fill="{GROUND}"/>',
            *self.parts, "</svg>", ""])


def ahead():
    """The window over the order of two epochs."""
    made = Picture(820, 236, "Reads go ahead of the training step, over the end of an epoch into the next "
                   "one")
    side, left, top = 30, 20, 92
    kinds = [USED] * 6 + [READY] * 6 + [MOVING] * 7 + [LATER] * 7
    moved = {8: MOVING, 10: MOVING, 13: READY, 15: READY}  # what is there and what is under way are mixed
    end = 15  # the first place of the next epoch
    for place in range(26):
        kind = moved.get(place, kinds[place])
        made.box(left + place * side, top, side - 4, side - 4, kind,
                 PALE if kind in (USED, LATER) else INK, "3 3" if kind == LATER else "")
    at = left + 6 * side - 2
    made.line([(at, 54), (at, top - 6)], arrow=True)
    made.text(at, 44, "the step takes this one", "middle")
    until = left + 19 * side - 4
    made.line([(at, 142), (at, 150), (until, 150), (until, 142)])
    made.text((at + until) / 2, 170, "memory_cap: as far as the bytes of these have room", "middle")
    border = left + end * side - 2
    made.line([(border, 66), (border, 132)], dash="5 4")
    made.text(border - 8, 78, "epoch 3", "end", 13, PALE)
    made.text(border + 8, 78, "epoch 4", "start", 13, PALE)
    x = left
    for fill, words, width in ((USED, "used: its memory goes round", 226), (READY, "there, compared", 152),
                               (MOVING, "under way", 118), (LATER, "not asked for yet", 150)):
        made.box(x, 198, 16, 16, fill, PALE if fill in (USED, LATER) else INK, "3 3" if fill == LATER else "")
        made.text(x + 24, 211, words)
        x += width + 24
    return made


def shares():
    """One order, dealt to ranks, in batches to workers."""
    made = Picture(820, 288, "One order of an epoch is dealt to two ranks, and in batches to two workers of "
                   "each")
    rows = [17, 4, 22, 9, 13, 0, 6, 20, 2, 15, 11, 8, 19, 3, 23, 5]
    side, left = 32, 196
    made.text(20, 45, "the epoch's order")
    made.text(20, 62, "of (seed, epoch, count)", size=12, fill=PALE)
    for place, row in enumerate(rows):
        made.box(left + place * side, 30, side - 4, side - 4, RANKS[place % 2])
        made.text(left + place * side + 14, 49, str(row), "middle", 13)
    for rank, top in ((0, 106), (1, 200)):
        made.text(20, top + 19, f"rank {rank}", weight="bold")
        made.text(20, top + 37, "batch_size=2", size=12, fill=PALE)
        mine = rows[rank::2]
        for batch in range(4):
            x = left + batch * 132
            made.box(x - 6, top - 6, 2 * side + 8, side + 8, "#f6f8fa", PALE)
            for place in range(2):
                made.box(x + place * side, top, side - 4, side - 4, RANKS[rank])
                made.text(x + place * side + 14, top + 19, str(mine[2 * batch + place]), "middle", 13)
            made.text(x + 30, top + 54, f"worker {batch % 2}", "middle", 12, PALE)
            if batch:
                made.line([(x - 62, top + 14), (x - 10, top + 14)], arrow=True)
        made.text(left + 4 * 132 - 28, top + 19, "steps 0, 1, 2, 3")
    return made


def time():
    """What is done to a sample on its way, by processes and by threads."""
    made = Picture(820, 196, "What is done to a sample by worker processes, and by threads of the process of the step")
    ways = (("DataLoader", "with worker processes",
             (("receive", MOVING), ("decode", READY), ("collate", USED), ("to shared memory", RANKS[1]),
              ("pickle, pipe", RANKS[1]), ("unpickle, map", RANKS[1]))),
            ("batches()", "with decode threads", (("receive", MOVING), ("decode", READY), ("into its row", USED))))
    for top, (name, told, steps) in zip((30, 120), ways):
        made.text(20, top + 18, name, weight="bold")
        made.text(20, top + 36, told, size=12, fill=PALE)
        x = 176
        for number, (step, fill) in enumerate(steps):
            width = 16 + 6.5 * len(step)
            if number:
                made.line([(x - 14, top + 17), (x - 2, top + 17)], arrow=True)
            made.box(x, top, width, 34, fill)
            made.text(x + width / 2, top + 22, step, "middle", 13)
            x += width + 16
        made.line([(x - 14, top + 17), (x - 3, top + 17)], arrow=True)
        made.text(x + 4, top + 22, "step", weight="bold")
    made.text(176, 86, "in each worker up to the pipe, and from there in the process of the step", size=12, fill=PALE)
    made.text(176, 176, "in threads of the process of the step: one copy, and nothing crosses to another process", size=12,
              fill=PALE)
    return made


def costs():
    """Where the time of a sample that stays as it is goes, to scale."""
    made = Picture(820, 190, "CPU of a sample of 100 KiB whose bytes stay as they are: in a DataLoader with two workers, and by "
                   "batches()")
    left, scale = 196, 3.2  # pixels of a microsecond
    for top, (name, parts) in zip((30, 92), COSTS):
        made.text(20, top + 22, name, weight="bold")
        x = left
        for _, cost, fill in parts:
            made.box(x, top, cost * scale, 34, fill)
            if cost * scale >= 30:
                made.text(x + cost * scale / 2, top + 22, str(cost), "middle", 13)
            x += cost * scale
        made.text(x + 10, top + 22, f"{sum(cost for _, cost, _ in parts)} us")
    x = 20
    for words, _, fill in COSTS[0][1]:
        made.box(x, 152, 16, 16, fill)
        made.text(x + 24, 165, words)
        x += 64 + 7.2 * len(words)
    return made


def orders():
    """How each kind of shuffle goes through two shards."""
    made = Picture(820, 322, "The order of 24 samples of two shards: without a shuffle, in blocks, in windows of "
                   "blocks, and fully shuffled")
    side, left = 26, 180
    shades = ("#d5e8ff", "#9cc8ff", "#54aeff", "#fde8c4", "#fbd085", "#f7b955")  # blocks of four samples
    kinds = (("none", "one request", range(24)),
             ("blocks", "a request for each block", [8, 20, 1, 11, 22, 3, 9, 21, 0, 10, 23, 2,
                                                     17, 5, 14, 19, 6, 13, 16, 4, 15, 18, 7, 12]),
             ("window", "a request for each block", [11, 20, 1, 3, 22, 8, 0, 23, 9, 21, 2, 10,
                                                     5, 17, 19, 14, 16, 13, 4, 6, 18, 7, 15, 12]),
             ("full", "a request for each sample", [17, 4, 22, 9, 13, 0, 6, 20, 2, 15, 11, 8,
                                                    19, 3, 23, 5, 10, 21, 1, 14, 7, 18, 12, 16]))
    for number, (name, cost, rows) in enumerate(kinds):
        top = 24 + number * 62
        made.text(20, top + 15, name, weight="bold")
        made.text(20, top + 32, cost, size=12, fill=PALE)
        for place, row in enumerate(rows):
            made.box(left + place * side, top, side - 3, side - 3, shades[row // 4])
            made.text(left + place * side + 11.5, top + 16, str(row), "middle", 11)
        if name in ("blocks", "window"):
            for first in (0, 12):
                x = left + first * side
                made.line([(x, top + 30), (x, top + 35), (x + 12 * side - 3, top + 35), (x + 12 * side - 3, top + 30)])
                made.text(x + 6 * side, top + 49, "a window of 3 blocks", "middle", 11, PALE)
    x = left
    for first, words in ((0, "blocks of shard 0"), (3, "blocks of shard 1")):
        for shade in shades[first:first + 3]:
            made.box(x, 284, 16, 16, shade)
            x += 20
        made.text(x + 6, 297, words, size=13)
        x += 150
    return made


def throttled():
    """What happens to the rate of requests when the service refuses."""
    made = Picture(820, 270, "The rate of requests before, at and after a refusal with 429")
    left, bottom = 70, 214
    made.line([(left, 20), (left, bottom), (790, bottom)])
    made.text(left - 8, 24, "requests", "end", 12, PALE)
    made.text(left - 8, 38, "a second", "end", 12, PALE)
    made.text(790, 234, "time", "end", 12, PALE)
    allowed = 92
    made.line([(left, allowed), (560, allowed), (560, 30), (790, 30)], PALE, 1.5, "6 4")
    made.text(550, allowed - 10, "what the service accepts", "end", 12, PALE)
    curve = [(left, 200), (130, 150), (190, 84), (214, 62), (214, 108)]
    x, y = curve[-1]
    for _ in range(2):  # it grows until the next refusal
        curve += [(x + 130, allowed - 4), (x + 130, 106)]
        x, y = curve[-1]
    curve += [(610, 88), (660, 60), (780, 48)]
    made.line(curve, "#0969da", 2.5)
    made.text(214, 46, "429", "middle", weight="bold")
    made.text(222, 136, "0.9 of what was accepted", size=13)
    made.text(222, 153, "in the last second", size=13)
    made.text(402, 136, "2 % more a second,", size=13)
    made.text(402, 153, "until it refuses again", size=13)
    made.text(596, 136, "10 s without a refusal:", size=13)
    made.text(596, 153, "nothing is held back any more", size=13)
    made.line([(214, bottom), (214, bottom + 10)])
    made.text(214, 250, "refused requests wait and go again, for up to 5 minutes: no sample is lost", size=13)
    return made


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    for name, picture in (("training-ahead", ahead()), ("training-shares", shares()), ("training-time", time()),
                          ("training-costs", costs()),
                          ("training-throttled", throttled()), ("sampling-orders", orders())):
        (folder / f"{name}.svg").write_text(str(picture))


if __name__ == "__main__":
    main()
