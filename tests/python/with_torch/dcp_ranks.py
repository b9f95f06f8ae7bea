"""Ranks for the tests of distributed checkpoints: processes of one gloo group, which do what they are
told. A server that has imported torch once forks them."""

import io
import multiprocessing
import os
import signal
import tempfile
import time
import traceback
import warnings

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint import _extension
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Shard

from dataflux.dcp import StorageReader, StorageWriter

ROWS = 37
LIMIT = 150.0  # seconds that a call of the ranks may take
_context = multiprocessing.get_context("forkserver")
# torch imports the second one when a checkpoint is first saved.
_context.set_forkserver_preload([__name__, "torch._dynamo"])
_meshes = {}


def _serving():
    """The server of the forks finds this module by the environment alone."""
    from multiprocessing.forkserver import ensure_running

    before = os.environ.get("PYTHONPATH")
    here = os.path.dirname(os.path.abspath(__file__))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (here, before)))
    try:
        ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


class Ranks:
    """`count` processes. Any number up to that take part in a call: then the first ones."""

    def __init__(self, count):
        _serving()
        self._folder = tempfile.TemporaryDirectory(prefix="dataflux-ranks-")
        self.processes, self._pipes = [], []
        for rank in range(count):
            ours, theirs = _context.Pipe()
            process = _context.Process(target=_serve, args=(
                rank, count, f"file://{self._folder.name}/group", theirs))
            process.start()
            theirs.close()
            self.processes.append(process)
            self._pipes.append(ours)

    def begin(self, function, *arguments, world=None, **options):
        self._asked = self._pipes[:world or len(self._pipes)]
        for pipe in self._asked:
            pipe.send((function, arguments, {"world": len(self._asked), **options}))

    def end(self):
        """What it gives in each rank; an exception as a str, its traceback."""
        return [self._answer(pipe) for pipe in self._asked]

    def _answer(self, pipe):
        try:
            if not pipe.poll(LIMIT):
                self.kill()
                raise TimeoutError("a rank does not answer")
            return pipe.recv()
        except (EOFError, ConnectionError):
            return "killed"

    def run(self, function, *arguments, **options):
        self.begin(function, *arguments, **options)
        return self.end()

    def kill(self, *ranks):
        for rank in ranks or range(len(self.processes)):
            os.kill(self.processes[rank].pid, signal.SIGKILL)

    def close(self):
        for process in self.processes:
            process.kill()
            process.join()
        for pipe in self._pipes:
            pipe.close()
        self._folder.cleanup()


def _serve(rank, count, where, pipe):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    dist.init_process_group("gloo", init_method=where, rank=rank, world_size=count)
    for world in range(1, count + 1):
        # Of those that are no group of all: each has to make it.
        group = dist.new_group(list(range(world)))
        _meshes[world] = (group, DeviceMesh.from_group(group, "cpu") if rank < world else None)
    while True:
        try:
            function, arguments, options = pipe.recv()
        except EOFError:
            return
        try:
            answer = function(*arguments, **options)
        except BaseException:
            answer = traceback.format_exc()
        pipe.send(answer)


def _sharded(full, world, dim=0):
    """A DTensor of the rank's part of a tensor that all ranks know."""
    mesh = _meshes[world][1]
    parts = torch.chunk(full, world, dim)
    rank = dist.get_rank()
    local = parts[rank] if rank < len(parts) else full.narrow(dim, 0, 0)
    return DTensor.from_local(local.clone(), mesh, [Shard(dim)], run_check=False,
                              shape=full.shape, stride=full.stride())


def full_state(step, wide=11):
    """What is saved as step `step`, whole."""
    base = torch.arange(ROWS * wide, dtype=torch.float32).view(ROWS, wide) + 1000 * step
    shared = torch.arange(100, dtype=torch.int64) * step
    return {"model": {"rows": base, "columns": base * 2, "half": base.to(torch.bfloat16),
                      "single": torch.tensor(float(step))},
            "views": {"a": shared[:50], "b": shared[25:75], "turned": base.t(),
                      "empty": torch.empty(0, 3)},
            "step": step, "words": ["step", step]}


def state_of(step, world, wide=11):
    """The same as a rank has it."""
    state = full_state(step, wide)
    model = state["model"]
    for name, dim in (("rows", 0), ("columns", 1), ("half", 0)):
        model[name] = _sharded(model[name], world, dim)
    return state


def emptied(state):
    return {key: emptied(value) if isinstance(value, dict) else
            torch.full_like(value, -1) if isinstance(value, torch.Tensor) else
            [None] * len(value) if isinstance(value, list) else -1 for key, value in state.items()}


def step_of(state, world, wide=11):
    """Which step a state is; an AssertionError where it is none, or of several."""
    step = state["step"]
    for name, want in flat(state_of(step, world, wide)).items():
        have = flat(state)[name]
        if isinstance(want, DTensor):
            have, want = have.to_local(), want.to_local()
        same = torch.equal(have, want) if isinstance(want, torch.Tensor) else have == want
        assert same, f"{name} of step {step}: {have} is not {want}"
    return step


def flat(state, head=""):
    found = {}
    for key, value in state.items():
        found.update(flat(value, f"{head}{key}.") if isinstance(value, dict) else {head + key: value})
    return found


def save(client, url, step, *, world, wide=11, planner=None, writer=None, **options):
    writer = StorageWriter(url, client=client, **(writer or {}))
    dcp.save(state_of(step, world, wide), storage_writer=writer, process_group=_meshes[world][0],
             planner=planner and planner(), **options)
    return "saved"


def know(environment, *, world):
    """The ranks were begun with another one."""
    os.environ.update(environment)


def failures(work, *arguments, world, **options):
    """What a rank is told when all do something: {the rank that failed: (its exception, the text)}."""
    try:
        return work(*arguments, world=world, **options)
    except dcp.api.CheckpointException as told:
        return {rank: (why, str(told)) for rank, (why, _) in told.failures.items()}


def load(client, url, *, world, wide=11, reader=StorageReader, **options):
    """The step that is loaded."""
    state = emptied(state_of(0, world, wide))
    dcp.load(state, storage_reader=reader(url, **({} if client is None else {"client": client})),
             process_group=_meshes[world][0], **options)
    return step_of(state, world, wide)


def load_here(client, url):
    """The step that is there, read by this process alone."""
    state = emptied(full_state(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.load(state, storage_reader=StorageReader(url, client=client), no_dist=True)
    step = state["step"]
    for name, want in flat(full_state(step)).items():
        have = flat(state)[name]
        same = torch.equal(have, want) if isinstance(want, torch.Tensor) else have == want
        assert same, f"{name} of step {step}: {have} is not {want}"
    return step


def save_here(client, url, step, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        writer = StorageWriter(url, client=client, **options)
        dcp.save(full_state(step), storage_writer=writer, no_dist=True)
    return writer


class Caching(dcp.DefaultSavePlanner):
    def __init__(self):
        super().__init__(enable_plan_caching=True)


class TwoTiers(dcp.DefaultSavePlanner):
    """What it has cached is of this class alone."""

    def __init__(self):
        super().__init__(enable_plan_caching=True)


def save_locally(path, step, *, world, planner):
    dcp.save(state_of(step, world), checkpoint_id=path, process_group=_meshes[world][0], planner=planner())
    return "saved"


def save_apart(client, url, step, *, world, planner=None):
    """Each rank to a path of its own."""
    return save(client, f"{url}-{dist.get_rank()}", step, world=world, planner=planner)


def load_apart(client, url, *, world):
    return load(client, f"{url}-{dist.get_rank()}", world=world)


def load_slashed(client, url, *, world):
    """One place by two texts."""
    return load(client, url + "/" * dist.get_rank(), world=world)


class Failing(dcp.DefaultSavePlanner):
    def resolve_data(self, write_item):
        if dist.get_rank() == 1 and "rows" in write_item.index.fqn:
            raise RuntimeError("rank 1 has had enough")
        return super().resolve_data(write_item)


class Flipped(_extension.StreamTransformExtension):
    """Each byte with other bits."""

    @staticmethod
    def registry_name():
        return "test.flipped"

    @staticmethod
    def from_descriptor(version):
        return Flipped()

    def get_descriptor(self):
        return "test.flipped/1"

    def transform_to(self, output):
        return _Flipping(output)

    def transform_from(self, input):
        return io.BytesIO(input.read(-1).translate(_FLIPPED))


_FLIPPED = bytes(range(255, -1, -1))


class _Flipping(io.RawIOBase):
    def __init__(self, output):
        self._output = output

    def writable(self):
        return True

    def write(self, data):
        return self._output.write(bytes(data).translate(_FLIPPED))


def save_async(client, url, step, kind, stager, *, world):
    from torch.distributed.checkpoint.staging import BlockingAsyncStager, DefaultStager, StagingOptions

    own = {None: None, "Blocking": BlockingAsyncStager(),
           # Asynchronous staging gives an AsyncSaveResponse.
           "Default": DefaultStager(StagingOptions(False, False, True, False))}[stager]
    state = state_of(step, world)
    told = dcp.async_save(
        state, storage_writer=StorageWriter(url, client=client), async_stager=own,
        async_checkpointer_type=getattr(dcp.state_dict_saver.AsyncCheckpointerType, kind))
    if stager == "Default":
        assert isinstance(told, dcp.state_dict_saver.AsyncSaveResponse)
        told.staging_completion.result()
        told = told.upload_completion
    for value in flat(state).values():  # the job goes on
        if isinstance(value, torch.Tensor) and value.numel():
            (value.to_local() if isinstance(value, DTensor) else value).zero_()
    told.result(timeout=LIMIT)
    if own is not None:
        own.close()
    return "saved"


_saving = []


def begin_async(client, url, step, *, world):
    """Begins a save by a process of its own, whose number it gives."""
    from torch.distributed.checkpoint import _async_process_executor as executor

    _saving.append(dcp.async_save(
        state_of(step, world), storage_writer=StorageWriter(url, client=client),
        async_checkpointer_type=dcp.state_dict_saver.AsyncCheckpointerType.PROCESS))
    while executor._CHECKPOINT_PROCESS is None and not _saving[-1].done():
        time.sleep(0.01)
    return executor._CHECKPOINT_PROCESS._save_process.pid


def end_async(*, world):
    """What comes of it."""
    return type(_saving.pop().exception(timeout=LIMIT)).__name__


def _own(step):
    return {"w": torch.full((5,), float(10 * step + dist.get_rank()))}


def save_alone(client, url, step, *, world):
    dcp.save(_own(step), storage_writer=StorageWriter(url, client=client), use_collectives=False,
             process_group=_meshes[world][0])
    return "saved"


def load_alone(client, url, *, world):
    state = {"w": torch.zeros(5)}
    dcp.load(state, storage_reader=StorageReader(url, client=client), process_group=_meshes[world][0])
    return int(state["w"][0])


def _by_torch(options):
    import dataflux.fsspec
    import fsspec
    from torch.distributed.checkpoint.fsspec_filesystem import FsspecReader, FsspecWriter

    fsspec.config.conf["gs"] = options
    dataflux.fsspec.register("gs")
    return FsspecReader, FsspecWriter


def save_by_torch(options, url, step, *, world):
    dcp.save(state_of(step, world), storage_writer=_by_torch(options)[1](url),
             process_group=_meshes[world][0])
    return "saved"


def load_by_torch(options, url, *, world):
    return load(None, url, world=world, reader=_by_torch(options)[0])


def _block(shape):
    count = torch.Size(shape).numel()
    return (torch.arange(count, dtype=torch.int32) * 7 + 1).view(shape)


def save_block(client, url, shape, dim, *, world):
    dcp.save({"block": _sharded(_block(shape), world, dim)}, process_group=_meshes[world][0],
             storage_writer=StorageWriter(url, client=client))
    return "saved"


def load_block(client, url, shape, dim, *, world):
    want = _sharded(_block(shape), world, dim)
    state = {"block": torch.full_like(want, -1)}
    dcp.load(state, storage_reader=StorageReader(url, client=client), process_group=_meshes[world][0])
    return "same" if torch.equal(state["block"].to_local(), want.to_local()) else "not the same"


# Of a model: rows of each are of a rank. 25 MiB.
MODEL = {"embed": (4096, 1000), "qkv": (1536, 500), "out": (512, 500), "up": (2048, 500),
         "down": (512, 2000), "bias": (2048,), "norm": (512,)}


def _model(world, value):
    return {name: _sharded(value(_block(shape)), world) for name, shape in MODEL.items()}


class Asking(dcp.DefaultLoadPlanner):
    """Knows how many bytes its plan asks for."""

    def create_local_plan(self):
        plan = super().create_local_plan()
        self.asked = sum(item.lengths.numel() for item in plan.items) * torch.int32.itemsize
        return plan


def save_model(client, url, *, world):
    dcp.save(_model(world, lambda block: block), process_group=_meshes[world][0],
             storage_writer=StorageWriter(url, client=client))
    return "saved"


def load_model(client, url, *, world):
    """How many bytes the plan has asked for."""
    state, planner = _model(world, lambda block: torch.full_like(block, -1)), Asking()
    dcp.load(state, storage_reader=StorageReader(url, client=client), planner=planner,
             process_group=_meshes[world][0])
    for name, want in _model(world, lambda block: block).items():
        assert torch.equal(state[name].to_local(), want.to_local()), name
    return planner.asked


def ready(*, world):
    return "ready"
