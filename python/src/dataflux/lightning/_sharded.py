"""Sharded checkpoints of Lightning's strategies: model and optimizers by dataflux.dcp, and all else as
`meta.pt`, a member of the same set. The layout is Lightning's."""

from __future__ import annotations

import copy
import io
import logging
import re
from typing import TYPE_CHECKING, Any, Iterable, Mapping

import torch
from torch.distributed._shard.sharded_tensor.api import ShardedTensor
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner, create_default_local_load_plan
from torch.distributed.checkpoint.metadata import Metadata
from torch.distributed.checkpoint.planner import LoadPlan
from torch.distributed.checkpoint.state_dict_loader import _load_state_dict
from torch.distributed.checkpoint.state_dict_saver import save as save_state
from torch.distributed.tensor import DTensor

from .._client import Client
from .._errors import Error, NotFoundError
from ..dcp import StorageReader, StorageWriter
from ..dcp._consolidated import whole
from ._paths import url_of
from ._ranks import agreed, of_rank_zero, together

if TYPE_CHECKING:
    from ._io import Path

_log = logging.getLogger("dataflux")
META = "meta.pt"
MODELS = ("model", "state_dict")  # where FSDP and ModelParallel have the model


def save(url: str, state: dict[str, Any], rest: dict[str, Any], client: Client, group: Any = None,
         how: Mapping[str, Any] | None = None) -> None:
    """Saves, by all ranks of a group. `rest` is rank 0's; `how`: StorageWriter's options. What fails before
    the commit leaves nothing:
    ModelCheckpoint takes another path next time, so no later save would remove it."""
    writer = StorageWriter(url, client=client, files={META: rest}, **(how or {}))
    try:
        save_state(state, storage_writer=writer, process_group=group)
    except BaseException:
        try:
            writer.abandon()
        except Error as why:
            _log.warning("%s: what a save that failed has left stays: %s", url, why)
        raise


def load(url: str, state: dict[str, Any], strict: bool, client: Client,
         weights_only: bool | None) -> dict[str, Any]:
    """Loads into the tensors of `state`, of model and optimizers in one plan: each is read once, and all
    are of one commit. What the checkpoint has of neither is taken out of `state`.

    Returns: all else.
    """
    reader = StorageReader(url, client=client)
    # Not torch's load(), which wants the names at the top to stay.
    _load_state_dict(state, storage_reader=reader, planner=_Planner(strict), no_dist=not together())
    rest = agreed(lambda: reader.load_file(META, map_location="cpu", weights_only=weights_only)
                  if _is_first() else {})
    found: dict[str, Any] = of_rank_zero(rest)
    return found


def _is_first() -> bool:
    return not together() or torch.distributed.get_rank() == 0


class _Planner(DefaultLoadPlanner):
    """Fits what is asked for to what is there, before anything is read."""

    def __init__(self, strict: bool) -> None:
        super().__init__()
        self._strict = strict

    def set_up_planner(self, state_dict: dict[str, Any], metadata: Metadata | None = None,
                       is_coordinator: bool = False) -> None:
        assert metadata is not None
        paths = [tuple(path) for path in (metadata.planner_data or {}).values()]
        self._fit(state_dict, {path[0] for path in paths}, {path[:3] for path in paths if len(path) > 2},
                  {path[:2] for path in paths})
        super().set_up_planner(state_dict, metadata, is_coordinator)

    def create_local_plan(self) -> LoadPlan:
        # Not torch's own (2.15), which takes the checkpoint for one of before 2.4 where a rank has nothing
        # of a ShardedTensor, as of a bias of one number.
        assert self.metadata is not None
        return create_default_local_load_plan(self.state_dict, self.metadata)

    def _fit(self, state: dict[str, Any], tops: set[Any], states: set[Any], keys: set[Any]) -> None:
        model = next(name for name in MODELS if name in state)
        there = next((name for name in MODELS if name in tops), None)
        if there is None:
            raise KeyError(f"the checkpoint has neither {' nor '.join(MODELS)}: no strategy of Lightning's "
                           "has saved it")
        weights = state.pop(model)
        state[there] = weights if self._strict else {
            name: value for name, value in weights.items() if (there, name) in keys}
        check_optimizers([name for name in state if is_optimizer(name)],
                         [name for name in tops if is_optimizer(name)])
        for name in filter(is_optimizer, state):
            # A parameter that never had a gradient has no state.
            state[name]["state"] = {of: value for of, value in state[name]["state"].items()
                                    if (name, "state", of) in states}


def is_optimizer(name: Any) -> bool:
    return isinstance(name, str) and re.fullmatch("optimizer_[0-9]+", name) is not None


def check_optimizers(wanted: Iterable[Any], there: Iterable[Any]) -> None:
    """Raises where a checkpoint has other optimizers than the run."""
    have, need = len(list(there)), len(list(wanted))
    if need and not have:
        raise KeyError("training is to go on, and the checkpoint has no optimizer: only the model was saved, "
                       "as ModelCheckpoint(save_weights_only=True) does")
    if need and need != have:
        raise RuntimeError(f"training is to go on with {need} optimizers, and the checkpoint has {have}")


class Copy(dict):  # type: ignore[type-arg]
    """A copied state. It goes when its save has ended: others know it weakly."""


def staged(state: Any, like: Any = None) -> Any:
    """A copy of a state as it is now, in the processor's memory. What Lightning has brought there from a
    GPU is copied once more: nothing tells it from what a callback keeps there, and goes on with.

    Of `like`, an earlier copy, tensors that have the same bytes are taken as they are: of two saves of one
    step the second takes no memory for them.
    """
    if isinstance(state, dict):
        known = like if isinstance(like, dict) else {}
        return {name: staged(value, known.get(name)) for name, value in state.items()}
    if type(state) in (list, tuple):
        twins = like if type(like) is type(state) and len(like) == len(state) else [None] * len(state)
        return type(state)(map(staged, state, twins))
    if isinstance(state, ShardedTensor):  # of the state alone, and what it has are its shards
        shards = state.local_shards()
        twins = like.local_shards() if isinstance(like, ShardedTensor) else []
        for number, shard in enumerate(shards):
            shard.tensor = _copied(shard.tensor, twins[number].tensor if len(twins) == len(shards) else None)
        return state
    return _copied(state, like) if isinstance(state, torch.Tensor) else copy.deepcopy(state)


def _copied(tensor: torch.Tensor, like: Any) -> torch.Tensor:
    # A DTensor stays one, whatever device its mesh is of.
    tensor = tensor.detach()
    if _same(tensor, like):
        found: torch.Tensor = like
        return found
    return tensor.clone() if tensor.device.type == "cpu" else tensor.cpu()


def _same(tensor: torch.Tensor, like: Any) -> bool:
    """Two tensors of one kind with the same numbers."""
    if type(tensor) is not type(like) or tensor.dtype != like.dtype or tensor.shape != like.shape:
        return False
    if isinstance(tensor, DTensor):
        return tensor.placements == like.placements and _same(tensor.to_local(), like.to_local())
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout != torch.strided:
        return False
    return torch.equal(tensor.cpu(), like)


def pickled(rest: dict[str, Any]) -> dict[str, Any]:
    """A copy of what is no model and no optimizer, as a load gives it."""
    file = io.BytesIO()
    torch.save(rest, file)
    file.seek(0)
    found: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=False)
    return found


def consolidated(path: Path, *, client: Client | None = None,
                 weights_only: bool | None = True) -> dict[str, Any]:
    """Loads a sharded checkpoint whole, in one process, as a Trainer has it that shards nothing:
    dataflux.dcp.consolidated(), by Lightning's names, and with `meta.pt`. It is what Lightning's
    consolidate_checkpoint makes of a folder; saved by dataflux.torch.save() it is a file for
    load_from_checkpoint(), and for a strategy of any kind.

        dataflux.torch.save(consolidated("gs://bucket/run/last.ckpt"), "gs://bucket/run/whole.ckpt")

    Arguments:
        path: of the checkpoint.
        client: None = that of dataflux's functions.
        weights_only: as of torch.load, for what is neither model nor optimizer.

    Raises: ValueError for a path of this machine, which is for Lightning's own. CheckpointException for
        what is no sharded checkpoint, as dataflux.dcp's loads do.
    Memory: all of the checkpoint.
    """
    url = url_of(path)
    if url is None:
        raise ValueError(f"path: {path!r} is of this machine: python -m "
                         "lightning.pytorch.utilities.consolidate_checkpoint makes one file of it")
    if client is not None and not isinstance(client, Client):
        raise TypeError(f"client: a dataflux.Client is needed, and not a {type(client).__name__}")
    reader = StorageReader(url, client=client)
    found = whole(reader)
    for name in MODELS:
        if name in found:
            found["state_dict"] = found.pop(name)
    optimizers = sorted(filter(is_optimizer, found), key=lambda name: int(name.rpartition("_")[2]))
    if optimizers:
        found["optimizer_states"] = [found.pop(name) for name in optimizers]
    try:
        found.update(reader.load_file(META, map_location="cpu", weights_only=weights_only))
    except NotFoundError:
        pass  # others' checkpoints have model and optimizers alone
    return found
