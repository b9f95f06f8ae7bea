"""Part of the benchmark `checkpoints`: what does not depend on how fast the machine is. Memory of a rank
beyond its state's, at its peak as the kernel saw it; bytes that the emulator sent for those that load plans
ask for; requests for many small tensors; and how long async_save holds its caller up."""

import statistics

import checkpoint_programs
from checkpoint_programs import LINK, Counted, Failed, emulator, remove
from report import row

MIB, GIB = 1 << 20, 1 << 30
OURS, ORIGINAL = "dataflux", "gcs-torch-dataflux"
FORMS = {"file": "one file", "dcp": "DCP"}
STATES = 256 * MIB, 8 * GIB
# The client's upload_memory; dataflux.torch.load's read_ahead, and 8 reads of 8 MiB side by side by DCP.
MEMORY = {"save": 256 * MIB, "load": 64 * MIB}
SPARE = 64 * MIB
PLANS = ((4, (4, 2)), (2, (8,)))  # ranks that save, ranks that load
PLAN_STATE = 256 * MIB
SMALL = 10_000  # tensors of 16 KiB
SMALL_BYTES = 16 << 10
ASYNC_STATE = 512 * MIB


def ending(client):
    client.ask(do="end")


def memory(folder, client, options, show):
    rows = []
    least, most = STATES if not options.quick else (STATES[0], GIB // 2)
    # A state and what the bucket has of it.
    room = checkpoint_programs.available_memory() - 3 * GIB
    if 2 * most > room:
        most = max(room // 2, least)
        print(f"bench: checkpoints: memory is looked at with {most / GIB:.1f} GiB at most: "
              "there is room for no more")
    for form, words in FORMS.items():
        for size in (least, most):
            title = f"{size / GIB:.3g} GiB"
            show(f"checkpoints, memory of {words}: {title}")
            with emulator(folder, LINK) as server:
                for do in ("save", "load"):
                    # A process that has done the one would do the other with memory that it has.
                    client.world(1, server.endpoint, [form], size, tensors=do == "save")
                    over = client.ask(do=do, form=form, name="saved")["over"]
                    rows.append(row(f"memory beyond the state's, {words}, {do}, {title}", "MiB",
                                    over / MIB, "aim", (MEMORY[do] + SPARE) / MIB, aim=1.0))
                ending(client)
    return rows


def of_plans(folder, name, client, options, show):
    """{case: bytes that come for each byte that the plans ask for}."""
    found = {}
    size = PLAN_STATE // (2 if options.quick else 1)
    with emulator(folder, ()) as server:
        for savers, loaders in PLANS:
            client.world(savers, server.endpoint, [], size)
            client.ask(do="save", form="dcp", name="saved")
            for ranks in loaders:
                show(f"checkpoints, plans, {savers} to {ranks} ranks: {name}")
                if ranks != savers:
                    client.world(ranks, server.endpoint, [], size)
                counted = Counted(server.endpoint)
                asked = client.ask(do="load", form="dcp", name="saved", check=True)["asked"]
                _, fetched = counted.read()
                found[f"bytes fetched to bytes asked, {savers} to {ranks} ranks"] = fetched / asked
            remove(server.endpoint, "saved")
    ending(client)
    return found


def of_small(folder, name, client, options, show):
    """{case: requests for each MiB}."""
    found = {}
    count = SMALL // (8 if options.quick else 1)
    for form, words in FORMS.items():
        show(f"checkpoints, small tensors, {words}: {name}")
        with emulator(folder, ()) as server:
            client.world(1, server.endpoint, [], small=count)
            for do in ("save", "load"):
                counted = Counted(server.endpoint)
                client.ask(do=do, form=form, name="saved")
                requests, _ = counted.read()
                found[f"{count} tensors of 16 KiB, {words}, {do}"] = \
                    requests / (count * SMALL_BYTES / MIB)
    ending(client)
    return found


def counted(part, unit, aim, folder, clients, options, show):
    """Rows of what does not vary, beside the aim and the others."""
    found = {}
    for name, client in clients.items():
        try:
            found[name] = part(folder, name, client, options, show)
        except Failed as why:
            if name == OURS:
                raise
            print(f"bench: {name} is left out: {why}")
    rows = []
    for title, ours in found.pop(OURS).items():
        rows.append(row(title, unit, ours, "aim", aim, aim=1.0))
        rows += [row(title, unit, ours, name, of[title]) for name, of in found.items()]
    return rows


def hold_up(folder, client, options, show):
    """On all cores, as where a trainer has one for itself."""
    lines = []
    with emulator(folder, ()) as server:
        client.world(1, server.endpoint, [], ASYNC_STATE // (2 if options.quick else 1), core=None)
        rounds = 2 if options.quick else max(options.rounds, 2)
        for done in range(rounds + 1):
            show(f"checkpoints, async_save: round {done} of {rounds}")
            line = client.ask(do="async", name="saved")
            if done > 0:  # the first one starts threads and imports
                lines.append(line)
            remove(server.endpoint, "saved")
        ending(client)
    rows = []
    for figure, words in (("wall_s", "wall"), ("cpu_s", "CPU of the thread")):
        held, alone = ([line[of][figure] for line in lines] for of in ("held", "alone"))
        rows.append(row(f"async_save holds its caller up, {words}", "s", statistics.median(held),
                        "torch's staging alone", statistics.median(alone),
                        [a / b for a, b in zip(held, alone)], aim=1.1))
    return rows


def measure_all(options, folder, pythons, show):
    ours = pythons[OURS]
    rows = memory(folder, ours, options, show)
    rows += hold_up(folder, ours, options, show)
    clients = {name: client for name, client in pythons.items() if name == OURS or name == ORIGINAL and not options.quick}
    rows += counted(of_plans, "ratio", 1.05, folder, clients, options, show)
    rows += counted(of_small, "requests/MiB", 1.0, folder, clients, options, show)
    show("")
    return rows
