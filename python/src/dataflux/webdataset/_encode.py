"""Encoders of fields: one table by extension, and what a writer makes of a sample."""

from __future__ import annotations

import io
import json
from functools import partial
from typing import Any, Callable, Dict

from ._optional import optional

Encode = Callable[[Any], Any]


def _text(data):
    if not isinstance(data, str):
        raise TypeError(f"a str is needed, and not a {type(data).__name__}")
    return data.encode("utf-8")


def _number(data):
    return str(data).encode("ascii")


def _json(data):
    return json.dumps(data).encode("utf-8")


def _pickle(data):
    import pickle

    return pickle.dumps(data)


def torch_dumps(data: Any) -> bytes:
    """What torch.save() makes."""
    out = io.BytesIO()
    optional("torch", "fields .pth").save(data, out)
    return out.getvalue()


def numpy_dumps(data: Any) -> bytes:
    """An array as a .npy."""
    out = io.BytesIO()
    optional("numpy", "fields .npy")
    optional("numpy.lib.format", "fields .npy").write_array(out, data, allow_pickle=False)
    return out.getvalue()


def _npz(data):
    if not isinstance(data, dict):
        raise TypeError(f"a dict of arrays is needed, and not a {type(data).__name__}")
    out = io.BytesIO()
    optional("numpy", "fields .npz").savez_compressed(out, **data)
    return out.getvalue()


def _tenbin(data):
    from .tenbin import encode_buffer

    return encode_buffer(data if isinstance(data, list) else [data])


def _msgpack(data):
    return optional("msgpack", "fields .mp, .msg and .msgpack").packb(data)


def _cbor(data):
    try:
        return optional("cbor", "fields .cbor", "cbor2").dumps(data)
    except ModuleNotFoundError:
        return optional("cbor2", "fields .cbor").dumps(data)


_FORMATS = {"jpg": "JPEG", "jpeg": "JPEG", "pbm": "PPM", "pgm": "PPM", "ppm": "PPM", "tif": "TIFF", "tiff": "TIFF",
            "png": "PNG"}


def imageencoder(image: Any, format: str = "png") -> bytes:
    """An image of Pillow, or an array of uint8 or of floats from 0 to 1, as a file.

    Arguments:
        format: png, jpg, ppm, pgm, pbm or tiff. JPEG and TIFF have quality 100.

    Raises: ValueError for an array that is none of an image.
    """
    images = optional("PIL.Image", "images", "pillow")
    if not isinstance(image, images.Image):
        image = images.fromarray(_pixels(image))
    known = _FORMATS.get(format.lower(), format.upper())
    out = io.BytesIO()
    image.save(out, format=known, **({"quality": 100} if known in ("JPEG", "TIFF") else {}))
    return out.getvalue()


def _pixels(image):
    numpy = optional("numpy", "images of arrays")
    if not isinstance(image, numpy.ndarray):
        raise TypeError(f"an image of Pillow or an array is needed, and not a {type(image).__name__}")
    if image.dtype.kind == "f":
        if image.size and not (image.min() > -0.001 and image.max() < 1.001):
            raise ValueError(f"an image of floats is from 0 to 1, and not from {image.min()} to {image.max()}")
        image = (numpy.clip(image, 0.0, 1.0) * 255.0).astype(numpy.uint8)
    if image.ndim not in (2, 3) or image.ndim == 3 and image.shape[2] not in (1, 3):
        raise ValueError(f"an array of {image.shape} is no image: height x width, or height x width x 3")
    return image[:, :, 0] if image.ndim == 3 and image.shape[2] == 1 else image


def _table():
    for extensions, encode in (
            ("cls cls2 class count index inx id", _number), ("txt text transcript html htm", _text),
            ("json jsn", _json), ("pyd pickle pkl", _pickle), ("pth", torch_dumps), ("npy", numpy_dumps),
            ("npz", _npz), ("ten tenbin tb", _tenbin), ("mp msgpack msg", _msgpack), ("cbor", _cbor)):
        for each in extensions.split():
            yield each, encode
    for each in ("jpg", "jpeg", "png", "pbm", "pgm", "ppm", "tif", "tiff", "img", "image"):
        # As webdataset has it, "img" and "image" are JPEG.
        yield each, partial(imageencoder, format="jpg" if each in ("img", "image") else each)


# What makes bytes of a field by its last extension.
default_handlers: Dict[str, Encode] = dict(_table())


def encode_field(data: Any, field: str, handlers: Dict[str, Encode]) -> Any:
    """The bytes of a field. bytes stay, str is UTF-8, and else the table says; behind ".gz" it is compressed.

    Raises: ValueError for a field that has no encoder, and where one has failed.
    """
    if field[:1] == "_":
        if not isinstance(data, str):
            raise ValueError(f"{field}: what begins with _ is a str, and not a {type(data).__name__}")
        return data
    compressed = field.endswith(".gz")
    extension = (field[:-len(".gz")] if compressed else field).rpartition(".")[2].lower()
    if isinstance(data, str):
        data = data.encode("utf-8")
    if not isinstance(data, (bytes, bytearray, memoryview)):
        encode = handlers.get(extension)
        if encode is None:
            raise ValueError(f"{field}: there is no encoder for .{extension}, and a {type(data).__name__} is no bytes: "
                             "give bytes, or another encoder=")
        try:
            data = encode(data)
        except (TypeError, ValueError) as why:
            raise ValueError(f"{field}: {why}") from why
    if compressed:
        import gzip

        data = gzip.compress(data, mtime=0)
    return data


def encoded(sample: Dict[str, Any], handlers: Dict[str, Encode]) -> Dict[str, Any]:
    """A sample of bytes."""
    return {field: encode_field(data, field, handlers) for field, data in sample.items()}


def encoder_of(spec: Any) -> Callable[[Dict[str, Any]], Dict[str, Any]]:
    """Of what a writer was told: True = the table, a dict = another one, False = samples are bytes; or a function
    of samples."""
    if spec is None or spec is False:
        return dict
    if spec is True:
        return partial(encoded, handlers=default_handlers)
    if isinstance(spec, dict):
        return partial(encoded, handlers=spec)
    if callable(spec):
        made: Callable[[Dict[str, Any]], Dict[str, Any]] = spec
        return made
    raise TypeError(f"encoder: True, False, a dict or a callable is needed, and not a {type(spec).__name__}")
