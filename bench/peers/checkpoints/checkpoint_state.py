"""The states that the benchmark `checkpoints` saves and loads: tensors whose bytes follow from their
names alone, so that any part of any of them can be made, and compared, wherever it is wanted."""

import torch

PERIOD = 1_000_003  # no row of any tensor is a multiple of it, so that no two rows are the same
SMALL_ELEMENTS = 4096
WIDTH, WORDS = 1024, 16_384
_pattern = torch.arange(PERIOD, dtype=torch.float32)


def model_shapes(layers):
    """{name: shape} of a decoder with names as such models have, in the order of the model."""
    out = {"model.embed.weight": [WORDS, WIDTH]}
    of_layer = {
        "ln_1.weight": [WIDTH], "ln_1.bias": [WIDTH], "attn.qkv.weight": [3 * WIDTH, WIDTH],
        "attn.qkv.bias": [3 * WIDTH], "attn.out.weight": [WIDTH, WIDTH], "attn.out.bias": [WIDTH],
        "ln_2.weight": [WIDTH], "ln_2.bias": [WIDTH], "mlp.up.weight": [4 * WIDTH, WIDTH],
        "mlp.up.bias": [4 * WIDTH], "mlp.down.weight": [WIDTH, 4 * WIDTH],
        "mlp.down.bias": [WIDTH]}
    for layer in range(layers):
        for name, shape in of_layer.items():
            out[f"model.layers.{layer}.{name}"] = shape
    return {**out, "model.ln_f.weight": [WIDTH], "model.ln_f.bias": [WIDTH]}


def shapes(size):
    """{name: shape} of the model with as many layers as make about `size` bytes."""
    none = size_of(model_shapes(0))
    layer = size_of(model_shapes(1)) - none
    return model_shapes(max(round((size - none) / layer), 1))


def small_shapes(count):
    """As many tensors of 16 KiB."""
    return {f"small.{number}": [SMALL_ELEMENTS] for number in range(count)}


def elements(shape):
    product = 1
    for length in shape:
        product *= length
    return product


def size_of(wanted):
    """Bytes of tensors of these shapes."""
    return sum(elements(shape) for shape in wanted.values()) * _float_size()


def _float_size():
    return torch.float32.itemsize


def fill(out, number, start):
    """What the tensor of that number has from its element `start` on, into a flat tensor."""
    at, filled = (start + 7919 * number) % PERIOD, 0
    while filled < len(out):
        taken = min(PERIOD - at, len(out) - filled)
        out[filled:filled + taken] = _pattern[at:at + taken]
        at, filled = 0, filled + taken


def is_filled(got, number, start):
    wanted = torch.empty_like(got)
    fill(wanted, number, start)
    return torch.equal(got, wanted)


class State:
    """The state of one rank: whole tensors, or rows of each, side by side by ranks.

    mesh: of the ranks; None = the tensors are whole."""

    def __init__(self, wanted, mesh=None):
        self._wanted = wanted
        self._mesh = mesh

    def size(self):
        """Bytes of this rank's tensors."""
        return sum(rows * elements(shape[1:])
                   for shape in self._wanted.values()
                   for _, rows in [self._rows(shape)]) * _float_size()

    def _rows(self, shape):
        """(first row, rows) of this rank."""
        if self._mesh is None:
            return 0, shape[0]
        rows = shape[0] // self._mesh.size()
        return self._mesh.get_local_rank() * rows, rows

    def _made(self, filled):
        out = {}
        for number, (name, shape) in enumerate(self._wanted.items()):
            first, rows = self._rows(shape)
            own = torch.empty([rows, *shape[1:]])
            if filled:
                fill(own.view(-1), number, first * elements(shape[1:]))
            if self._mesh is not None:
                from torch.distributed.tensor import DTensor, Shard

                own = DTensor.from_local(own, self._mesh, [Shard(0)], run_check=False)
            out[name] = own
        return out

    def tensors(self):
        return self._made(True)

    def places(self):
        """Tensors in memory that is new, to be loaded into."""
        return self._made(False)

    def check(self, loaded):
        """Ends with an exception where these are not the tensors."""
        if list(loaded) != list(self._wanted):
            raise ValueError("other tensors than those saved")
        for number, (name, shape) in enumerate(self._wanted.items()):
            got = loaded[name] if self._mesh is None else loaded[name].to_local()
            first, rows = self._rows(shape)
            if list(got.shape) != [rows, *shape[1:]]:
                raise ValueError(f"{name} has the shape {list(got.shape)}")
            if not is_filled(got.view(-1), number, first * elements(shape[1:])):
                raise ValueError(f"{name} has other content than was saved")
