"""The benchmark `checkpoints`: states saved and loaded by torch, Lightning and torch.distributed.checkpoint.

2 GiB as one file, by a CheckpointIO and by DCP in 4 processes: by our package, by our C++ on as many
bytes (macro/checkpoint.cpp), and with --peers by gcsfs, gcs-torch-dataflux and s3torchconnector, whose
states are smaller, since they are slower: rates are compared. The emulator is on core 0, with a round trip of 20 ms
and 50 MB/s a connection; all ranks of a client share core 1. Then what does not depend on time:
checkpoint_limits.py has memory, requests and bytes. It needs torch and lightning, which are installed
below build/ (5.5 GB)."""

import statistics

import checkpoint_limits
import needs
from checkpoint_programs import LINK, Cpp, Failed, Python, emulator, remove
from report import row

MIB, GIB = 1 << 20, 1 << 30
SIZE, PEER_SIZE = 2 * GIB, 256 * MIB
QUICK, PEER_QUICK = 256 * MIB, 112 * MIB
RANKS = 4
FIGURES = (("cpu_s", "CPU"), ("wall_s", "wall"))
OURS, CPP, GCSFS, ORIGINAL, S3 = ("dataflux", "C++", "gcsfs", "gcs-torch-dataflux",
                                  "s3torchconnector")
FORMS = {"file": "one file", "lightning": "CheckpointIO", "dcp": f"DCP, {RANKS} processes"}
# Of our cost to theirs: the most that it may be.
AIMS = {CPP: {"save": 1.25, "load": 1.25}, GCSFS: {"save": 1 / 4, "load": 1 / 4},
        ORIGINAL: {"save": 1 / 2, "load": 1 / 3}}


class Clients:
    """Those that are measured in some forms, each with its ranks and a state of its own size. One that
    fails is named and left out."""

    def __init__(self, folder, pythons, endpoint, ranks, forms, sizes):
        self.forms, self._endpoint = forms, endpoint
        self.asked, self.sizes = {}, {}
        for name, client in pythons.items():
            try:
                warm = [] if name == S3 else forms  # what it could load is not there yet
                self.sizes[name] = client.world(ranks, endpoint, warm, sizes[name])
                self.asked[name] = client
            except Failed as why:
                self._left_out(name, why)
        self._cpp = Cpp(folder, endpoint, ranks, self.sizes[OURS])
        self.asked[CPP], self.sizes[CPP] = self._cpp, self.sizes[OURS]

    def _left_out(self, name, why):
        if name in (OURS, CPP):
            raise SystemExit(f"bench: {name} failed: {why}")
        print(f"bench: {name} is left out: {why}")
        client = self.asked.pop(name, None)
        if client is not None:
            client.ask(do="end")

    def measure(self, name, form, check, found):
        """Saves and loads once; s3torchconnector loads what gcsfs has saved."""
        place = f"{GCSFS if name == S3 else name}-{form}"
        ways = ("load",) if name == S3 else ("save", "load")
        if name == S3 and GCSFS not in self.asked:
            return
        if "save" in ways:
            remove(self._endpoint, place)
        for do in ways:
            more = {"check": check} if do == "load" else {}
            try:
                line = self.asked[name].ask(do=do, form=form, name=place, **more)
            except Failed as why:
                self._left_out(name, f"{FORMS[form]}, {do}: {why}")
                return
            found.setdefault((form, do), {}).setdefault(name, []).append(line)

    def end(self):
        """Their memory goes, and the processes stay for what is next."""
        self._cpp.close()
        for name, client in self.asked.items():
            if name != CPP:
                client.ask(do="end")


def transfers(folder, pythons, options, show):
    """{(form, save or load): {client: [line]}}, and the sizes of the states."""
    found, sizes = {}, {}
    for ranks, forms in ((1, ["file", "lightning"]), (RANKS, ["dcp"])):
        with emulator(folder, LINK) as server:
            wanted = {name: (QUICK, PEER_QUICK) if options.quick else (SIZE, PEER_SIZE)
                      for name in pythons}
            wanted = {name: of[name != OURS] for name, of in wanted.items()}
            show(f"checkpoints, {', '.join(FORMS[form] for form in forms)}: states are made")
            clients = Clients(folder, pythons, server.endpoint, ranks, forms, wanted)
            rounds = 1 if options.quick else options.rounds
            for done in range(rounds):
                order = [name for name in (OURS, CPP) if name in clients.asked]
                order = order[done % 2:] + order[:done % 2]
                if done < max(rounds // 2, 1):  # they cost many times as much
                    order += [name for name in clients.asked if name not in order]
                for name in order:
                    for form in forms[:1] if name == CPP else forms:
                        if name not in clients.asked:
                            continue
                        show(f"checkpoints, {FORMS[form]}: round {done + 1} of {rounds}, {name}")
                        clients.measure(name, form, done == 0, found)
            if ranks == 1:
                for do in ("save", "load"):
                    found["lightning", do][CPP] = found["file", do][CPP]
            sizes.update(clients.sizes)
            clients.end()
    show("")
    return found, sizes


def compare(found, sizes):
    rows = []
    for (form, do), lines in found.items():
        for figure, word in FIGURES:
            cost = {name: [line[figure] / line["bytes"] * GIB for line in of]
                    for name, of in lines.items()}
            for name in (CPP, GCSFS, ORIGINAL, S3):
                if name not in cost:
                    continue
                label = name if sizes[name] == sizes[OURS] else \
                    f"{name}, {sizes[name] // MIB} MiB"
                aim = AIMS.get(name, {}).get(do) if word == "wall" else None
                rows.append(row(f"{FORMS[form]}, {do}, {word}", "s/GiB",
                                statistics.median(cost[OURS]), label, statistics.median(cost[name]),
                                [a / b for a, b in zip(cost[OURS], cost[name])], aim))
    return rows


def measure_all(options, folder, show):
    python, versions = needs.from_pypi("checkpoints")
    if python is None:
        raise SystemExit("bench: checkpoints: torch and lightning are needed")
    names = [OURS, *((GCSFS, S3) if options.peers else ())]
    libraries = dict.fromkeys(names)
    if options.peers:
        older, more = needs.from_pypi("original")
        if older is not None:
            names.insert(2, ORIGINAL)
            versions = {**versions, **{f"{name} for it": of for name, of in more.items()}}
            libraries[ORIGINAL] = next(older.parent.parent.glob("lib/*/site-packages"))
    pythons = {name: Python(folder, python, name, libraries[name]) for name in names}
    try:
        found, sizes = transfers(folder, pythons, options, show)
        rows = compare(found, sizes)
        rows += checkpoint_limits.measure_all(options, folder, pythons, show)
    except Failed as why:
        raise SystemExit(f"bench: checkpoints: {OURS} failed: {why}") from None
    finally:
        for client in pythons.values():
            client.close()
    return rows, versions
