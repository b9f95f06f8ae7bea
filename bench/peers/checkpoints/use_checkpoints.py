#!/usr/bin/env python3
"""Saves and loads checkpoints by CLIENT, in as many ranks as are asked for: use_checkpoints.py CLIENT

Standard input has a command a line, in JSON, and each gets a line of JSON for its answer:

    {"do": "world", "ranks", "endpoint", "bucket", "core"}
                        forks so many ranks, on that core or, with null, on all, with gloo if there
                        are several; those of before end
    {"do": "state", "bytes", "small", "tensors"}
                        makes a state, a model's of so many bytes or so many small tensors, sharded over
                        the ranks; without tensors it can be loaded alone
    {"do": "save", "form", "name"}                  saves it
    {"do": "load", "form", "name", "check"}         loads it, and compares after the clock has stopped
    {"do": "async", "name"}     what async_save takes before it returns, and staging by itself; for
                                one rank
    {"do": "end"}                                   the ranks end

The answer to save and load: wall_s, the longest of all ranks; cpu_s and bytes, the sum; over, the
greatest of the ranks' memory at its peak beyond what was resident before and the state's own; asked, the
bytes that the ranks' load plans name. {"failed": text} where the client cannot do it. Imports are done
before, and a client is used for something small before it is measured."""

import gc
import json
import multiprocessing
import os
import pathlib
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner
from torch.distributed.checkpoint.planner import LoadItemType
from torch.distributed.checkpoint.staging import DefaultStager, StagingOptions

import checkpoint_clients
import checkpoint_state


class Planner(DefaultLoadPlanner):
    """Knows how many bytes its plan asks for."""

    asked = 0

    def create_local_plan(self):
        plan = super().create_local_plan()
        known = self.metadata.state_dict_metadata
        self.asked = sum(checkpoint_state.elements(item.lengths)
                         * known[item.storage_index.fqn].properties.dtype.itemsize
                         for item in plan.items if item.type == LoadItemType.TENSOR)
        return plan


def resident(key):
    """Bytes: VmRSS, now, or VmHWM, the most since forget_peak()."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) << 10
    raise KeyError(key)


def forget_peak():
    pathlib.Path("/proc/self/clear_refs").write_text("5")


class Clock:
    """Wall time and CPU time, of the process or, by time.thread_time, of the caller's thread."""

    def __init__(self, cpu=time.process_time):
        self._cpu_now = cpu
        self._wall, self._cpu = time.monotonic(), cpu()

    def stop(self):
        return {"wall_s": time.monotonic() - self._wall, "cpu_s": self._cpu_now() - self._cpu}


class Rank:
    """One process of a world."""

    def __init__(self, kind, rank, ranks, endpoint, bucket, store):
        os.environ["STORAGE_EMULATOR_HOST"] = endpoint
        self._client = kind(endpoint, bucket)
        self._mesh, self._state, self._tensors = None, None, None
        if ranks > 1:
            os.environ["GLOO_SOCKET_IFNAME"] = "lo"
            dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank,
                                    world_size=ranks)
            self._mesh = dist.init_device_mesh("cpu", (ranks,))

    def state(self, bytes=0, small=0, tensors=True):
        self._tensors = None
        wanted = (checkpoint_state.small_shapes(small) if small
                  else checkpoint_state.shapes(bytes))
        self._state = checkpoint_state.State(wanted, self._mesh)
        if tensors:
            self._tensors = self._state.tensors()
        return {"bytes": self._state.size()}

    def _timed(self, work, own):
        """The answer's figures. own: bytes that the work gives."""
        gc.collect()
        if self._mesh is not None:
            dist.barrier()
        before = resident("VmRSS")
        forget_peak()
        clock = Clock()
        given = work()
        return {**clock.stop(), "bytes": self._state.size(),
                "over": resident("VmHWM") - before - own}, given

    def save(self, form, name):
        return self._timed(lambda: self._client.save(form, self._tensors, name), 0)[0]

    def load(self, form, name, check=False):
        into = self._state.places() if form == "dcp" else None
        planner = Planner()
        line, loaded = self._timed(lambda: self._client.load(form, into, name, planner),
                                   self._state.size())
        if check:
            self._state.check(loaded)
        return {**line, "asked": planner.asked}

    def hold_up(self, name):
        """What async_save takes before it returns, and torch's staging by itself: wall seconds, and CPU
        seconds of the calling thread."""
        stager = DefaultStager(StagingOptions(False, False, False, False))
        clock = Clock(time.thread_time)
        staged = stager.stage(self._tensors)
        alone = clock.stop()
        stager.close()
        del staged
        gc.collect()
        writer = self._client.writer(self._client.url(name))
        clock = Clock(time.thread_time)
        saving = dcp.async_save(self._tensors, storage_writer=writer, no_dist=self._mesh is None)
        held = clock.stop()
        getattr(saving, "upload_completion", saving).result()
        return {"held": held, "alone": alone}

    def do(self, command):
        how = dict(command)
        work = {"state": self.state, "save": self.save, "load": self.load,
                "async": self.hold_up}[how.pop("do")]
        return work(**how)


def serve(inherited, kind, commands, core, *of_rank):
    """A rank's process. inherited: ends of pipes that are its parent's alone, by which ranks see that
    it is gone."""
    for pipe in inherited:
        pipe.close()
    if core is not None:
        os.sched_setaffinity(0, {core})
    rank = Rank(kind, *of_rank)
    while True:
        try:
            command = commands.recv()
        except EOFError:  # the end
            os._exit(0)  # some clients abort at the interpreter's end, after the work was done
        try:
            commands.send(rank.do(command))
        except Exception as why:
            # What torch raises for several ranks ends with the traceback of the last of them.
            text = (str(why).strip() or "no more is known").splitlines()[-1]
            commands.send({"failed": f"{type(why).__name__}: {text}"})


SUMS = ("cpu_s", "bytes", "asked")


class World:
    def __init__(self, kind, ranks, endpoint, bucket, core):
        self._folder = tempfile.TemporaryDirectory(prefix="bench-gloo-")
        store = pathlib.Path(self._folder.name) / "store"
        fork = multiprocessing.get_context("fork")
        self._ranks = []
        for rank in range(ranks):
            here, there = fork.Pipe()
            inherited = [here, *(pipe for _, pipe in self._ranks)]
            process = fork.Process(target=serve, daemon=True, args=(
                inherited, kind, there, core, rank, ranks, endpoint, bucket, store))
            process.start()
            there.close()
            self._ranks.append((process, here))

    def end(self):
        for process, pipe in self._ranks:
            pipe.close()
            process.join(10)
            process.kill()  # one that waits for a rank that is gone
        self._folder.cleanup()

    def do(self, command):
        try:
            for _, pipe in self._ranks:
                pipe.send(command)
            answers = [pipe.recv() for _, pipe in self._ranks]
        except (EOFError, BrokenPipeError):
            return {"failed": "a rank has died"}
        failed = [answer for answer in answers if "failed" in answer]
        if failed:
            return failed[0]
        if len(answers) == 1:
            return answers[0]
        return {key: (sum if key in SUMS else max)(answer[key] for answer in answers)
                for key in answers[0]}


def main():
    kind = checkpoint_clients.CLIENTS[sys.argv[1]]
    torch.set_num_threads(1)  # as many as a rank has cores
    kind.imports()
    world = None
    for line in sys.stdin:
        command = json.loads(line)
        if world is not None and command["do"] in ("world", "end"):
            world.end()
            world = None
        answer = {}
        if command["do"] == "world":
            del command["do"]
            world = World(kind, **command)
        elif world is not None:
            answer = world.do(command)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
