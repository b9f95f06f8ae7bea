"""Memory of the caller's that the library reads while a call is under way."""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Union

    from typing_extensions import Buffer

    # What has bytes in one piece: bytes, bytearray, memoryview, an array of numpy, pyarrow.Buffer.
    Bytes = Union[bytes, bytearray, memoryview, Buffer]


class _Py_buffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_void_p), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p),
                ("internal", ctypes.c_void_p)]


# With the interpreter's lock, and with Python's exceptions. ctypes' own from_buffer() takes only
# memory that may be written.
_get = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)(
    ("PyObject_GetBuffer", ctypes.pythonapi))
_release = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("PyBuffer_Release", ctypes.pythonapi))


def _address(view):
    """Of a memoryview's bytes, which keeps them there."""
    got = _Py_buffer()
    _get(view, ctypes.addressof(got), 0)
    address = got.buf
    _release(ctypes.addressof(got))
    return address


class Lent:
    """The bytes of a buffer, in one piece. They stay where they are until let_go(): a bytearray, for
    one, refuses to change its size (BufferError) until then."""

    __slots__ = ("_view", "address", "size")

    def __init__(self, data, argument="data"):
        if isinstance(data, str):
            raise TypeError(f"{argument}: bytes are needed, and not a str: .encode() makes them")
        try:
            view = memoryview(data)
        except TypeError:
            raise TypeError(f"{argument}: bytes or another buffer are needed, and not a "
                            f"{type(data).__name__}") from None
        except ValueError as why:  # a view that was released, a kind that has no bytes
            raise ValueError(f"{argument}: {why}") from None
        if not view.c_contiguous:
            raise ValueError(f"{argument}: its bytes lie apart in memory, or in another order: copy "
                             "them into one piece first")
        if "O" in view.format:
            raise TypeError(f"{argument}: it holds Python objects, and no bytes")
        self._view = view
        self.size = view.nbytes
        self.address = _address(view) if view.nbytes else None

    def let_go(self):
        """The memory is the caller's alone again. Again does nothing."""
        self._view.release()
