"""Memory of the caller's that the library reads or fills, and new bytes that it fills."""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Union

    from typing_extensions import Buffer

    # What has its bytes in one piece: bytes, bytearray, a memoryview, an array of numpy.
    Bytes = Union[bytes, bytearray, memoryview, Buffer]


def _function(name, result, *arguments):
    """A function of Python's own. Not ctypes.pythonapi.NAME, whose argument types all users of that
    share."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_get = _function("PyObject_GetBuffer", ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)
_release = _function("PyBuffer_Release", None, ctypes.c_void_p)
_new_bytes = _function("PyBytes_FromStringAndSize", ctypes.py_object, ctypes.c_void_p,
                       ctypes.c_ssize_t)
_SIMPLE, _WRITABLE = 0, 1
_PLAIN = (bytes, bytearray)


class _View(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
                ("rest", ctypes.c_void_p * 8)]


class Lent:
    """The bytes of any object that exports them, pinned until release(): a bytearray, for one,
    refuses to change its size (BufferError) until then.

    address, size   of the memory
    """

    __slots__ = ("address", "size", "_view")

    def __init__(self, source, argument="data", writable=False):
        self._view = None
        if isinstance(source, str):
            raise TypeError(f"{argument}: bytes are needed, and not a str: .encode() makes them")
        view = _View()
        try:
            _get(source, ctypes.addressof(view), _WRITABLE if writable else _SIMPLE)
        except TypeError:
            raise TypeError(f"{argument}: a bytes-like object is needed, and not a "
                            f"{type(source).__name__}") from None
        except (BufferError, ValueError) as why:
            what = "that is contiguous and can be written" if writable else "that is contiguous"
            raise TypeError(f"{argument}: memory {what} is needed: {why}") from None
        self._view = view
        self.address = view.buf
        self.size = view.len
        if type(source) not in _PLAIN and "O" in memoryview(source).format:
            self.release()
            raise TypeError(f"{argument}: it holds references to Python objects, and no bytes")

    def release(self):
        """The memory is the caller's alone again. Again does nothing."""
        view, self._view = self._view, None
        if view is not None:
            _release(ctypes.addressof(view))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()

    def __del__(self):
        if _release is not None:
            self.release()


def new_bytes(size):
    """Bytes whose content is not set yet: they are filled by the library before anyone sees them."""
    return _new_bytes(None, size)
