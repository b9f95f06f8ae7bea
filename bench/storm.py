"""The benchmark `storm`: a service that allows so many requests a second, in simulated time.

The real getter reads through the real client, which paces itself. The service is free for 5 s, then
answers 429 beyond a token bucket (a burst of a tenth of a second) for 30 s, then is free again.
Goodput and rejections are those of the whole 30 s; "back" is from the limit's end to the first
second at 0.9 of the rate before it.

Then a service without a limit, of which a share of all requests goes wrong: 503 or 500 without a
word, or a reset. "Retries alone" is the bare client in the same simulation, with as many reads at a
time as the getter has in flight where nothing goes wrong: each that fails waits its backoff, the
others go on. bench/macro/storm.cpp runs both.
"""

import concurrent.futures
import json
import os
import subprocess

import report
import tail

ALLOWED = (100, 500, 1_000, 2_000, 4_000, 8_000)
FREE_S, LIMITED_S, AFTER_S = 5, 30, 20
TROUBLES = {"503": 503, "500": 500, "resets": 0}
SHARES = (0.001, 0.005, 0.01, 0.02, 0.05)
RAMP_S, TROUBLE_S, TROUBLE_AIM = 5, 15, 0.9
GOODPUT_AIM, REJECTED_AIM, BACK_AIM_S, FULL = 0.9, 0.1, 10, 0.9


def simulate(folder, *arguments):
    done = subprocess.run([folder / "bench/macro/bench_storm", *map(str, arguments)],
                          stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def limited(folder, allowed, seed):
    return simulate(folder, "--allowed", allowed, "--free-before", FREE_S, "--limited-for", LIMITED_S,
                    "--free-after", AFTER_S, "--seed", seed)


def troubled(folder, seed, *trouble):
    """Reads a second after the ramp, and the whole line."""
    line = simulate(folder, "--free-before", RAMP_S, "--limited-for", 0, "--free-after", TROUBLE_S,
                    "--seed", seed, *trouble)
    bins = round(1 / line["bin"])
    return sum(line["accepted"][RAMP_S * bins:(RAMP_S + TROUBLE_S) * bins]) / TROUBLE_S, line


def beside_retries(folder, status, share, seed):
    """Goodput by goodput of retries alone, and reads that failed."""
    _, clean = troubled(folder, seed)
    trouble = ("--status", status, "--share", share)
    ours, line = troubled(folder, seed, *trouble)
    alone, _ = troubled(folder, seed, *trouble, "--loops", clean["concurrency"])
    return {"goodput": ours / alone, "reads_s": ours, "alone_s": alone, "failed": line["failed"]}


def judge(line):
    """Share of the allowed rate, share rejected, and seconds until it is back."""
    bins = round(1 / line["bin"])
    begin, end = FREE_S * bins, (FREE_S + LIMITED_S) * bins
    accepted, rejected = sum(line["accepted"][begin:end]), sum(line["rejected"][begin:end])
    full = sum(line["accepted"][begin - 2 * bins:begin]) / 2
    after = line["accepted"][end:end + AFTER_S * bins]
    back = next((i for i in range(len(after) - bins) if sum(after[i:i + bins]) >= FULL * full),
                len(after))
    return {"goodput": accepted / LIMITED_S / line["allowed"],
            "rejected": rejected / (accepted + rejected), "back_s": back / bins,
            "failed": line["failed"]}


def run(folder, options, versions):
    seeds = 1 if options.quick else 5
    tasks = [(allowed, seed) for allowed in ALLOWED for seed in range(1, seeds + 1)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        lines = dict(zip(tasks, pool.map(lambda task: limited(folder, *task), tasks)))
        tasks = [(name, share, seed) for name in TROUBLES for share in SHARES
                 for seed in range(1, seeds + 1)]
        beside = dict(zip(tasks, pool.map(
            lambda task: beside_retries(folder, TROUBLES[task[0]], *task[1:]), tasks)))
    found = []
    for allowed in ALLOWED:
        runs = [judge(lines[allowed, seed]) for seed in range(1, seeds + 1)]
        title = f"{allowed:,} a second allowed"
        found += [
            tail.figure(f"{title}: goodput, of that", [each["goodput"] for each in runs],
                        GOODPUT_AIM, most=False),
            tail.figure(f"{title}: share rejected", [each["rejected"] for each in runs], REJECTED_AIM),
            tail.figure(f"{title}: seconds until it is back", [each["back_s"] for each in runs],
                        BACK_AIM_S),
            tail.figure(f"{title}: reads that failed", [each["failed"] for each in runs], 0)]
    for name in TROUBLES:
        for share in SHARES:
            runs = [beside[name, share, seed] for seed in range(1, seeds + 1)]
            title = f"{share:.1%} of {name}"
            found += [
                tail.figure(f"{title}: goodput, of what retries alone allow",
                            [each["goodput"] for each in runs], TROUBLE_AIM, most=False),
                tail.figure(f"{title}: reads that failed", [each["failed"] for each in runs], 0)]
    over_time = {str(allowed): {key: lines[allowed, 1][key] for key in ("accepted", "rejected")}
                 for allowed in ALLOWED}
    result = {"bench": "storm", "versions": versions, "judged": found, "over_time": over_time,
              "troubled": [{"trouble": name, "share": share, "seed": seed, **each}
                           for (name, share, seed), each in beside.items()]}
    (report.OUT / "storm.json").write_text(json.dumps(result) + "\n")
    print("\n".join(tail.table(found)), end="\n\n", flush=True)
