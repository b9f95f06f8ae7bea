"""A model of about 1 GiB as torch saves one: a decoder of 20 layers, in float32, with names as such
models have. Needs torch. No two of its tensors are the same, and none is of zeros alone."""

import torch

LAYERS, WIDTH, WORDS = 20, 1024, 16_384


def shapes(layers=LAYERS):
    """{name: shape}, in the order of the model."""
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


def tensor(number, shape):
    """The tensor of that number: whole numbers that float32 holds exactly."""
    size = 1
    for length in shape:
        size *= length
    return (torch.arange(size, dtype=torch.int32) % 16_000_000 + number).to(torch.float32).view(shape)


def model():
    return {name: tensor(number, shape) for number, (name, shape) in enumerate(shapes().items())}


def is_model(loaded):
    """Whether this is what model() gives, down to the last number."""
    wanted = shapes()
    return list(loaded) == list(wanted) and all(
        torch.equal(loaded[name], tensor(number, shape))
        for number, (name, shape) in enumerate(wanted.items()))
