"""What ranks do in the tests of Lightning's strategies: real Trainers, on the processor over gloo."""

import copy
import os
import threading
import warnings

import fsspec
import torch
import torch.distributed as dist
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
)
from torch.distributed.fsdp import (
    FullOptimStateDictConfig,
    FullStateDictConfig,
    OptimStateKeyType,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    StateDictType,
    fully_shard,
)
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

import dataflux.fsspec
from dataflux.lightning import FSDPStrategy, ModelParallelStrategy, _sharded, resumable
from dataflux_pytorch.lightning.strategies import DatafluxFSDPStrategy

WIDE = 192


def begin(options, *, world):
    """The rank's gs:// is the emulator's, and a launcher has started it."""
    rank = str(dist.get_rank())
    os.environ.update(RANK=rank, LOCAL_RANK=rank, GROUP_RANK="0", MASTER_ADDR="127.0.0.1", MASTER_PORT="1",
                      TORCHELASTIC_RUN_ID="test")
    fsspec.config.conf["gs"] = options
    dataflux.fsspec.register("gs")
    return "ready"


class OnProcessor:
    """What FSDP1 needs there, and no more: Lightning names the device by its index, which the processor has
    none of; and torch moves an optimizer's state "to the processor" before it uses its memory again, which
    is no copy there, so that exp_avg is exp_avg_sq."""

    def _setup_model(self, model):
        return FSDP(model, device_id=torch.device("cpu"), **self.kwargs)

    def optimizer_state(self, optimizer):
        if self._state_dict_type == "sharded":
            with FSDP.state_dict_type(self.model, StateDictType.SHARDED_STATE_DICT, ShardedStateDictConfig(),
                                      ShardedOptimStateDictConfig(offload_to_cpu=False)):
                return FSDP.optim_state_dict(self.model, optimizer)
        with FSDP.state_dict_type(self.model, StateDictType.FULL_STATE_DICT, FullStateDictConfig(),
                                  FullOptimStateDictConfig(offload_to_cpu=False, rank0_only=True)):
            state = FSDP.optim_state_dict(self.model, optimizer)
        return FSDP.rekey_optim_state_dict(state, OptimStateKeyType.PARAM_ID, self.model) if state else state


class Ours(OnProcessor, FSDPStrategy):
    pass


class Originals(OnProcessor, DatafluxFSDPStrategy):
    pass


class Model(LightningModule):
    def __init__(self, idle=False):
        super().__init__()
        torch.manual_seed(7)
        self.words = ["before"]
        self.first = torch.nn.Linear(4, WIDE)
        self.norm = torch.nn.LayerNorm(WIDE)
        self.wide = torch.nn.Linear(WIDE, WIDE)
        self.last = torch.nn.Linear(WIDE, 1)
        self.register_buffer("seen", torch.zeros(3))
        if idle:  # it has never a gradient, and so no state of the optimizer
            self.idle = torch.nn.Linear(3, 5)

    def forward(self, rows):
        return self.last(self.wide(torch.tanh(self.norm(self.first(rows)))))

    def on_save_checkpoint(self, checkpoint):
        checkpoint["words"] = self.words

    def training_step(self, batch, number):
        self.seen += 1
        loss = self(batch).square().mean()
        self.log("loss", loss, sync_dist=True, on_step=False, on_epoch=True)
        return loss

    def test_step(self, batch, number):
        self.log("tested", self(batch).sum(), sync_dist=True)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=0.01)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)]


class Sharded(Model):
    def configure_model(self):
        if not dist.is_initialized() or isinstance(self.wide, torch.distributed.fsdp.FSDPModule):
            return
        mesh = self.device_mesh["data_parallel"]
        fully_shard(self.wide, mesh=mesh)
        fully_shard(self, mesh=mesh)


def data():
    rows = torch.rand(16, 4, generator=torch.Generator().manual_seed(1))
    return torch.utils.data.DataLoader(rows, batch_size=2)


def strategy(kind, client, sharded, use_async, world):
    if kind == "FSDP":
        return Ours(client=client, use_async=use_async, state_dict_type="sharded" if sharded else "full")
    if kind == "original":
        return Originals(project_name="p", storage_client=client, use_async=use_async)
    return ModelParallelStrategy(client=client, use_async=use_async, save_distributed_checkpoint=sharded,
                                 data_parallel_size=world, tensor_parallel_size=1)


def trainer(kind, client, dirpath, epochs, *, world, sharded=True, use_async=False, top=2, idle=False,
            strict=True, root=None, monitor="loss", last=True):
    warnings.simplefilter("ignore")
    os.environ.update(WORLD_SIZE=str(world), LOCAL_WORLD_SIZE=str(world))
    kept = resumable(ModelCheckpoint(dirpath=dirpath, filename="{epoch}", monitor=monitor, mode="min",
                                     save_top_k=top, save_last=last))
    model = Sharded(idle) if kind == "ModelParallel" else Model(idle)
    model.strict_loading = strict
    made = Trainer(accelerator="cpu", devices=world, logger=False, default_root_dir=root, callbacks=[kept], max_epochs=epochs,
                   enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0,
                   strategy=strategy(kind, client, sharded, use_async, world))
    return made, model


def state_of(made):
    """What training has come to, whole, on rank 0."""
    whole = StateDictOptions(full_state_dict=True)
    model = made.strategy.model
    state = {"weights": get_model_state_dict(model, options=whole), "step": made.global_step,
             "epoch": made.current_epoch, "best": sorted(made.checkpoint_callback.best_k_models)}
    if made.strategy.optimizers:
        state["optimizer"] = get_optimizer_state_dict(model, made.strategy.optimizers[0], options=whole)
    return copy.deepcopy(state)


def fit(*arguments, ckpt_path=None, **how):
    """Trains, and gives state_of()."""
    made, model = trainer(*arguments, **how)
    made.fit(model, data(), ckpt_path=ckpt_path)
    return state_of(made)


def resume(*arguments, ckpt_path, **how):
    """Trains on, and gives state_of()."""
    return fit(*arguments, ckpt_path=ckpt_path, **how)


def tested(*arguments, ckpt_path, **how):
    """Tests, and gives the weights that it has tested with."""
    made, model = trainer(*arguments, **how)
    made.test(model, data(), ckpt_path=ckpt_path, verbose=False)
    return {name: value for name, value in state_of(made)["weights"].items() if "idle" not in name}


_kept = []  # a trainer that a later call goes on with


def keep(*arguments, **how):
    made, model = trainer(*arguments, **how)
    made.fit(model, data())
    _kept[:] = [made]
    return state_of(made)


def save(url, *, world, **how):
    _kept[0].save_checkpoint(url, **how)
    return "saved"


def remove(url, *, world):
    _kept[0].strategy.remove_checkpoint(url)
    return "removed"


def save_and_join(url, *, world):
    """Begins to save, and waits until that has ended, without a question how."""
    save(url, world=world)
    _kept[0].strategy._saves.join()
    return "ended"


def each_failure(calls, *, world):
    """The errors of saves to URLs, and of a teardown for None: one for each, "" where there is none."""
    found = []
    for url in calls:
        try:
            _kept[0].strategy.teardown() if url is None else save(url, world=world)
            found.append("")
        except BaseException as why:
            found.append(str(why))
    return found


class Refuses:
    def __reduce__(self):
        raise LookupError("not me")


def save_what_does_not_pickle(url, *, world):
    """Of rank 0's, which saves all that is neither model nor optimizer."""
    made = _kept[0].strategy
    made.save_checkpoint({"state_dict": made.lightning_module_state_dict(),
                          **({"bad": Refuses()} if dist.get_rank() == 0 else {})}, url)


def save_two_at_once(*urls, world):
    """Nothing is sent until both have returned. "shared" where the second has the tensors of the first."""
    returned, send = threading.Event(), _sharded.save

    def late(*arguments):
        assert returned.wait(120), "the second save has waited for the first"
        send(*arguments)

    made = _kept[0]
    _sharded.save = late
    try:
        for url in urls:
            save(url, world=world)
        states = [job._save.args[1] for job in made.strategy._saves.jobs]
        one, other = ([place for value in next(iter(state.values())).values() for place in addresses(value)]
                      for state in states)
    finally:
        _sharded.save = send
        returned.set()
        made.strategy._saves.join()
    made.strategy._saves.wait()
    return "shared" if one and one == other else (one, other)


def addresses(value):
    """Where a tensor of a state lies in this rank's memory."""
    if hasattr(value, "local_shards"):
        return [shard.tensor.data_ptr() for shard in value.local_shards()]
    return [(value.to_local() if hasattr(value, "to_local") else value).data_ptr()]


def save_while_all_changes(url, *, world):
    """Nothing is sent until all that was saved has changed."""
    changed = threading.Event()
    send = _sharded.save

    def late(*arguments):
        changed.wait()
        send(*arguments)

    made = _kept[0]
    before = state_of(made)
    _sharded.save = late
    try:
        save(url, world=world)
    finally:
        _sharded.save = send
    with torch.no_grad():
        for each in [*made.strategy.model.parameters(), *made.strategy.model.buffers()]:
            (each.to_local() if hasattr(each, "to_local") else each).zero_()
        for state in made.strategy.optimizers[0].state.values():
            for each in state.values():
                (each.to_local() if hasattr(each, "to_local") else each).zero_()
        made.lightning_module.words.append("after")
    changed.set()
    made.strategy.teardown()
    return before
