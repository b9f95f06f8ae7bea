"""FSDPStrategy and ModelParallelStrategy: models that are sharded are saved to Google Cloud Storage by all
ranks at once."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator

from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    _init_optim_state,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardedOptimStateDictConfig, ShardedStateDictConfig, StateDictType

from .._client import Client
from ._bases import strategies
from ._saving import Saving, plain

_Lightning = strategies()


class FSDPStrategy(Saving, _Lightning.FSDPStrategy):  # type: ignore[misc, name-defined]
    """Lightning's FSDPStrategy (FSDP1), whose checkpoints may be on Google Cloud Storage.

        Trainer(strategy=FSDPStrategy(state_dict_type="sharded", use_async=True),
                callbacks=[ModelCheckpoint(dirpath="gs://bucket/run", save_last=True)])

    With state_dict_type="sharded" each rank saves its part by dataflux.dcp, and loop state and callbacks are
    `meta.pt` of the same set: one commit covers all. It is there whole, or not at all. Any number of ranks
    loads it; so does ModelParallelStrategy. With "full", Lightning's default, rank 0 saves one object by
    `checkpoint_io`, and reads it for all. Either loads what the other has saved.

    With use_async=True saves go on while training does, as of AsyncCheckpointIO: the state is copied to the
    processor's memory before save_checkpoint() returns, one save is carried out at a time, and those of one
    step share what is the same. One that failed raises once: on all ranks from the first save of a later
    step, or on those that have it from the Trainer's end. An interpreter that ends waits for it, and says so.

    Paths as of CheckpointIO; those of this machine are Lightning's own, and saved before the call returns.

    Arguments:
        client: None = that of dataflux's functions.
        use_async: saves go on while training does.
        all others: as of Lightning's.

    Raises: TypeError and ValueError for a bad argument.
    """

    _model_key = "model"
    _state_dict_type: str

    def __init__(self, *arguments: Any, client: Client | None = None, use_async: bool = False,
                 **options: Any) -> None:
        super().__init__(*arguments, client=client, use_async=use_async, **options)
        if self._state_dict_type not in ("full", "sharded"):
            raise ValueError("state_dict_type: 'full' or 'sharded' is needed, and not "
                             f"{self._state_dict_type!r}")

    def _is_sharded(self) -> bool:
        return self._state_dict_type == "sharded"

    @contextmanager
    def _as_sharded(self) -> Iterator[None]:
        """State dicts are as those of a sharded checkpoint."""
        before: str = self._state_dict_type
        self._state_dict_type = "sharded"
        try:
            yield
        finally:
            self._state_dict_type = before

    def _templates(self, optimizers: list[Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        for each in optimizers:
            _init_optim_state(each)
        with self._as_sharded():
            return self.lightning_module_state_dict(), [self.optimizer_state(each) for each in optimizers]

    def _put(self, model: dict[str, Any], optimizers: list[tuple[Any, dict[str, Any]]]) -> None:
        with FSDP.state_dict_type(self.model, StateDictType.SHARDED_STATE_DICT,
                                  ShardedStateDictConfig(offload_to_cpu=True),
                                  ShardedOptimStateDictConfig(offload_to_cpu=True)):
            self.model.load_state_dict(model, strict=self.lightning_module.strict_loading)
            for optimizer, state in optimizers:
                optimizer.load_state_dict(FSDP.optim_state_dict_to_load(self.model, optimizer, state))


class ModelParallelStrategy(Saving, _Lightning.ModelParallelStrategy):  # type: ignore[misc, name-defined]
    """Lightning's ModelParallelStrategy (FSDP2 and tensor parallelism), whose checkpoints may be on Google
    Cloud Storage, as of FSDPStrategy.

        Trainer(strategy=ModelParallelStrategy(use_async=True),
                callbacks=[ModelCheckpoint(dirpath="gs://bucket/run")])

    Checkpoints are sharded, unless save_distributed_checkpoint=False.

    Arguments:
        client, use_async: as of FSDPStrategy.
        all others: as of Lightning's.
    """

    _model_key = "state_dict"

    def _is_sharded(self) -> bool:
        return bool(self._save_distributed_checkpoint)

    def _templates(self, optimizers: list[Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        return get_model_state_dict(self.model), [
            get_optimizer_state_dict(self.model, each) for each in optimizers]

    def _put(self, model: dict[str, Any], optimizers: list[tuple[Any, dict[str, Any]]]) -> None:
        strict = self.lightning_module.strict_loading
        set_model_state_dict(self.model, model, options=StateDictOptions(strict=strict))
        for optimizer, state in optimizers:
            # Parameters that never had a gradient have no state there.
            set_optimizer_state_dict(self.model, optimizer, state, options=StateDictOptions(strict=False))

    def _keep_states(self, optimizer: Any, known: set[str]) -> None:
        # torch has made some for all.
        for name, parameter in self.model.named_parameters():
            if plain(name) not in known:
                optimizer.state.pop(parameter, None)
