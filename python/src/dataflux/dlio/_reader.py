"""What DLIO makes of an object: it is decoded, and the step is given an array of the size that the workload says."""

from __future__ import annotations

import io
import os
from typing import Any, Iterator

import numpy
from dlio_benchmark.common.constants import MODULE_DATA_READER
from dlio_benchmark.common.enumerations import FormatType
from dlio_benchmark.reader.reader_handler import FormatReader
from dlio_benchmark.utils.utility import Profile

from .._client import client_for
from .._listing import Row

_trace = Profile(MODULE_DATA_READER)


class Reader(FormatReader):  # type: ignore[misc]
    """The `reader_classname` of DLIO's own loader, and of Loader: npz, npy, jpeg and png, each by its decoder.

    As DLIO's readers it decodes an object, takes `preprocess_time`, and gives an array of `record_length_resize`
    bytes in place of what was decoded. A class of yours may do something else in decoded().

    Threads: of Loader, several call sample() at a time.
    """

    def __init__(self, dataset_type: Any, thread_index: int, epoch: int) -> None:
        super().__init__(dataset_type, thread_index)
        self._format = self._args.format
        if self._format not in _DECODERS:
            raise ValueError(f"format: {self._format} is not read from a bucket, but "
                             + ", ".join(sorted(str(each) for each in _DECODERS)))
        # DLIO takes what it reads for paths, and makes them absolute.
        self._urls = {os.path.abspath(url): url for url in self._file_list}

    def decoded(self, data: Any, url: str) -> Any:
        """The array that an object's bytes are."""
        return _DECODERS[self._format](io.BytesIO(data))

    def sample(self, data: Any, row: Row) -> Any:
        """What the step is given of an object, for Loader."""
        self.decoded(data, row.url)
        self.preprocess()
        return self._args.resized_image

    # What DLIO's loader calls.

    def open(self, filename: str) -> Any:
        url = self._urls.get(filename, filename)
        return self.decoded(client_for(url).get(url), url)

    def close(self, filename: str) -> None:
        pass

    def get_sample(self, filename: str, sample_index: int) -> None:
        image = self.open_file_map[filename]
        if self._format in (FormatType.NPZ, FormatType.NPY):
            image = image[..., sample_index]
        _trace.update(image_size=image.nbytes)

    def next(self) -> Iterator[Any]:
        yield from super().next()

    def read_index(self, global_sample_idx: int, step: int) -> Any:
        return super().read_index(global_sample_idx, step)

    def finalize(self) -> None:
        self.open_file_map.clear()

    def is_index_based(self) -> bool:
        return True

    def is_iterator_based(self) -> bool:
        return True


def _npz(file):
    return numpy.load(file, allow_pickle=False)["x"]


def _npy(file):
    return numpy.load(file, allow_pickle=False)


def _image(file):
    from PIL import Image

    return numpy.asarray(Image.open(file))


_DECODERS = {FormatType.NPZ: _npz, FormatType.NPY: _npy, FormatType.JPEG: _image, FormatType.PNG: _image}
