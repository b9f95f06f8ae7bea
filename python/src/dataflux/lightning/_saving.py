"""What both strategies do with checkpoints, by all ranks at once."""

from __future__ import annotations

import weakref
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Mapping

import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    set_model_state_dict,
    set_optimizer_state_dict,
)
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import OptimStateKeyType

from .._client import Client, client_for
from .._client import client as default_client
from .._errors import NotFoundError
from .._place import flag_of
from . import _sharded
from ._async_io import AsyncCheckpointIO
from ._background import Background
from ._io import CheckpointIO, checked_options, remove_folder, removed
from ._origins import Origins
from ._paths import LAST_OBJECT, url_of
from ._ranks import agreed, each_rank, of_rank_zero, together

if TYPE_CHECKING:
    from ._io import Path


class Saving:
    """What both strategies are. Below it in a class is Lightning's own.

    _model_key   where a sharded checkpoint of Lightning's has the model
    """

    _model_key: str

    if TYPE_CHECKING:
        _checkpoint_io: Any
        _timeout: timedelta | None
        model: Any
        optimizers: list[Any]
        lightning_module: Any
        is_global_zero: bool

        def broadcast(self, obj: Any, src: int = 0) -> Any: ...

    def __init__(self, *arguments: Any, client: Client | None = None, use_async: bool = False,
                 **options: Any) -> None:
        if client is not None and not isinstance(client, Client):
            raise TypeError(f"client: a dataflux.Client is needed, and not a {type(client).__name__}")
        self._given = client
        self._use_async = flag_of(use_async, "use_async")
        self._group: Any = None
        self._origins = Origins()
        super().__init__(*arguments, **options)
        self._saves = Background(self._remove_now)
        self._step: Any = None  # of the save that was begun last
        self._like: Callable[[], Any] = _nothing  # the first copy of that step, while a save has it

    # What the two do differently.

    def _is_sharded(self) -> bool:
        """Checkpoints that it saves are."""
        raise NotImplementedError

    def _templates(self, optimizers: list[Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """State dicts of model and optimizers, sharded, to be loaded into."""
        raise NotImplementedError

    def _put(self, model: dict[str, Any], optimizers: list[tuple[Any, dict[str, Any]]]) -> None:
        """Takes over state dicts that were loaded into."""
        raise NotImplementedError

    def _keep_states(self, optimizer: Any, known: set[str]) -> None:
        """An optimizer was given states of these parameters."""

    # What Lightning asks for.

    @property
    def client(self) -> Client:
        """By which it saves and loads what is on Google Cloud Storage."""
        return self._given or default_client()

    def _client_of(self, url: str) -> Client:
        return self._given or client_for(url)

    @property
    def checkpoint_io(self) -> Any:
        """What saves and loads checkpoints that are not sharded: by default dataflux's own."""
        if self._checkpoint_io is None:
            self._checkpoint_io = (AsyncCheckpointIO if self._use_async else CheckpointIO)(self._given)
        return self._checkpoint_io

    @checkpoint_io.setter
    def checkpoint_io(self, io: Any) -> None:
        self._checkpoint_io = io

    def save_checkpoint(self, checkpoint: dict[str, Any], filepath: Path,
                        storage_options: Mapping[str, Any] | None = None) -> None:
        """Saves a checkpoint, by all ranks. With use_async=True it returns when the state is copied to the
        processor's memory. Saves of one step go one behind the other while training goes on; the first of
        a later step waits for their end.

        Arguments:
            checkpoint: what Lightning has collected; it is taken apart.
            filepath: rank 0's counts.
            storage_options: as of CheckpointIO. For a checkpoint that is sharded storage_class,
                kms_key_name, custom_time and metadata, those of each file.

        Raises: on all ranks. CheckpointException with an exception of each rank that failed, as
            dataflux.dcp's saves do; with use_async=True that of an earlier save, and then this one is not
            begun. TypeError and ValueError for a bad argument before any request.
        """
        path = self.broadcast(filepath)
        url = url_of(path)
        if url is None:
            agreed(self._saves.wait)
            super().save_checkpoint(checkpoint, path, storage_options)  # type: ignore[misc]
        elif not self._is_sharded():
            agreed(lambda: self.checkpoint_io.save_checkpoint(checkpoint, url, storage_options)
                   if self.is_global_zero else None)
        else:
            self._save_sharded(checkpoint, url, _sharded_options(storage_options))
        self._origins.saved(path)

    def _save_sharded(self, checkpoint: dict[str, Any], url: str, how: dict[str, Any]) -> None:
        state = {self._model_key: checkpoint.pop("state_dict")}
        for number, each in enumerate(checkpoint.pop("optimizer_states", [])):
            state[f"optimizer_{number}"] = each
        if not self._use_async:
            _sharded.save(url, state, checkpoint, self._client_of(url), None, how)
            return

        step = checkpoint.get("global_step")
        behind = step is not None and step == self._step and not any(each_rank(self._saves.failed))
        like = self._like() if behind else None
        self._step, self._like = step, _nothing

        def copied() -> tuple[dict[str, Any], dict[str, Any]]:
            if not behind:
                self._saves.wait()
            return (_sharded.Copy(_sharded.staged(state, like)),
                    _sharded.pickled(checkpoint) if self.is_global_zero else {})

        copy, rest = agreed(copied)
        self._like = weakref.ref(copy if like is None else like)
        if self._group is None and together():
            # Of its own, since training goes on with the other meanwhile.
            self._group = dist.new_group(backend="gloo", timeout=self._timeout)
        self._saves.begin(url, partial(_sharded.save, url, copy, rest, self._client_of(url), self._group, how))

    def load_checkpoint(self, checkpoint_path: Path, weights_only: bool | None = None) -> dict[str, Any]:
        """Loads a checkpoint into the model, and where training is to go on into the optimizers.

        Sharded or not is found out; where a path has one of each, the newer one counts.

        Returns: all that is neither.
        Raises: on all ranks. CheckpointException as of dataflux.dcp, with a KeyError or RuntimeError of
            optimizers that the checkpoint lacks; NotFoundError where there is none.
        """
        path = self.broadcast(checkpoint_path)
        agreed(self._end_of_save)
        url = url_of(path)
        if url is None:
            how = {} if weights_only is None else {"weights_only": weights_only}
            found: dict[str, Any] = super().load_checkpoint(path, **how)  # type: ignore[misc]
            return found
        self._origins.loaded(url)
        url = url.removesuffix(LAST_OBJECT)  # as resumable() names it
        optimizers = self.optimizers if self.lightning_module.trainer.state.fn == "fit" else []
        if of_rank_zero(agreed(lambda: _is_folder(self._client_of(url), url) if self.is_global_zero else None)):
            return self._load_sharded(url, optimizers, weights_only)
        return self._load_full(url, optimizers, weights_only)

    def _end_of_save(self) -> None:
        """Waits for the saves that are under way. A failure stays for later."""
        self._saves.join()
        if isinstance(self.checkpoint_io, AsyncCheckpointIO):
            self.checkpoint_io._saves.join()

    def _load_sharded(self, url: str, optimizers: list[Any], weights_only: bool | None) -> dict[str, Any]:
        model, states = self._templates(optimizers)
        state = {self._model_key: model,
                 **{f"optimizer_{number}": each for number, each in enumerate(states)}}
        rest = _sharded.load(url, state, self.lightning_module.strict_loading, self._client_of(url), weights_only)
        model = next(state[name] for name in _sharded.MODELS if name in state)
        self._put(model, [(each, state[f"optimizer_{number}"]) for number, each in enumerate(optimizers)])
        return rest

    def _load_full(self, url: str, optimizers: list[Any], weights_only: bool | None) -> dict[str, Any]:
        """Rank 0 reads it, and all get their shards from there."""
        model, states, rest = agreed(partial(self._read_full, url, weights_only))
        strict = self.lightning_module.strict_loading
        rest, names, count = of_rank_zero((rest, set(model), len(states)))
        missing = sorted({plain(name) for name in self._templates([])[0]} - names)
        if strict and missing:
            raise KeyError(f"{url}: the checkpoint has no {', '.join(missing[:10])}"
                           + (f" and {len(missing) - 10} more" if len(missing) > 10 else "")
                           + ", which the model has; strict_loading=False of the LightningModule permits it")
        _sharded.check_optimizers(optimizers, range(count))
        set_model_state_dict(self.model, model, options=StateDictOptions(
            full_state_dict=True, broadcast_from_rank0=True, strict=strict))
        for number, optimizer in enumerate(optimizers):
            state: dict[str, Any] = agreed(partial(_by_name, states[number], self.model)
                                           if self.is_global_zero else dict)
            known = of_rank_zero(set(state.get("state", ())))
            set_optimizer_state_dict(self.model, optimizer, state, options=StateDictOptions(
                full_state_dict=True, broadcast_from_rank0=True, strict=False))
            self._keep_states(optimizer, known)
        return rest

    def _read_full(self, url: str, weights_only: bool | None) -> tuple[
            dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
        """By rank 0: the model, the optimizers, and all else."""
        if not self.is_global_zero:
            return {}, [], {}
        rest = self.checkpoint_io.load_checkpoint(url, map_location="cpu", weights_only=weights_only)
        if not isinstance(rest, dict) or "state_dict" not in rest:
            raise KeyError(f"{url}: it has no state_dict: it is no checkpoint of a Trainer")
        # torch wants the names that a model has without torch.compile.
        model = {plain(name): value for name, value in rest.pop("state_dict").items()}
        return model, rest.pop("optimizer_states", []), rest

    def remove_checkpoint(self, filepath: Path) -> None:
        """Removes a checkpoint by rank 0, as CheckpointIO does; while a save is under way, when that is
        committed, and not if it fails. Where checkpoints are sharded, one at the same path that is not
        goes, too. Called by all ranks, and raises on all."""
        remove = self._saves.remove if self._is_sharded() else self.checkpoint_io.remove_checkpoint
        agreed(lambda: remove(filepath) if self.is_global_zero and not self._origins.keeps(filepath) else None)

    def _remove_now(self, path: Path) -> None:
        url = url_of(path)
        if url is None:
            CheckpointIO(self._given)._remove_now(path)
        else:
            removed(self._client_of(url), url)
            remove_folder(self._client_of(url), url)

    def teardown(self) -> None:
        """Waits for the saves that are under way. Raises what the first of them has failed with, once, and
        logs what others have."""
        try:
            self._saves.end()
        finally:
            try:
                self.checkpoint_io.teardown()  # Lightning's own strategies leave that out
            finally:
                group, self._group = self._group, None
                # Not under a save that an interrupt has left under way.
                if group is not None and together() and not self._saves.under_way:
                    dist.destroy_process_group(group)
                super().teardown()  # type: ignore[misc]


_SHARDED_OPTIONS = ("storage_class", "kms_key_name", "custom_time", "metadata")


def _sharded_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Lightning's storage_options for a checkpoint of many files."""
    checked = checked_options(options)
    for name in checked:
        if name not in _SHARDED_OPTIONS:
            raise TypeError(f"storage_options: {name!r} is for checkpoints that are one object; those that are "
                            f"sharded take {', '.join(_SHARDED_OPTIONS)}")
    return checked


def _nothing() -> None:
    """What a weak reference gives that has lost its object."""


def plain(name: str) -> str:
    """The name of a parameter without torch.compile."""
    return name.replace("_orig_mod.", "")


def _is_folder(client: Client, url: str) -> bool:
    """A sharded checkpoint is there, and nothing newer that is one object."""
    generations = []
    for each in (url, url + LAST_OBJECT):
        try:
            generations.append(client.stat(each).generation)
        except NotFoundError as why:
            generations.append(0)
            missing = why
    if not any(generations):
        raise NotFoundError(f"{url}: no checkpoint is there: neither an object of this name nor one named "
                            f"{url}{LAST_OBJECT}", bucket=missing.bucket, object=missing.object)
    return generations[1] > generations[0]


def _by_name(state: dict[str, Any], model: Any) -> dict[str, Any]:
    """An optimizer's state by names of parameters, where it is by their numbers."""
    if not all(isinstance(each, int) for group in state["param_groups"] for each in group["params"]):
        return state
    named: dict[str, Any] = FSDP.rekey_optim_state_dict(state, OptimStateKeyType.PARAM_NAME, model)
    return named
