"""Part of the benchmark `languages`: get_many by our crate, beside C++, the C ABI and, with --peers,
object_store. CPU time of the process; the server looks the same to all. Without a Rust that is new
enough it is left out, which is said."""

import statistics
import subprocess
import sys

import needs
from report import row

CASES = [("many16k", "get_many 16 KiB", "http", 60000), ("many16k", "get_many 16 KiB", "https", 30000),
         ("many100k", "get_many 100 KiB", "http", 20000)]
ASKED = {"many16k": "get16k", "many100k": "get100k"}  # of object_store
AIMS = {"C++": {"http": 1.05, "https": 1.05}, "object_store": {"http": 0.5, "https": 0.8}}  # of 16 KiB
SCHEMES = {"http": "plain", "https": "TLS 1.3"}
IN_FLIGHT = 64


def built(folder):
    """The program; None where it cannot be built."""
    done = subprocess.run([sys.executable, needs.ROOT / "rust/by_rustc.py", "--library", folder,
                           "--out", folder / "rust-bench", "bench_rust",
                           needs.ROOT / "bench/macro/languages.rs"],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        print("bench: Rust is left out")
        return None
    return done.stdout.strip()


def cost(line):
    return line["cpu_s"] / line["requests"] * 1e6


def measure_all(options, folder, server, measure, programs, show):
    program = built(folder)
    if program is None:
        return []
    rows = []
    for name, words, scheme, count in CASES:
        count = max(count // (8 if options.quick else 1), 4 * IN_FLIGHT)
        title = f"rust {words}, {SCHEMES[scheme]}"
        beside = folder / "bench/macro/bench_languages"
        runs = {"ours": ([program], f"{name}-rust"), "C++": ([beside], f"{name}-cpp"),
                "C": ([beside], f"{name}-c")}
        if "object_store" in programs:
            runs["object_store"] = (programs["object_store"], ASKED[name])
        costs = {language: [] for language in runs}
        order = list(runs)
        for done in range(options.rounds):
            show(f"{title}: round {done + 1} of {options.rounds}")
            for language in order:
                command, asked = runs[language]
                costs[language].append(cost(measure(command, server, scheme, asked, count, IN_FLIGHT)))
            order = order[1:] + order[:1]
        show("")
        ours = costs.pop("ours")
        rows += [row(title, "us/object", statistics.median(ours), language, statistics.median(theirs),
                     [a / b for a, b in zip(ours, theirs)],
                     AIMS.get(language, {}).get(scheme) if name == "many16k" else None)
                 for language, theirs in costs.items()]
    return rows
