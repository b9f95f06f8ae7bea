"""Decoders of fields: one table by extension, images, and what a pipeline's decode() makes of a sample."""

from __future__ import annotations

import io
import json
import os
from functools import partial
from typing import Any, Callable, Dict, Iterable, List, Tuple

from ._optional import optional

# (field with a dot before it, bytes) -> what it is, or None for another one to try.
DecodeField = Callable[[str, Any], Any]

_MOST = 2 << 30  # bytes that a field which is compressed may have

pytorch_weights_only = os.environ.get("WDS_PYTORCH_WEIGHTS_ONLY", "0") == "1"


def _text(data):
    return data.decode("utf-8")


def _msgpack(data):
    return optional("msgpack", "fields .mp and .msg").unpackb(data)


def _npy(data):
    optional("numpy", "fields .npy")
    return optional("numpy.lib.format", "fields .npy").read_array(io.BytesIO(data))


def _npz(data):
    with optional("numpy", "fields .npz").load(io.BytesIO(data)) as known:
        return dict(known)


def _cbor(data):
    try:
        return optional("cbor", "fields .cbor", "cbor2").loads(data)
    except ModuleNotFoundError:
        return optional("cbor2", "fields .cbor").loads(data)


def _tenbin(data):
    from .tenbin import decode_buffer

    return decode_buffer(data)


def _pickle(data):
    import pickle

    return pickle.loads(data)


def torch_loads(data: bytes) -> Any:
    """What torch.save() has made. It runs code of whoever made it, unless WDS_PYTORCH_WEIGHTS_ONLY=1 is set."""
    return optional("torch", "fields .pth").load(io.BytesIO(data), weights_only=pytorch_weights_only,
                                                 map_location="cpu")


# What a field is by its last extension. Others stay bytes.
decoders: Dict[str, Callable[[bytes], Any]] = {
    "txt": _text, "text": _text, "transcript": _text,
    "cls": int, "cls2": int, "index": int, "inx": int, "id": int,
    "json": json.loads, "jsn": json.loads,
    "npy": _npy, "npz": _npz, "ten": _tenbin, "tb": _tenbin,
    "mp": _msgpack, "msg": _msgpack, "cbor": _cbor,
    "pkl": _pickle, "pickle": _pickle, "pyd": _pickle, "pth": torch_loads,
}
_PICKLES = (_pickle, torch_loads)


def _extension(key):
    return key.rpartition(".")[2]


def basichandlers(key: str, data: Any) -> Any:
    """The table's decoder of a field, pickles included: what decode() uses with pickles=True."""
    decode = decoders.get(_extension(key))
    return None if decode is None else decode(data)


def _without_pickles(key, data):
    decode = decoders.get(_extension(key))
    if decode in _PICKLES:
        raise ValueError(f"a {key} is a pickle, which runs code of whoever has made it: give decode(..., pickles=True) if "
                         "you trust the shards, or leave the field as it is by decode(..., only=...)")
    return None if decode is None else decode(data)


class Continue:
    """What a decoder gives that has unwrapped something: others go on with another name and its bytes."""

    def __init__(self, key: str, data: Any) -> None:
        self.key, self.data = key, data


def gzfilter(key: str, data: Any) -> Any:
    """Decompresses a field whose name ends in .gz; others then see it without that."""
    if not key.endswith(".gz"):
        return None
    import gzip

    with gzip.open(io.BytesIO(data)) as stream:
        made = stream.read(_MOST + 1)
    if len(made) > _MOST:
        raise ValueError(f"{key}: it has more than {_MOST} bytes when it is decompressed")
    return Continue(key[:-len(".gz")], made)


def _by_extension(key, data, f, extensions):
    parts = key.lower().split(".")
    for each in extensions:
        wanted = each.split(".")
        if parts[-len(wanted):] == wanted:
            return f(data)
    return None


def handle_extension(extensions: str, f: Callable[[Any], Any]) -> DecodeField:
    """A decoder of fields with one of the extensions, as in handle_extension("seg.png png", f)."""
    return partial(_by_extension, f=f, extensions=extensions.lower().split())


# Images.

IMAGE_EXTENSIONS = (
    "blp bmp dib bufr cur pcx dcx dds ps eps fit fits fli flc ftc ftu gbr gif grib h5 hdf png apng jp2 j2k jpc "
    "jpf jpx j2c icns ico im iim tif tiff jfif jpe jpg jpeg mpg mpeg msp pcd pxr pbm pgm ppm pnm psd bw rgb rgba "
    "sgi ras tga icb vda vst webp wmf emf xbm xpm").split()

_MODES = {"l": "L", "rgb": "RGB", "rgba": "RGBA"}


def _specs():
    for mode in _MODES:
        for kind in ("", "torch"):
            yield f"{kind}{mode}8", (kind or "numpy", "uint8", mode)
            yield kind + mode, (kind or "numpy", "float", mode)
        yield "pil" + mode, ("pil", None, mode)
    yield "torch", ("torch", "float", "rgb")
    yield "pil", ("pil", None, "rgb")


# By name: of what, of which numbers, in which colours.
imagespecs: Dict[str, Tuple[str, Any, str]] = dict(_specs())


class ImageHandler:
    """A decoder of images, by Pillow.

    Arguments:
        imagespec: l8, rgb8, rgba8: numpy arrays of uint8, height x width x colours; l, rgb, rgba: of float32, from
            0 to 1; with "torch" before it tensors, colours x height x width; pil, pilrgb, pill, pilrgba: images of
            Pillow.
        extensions: of fields that are images.
    """

    def __init__(self, imagespec: str, extensions: Iterable[str] = IMAGE_EXTENSIONS) -> None:
        if imagespec not in imagespecs:
            raise ValueError(f"imagespec: {imagespec!r} is none of {', '.join(imagespecs)}")
        self.imagespec = imagespec
        self.extensions = set(extensions)

    def __call__(self, key: str, data: Any) -> Any:
        if _extension(key).lower() not in self.extensions:
            return None
        kind, numbers, mode = imagespecs[self.imagespec]
        images = optional("PIL.Image", "images", "pillow")
        with images.open(io.BytesIO(data)) as opened:
            image = opened.convert(_MODES[mode])
        if kind == "pil":
            return image
        numpy = optional("numpy", "images as arrays")
        pixels = numpy.asarray(image)
        if numbers == "float":
            pixels = pixels.astype(numpy.float32) / 255.0
        if kind == "numpy":
            return pixels
        pixels = pixels.transpose(2, 0, 1) if pixels.ndim == 3 else pixels
        return optional("torch", "images as tensors").from_numpy(pixels.copy())


imagehandler = ImageHandler


def _by_file(key, data, extensions, load):
    """What a library makes of a file of its own."""
    extension = _extension(key)
    if extension not in extensions:
        return None
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"file.{extension}")
        with open(path, "wb") as file:
            file.write(data)
        return load(path)


def torch_video(key: str, data: Any) -> Any:
    """A decoder of videos, by torchvision."""
    return _by_file(key, data, ("mp4", "ogv", "mjpeg", "avi", "mov", "h264", "mpg", "webm", "wmv"),
                    lambda path: optional("torchvision.io", "videos", "torchvision").read_video(path, pts_unit="sec"))


def torch_audio(key: str, data: Any) -> Any:
    """A decoder of sounds, by torchaudio."""
    return _by_file(key, data, ("flac", "mp3", "sox", "wav", "m4a", "ogg", "wma"),
                    lambda path: optional("torchaudio", "sounds").load(path))


# Samples.

class DecodingError(Exception):
    """A field that could not be decoded, which this comes from.

    url, key   of the sample
    k          the field
    sample     as it was
    """

    def __init__(self, url: Any = None, key: Any = None, k: Any = None, sample: Any = None) -> None:
        super().__init__(url, key, k)
        self.url, self.key, self.k, self.sample = url, key, k, sample

    def __str__(self) -> str:
        if self.k is None:  # as torch makes it again, of a text
            return str(self.url)
        why = f": {type(self.__cause__).__name__}: {self.__cause__}" if self.__cause__ is not None else ""
        return f"{self.url}: the field {self.k} of the sample {self.key} was not decoded{why}"


class Decoder:
    """Decodes samples: each field by the first decoder that gives something.

    Arguments:
        handlers: decoders.
        pre: decoders before them; None = gzfilter.
        post: decoders behind them; None = the table.
        only: fields that are decoded, as a list or "jpg json"; None = all.
        partial: fields that are no bytes stay as they are; else they are an error.
        pickles: pkl, pickle, pyd and pth are decoded, too, which runs code of whoever made them.
    """

    def __init__(self, handlers: List[DecodeField], pre: List[DecodeField] | None = None,
                 post: List[DecodeField] | None = None, only: Any = None, partial: bool = False,
                 pickles: bool = False) -> None:
        table = basichandlers if pickles else _without_pickles
        self.handlers = [*([gzfilter] if pre is None else pre), *handlers, *([table] if post is None else post)]
        for each in self.handlers:
            if not callable(each):
                raise TypeError(f"decode: a callable is needed, and not a {type(each).__name__}")
        self.only = None if only is None else set(only.split() if isinstance(only, str) else only)
        self.partial = partial

    def decode1(self, key: str, data: Any) -> Any:
        """One field."""
        key = "." + key
        for handler in self.handlers:
            made = handler(key, data)
            if isinstance(made, Continue):
                key, data = made.key, made.data
            elif made is not None:
                return made
        return data

    def decode(self, sample: Dict[str, Any]) -> Dict[str, Any]:
        """A sample: a new dict.

        Raises: DecodingError, which names the field.
        """
        return {field: self._decoded(field, data, sample) for field, data in sample.items()}

    def _decoded(self, field, data, sample):
        try:
            if field[:2] == "__":
                return data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
            if self.only is not None and field not in self.only:
                return data
            if not isinstance(data, bytes):
                if self.partial and data is not None:
                    return data
                raise TypeError(f"bytes are decoded, and not a {type(data).__name__}: give decode(..., partial=True) "
                                "where some fields were decoded before")
            return self.decode1(field, data)
        except Exception as why:
            raise DecodingError(sample.get("__url__"), sample.get("__key__"), field, sample) from why

    def __call__(self, sample: Dict[str, Any]) -> Dict[str, Any]:
        if not isinstance(sample, dict):
            raise TypeError(f"decode: samples are dicts, and not {type(sample).__name__}: decode before to_tuple()")
        return self.decode(sample)


def decoder_of(handlers: Iterable[Any], **how: Any) -> Decoder:
    """Of what decode() was told: names of images are decoders, too."""
    return Decoder([ImageHandler(each) if isinstance(each, str) else each for each in handlers], **how)
