"""Memory of the caller's that the library reads or fills, and new bytes that it fills."""

from __future__ import annotations

import ctypes

from ._library import method

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Union

    from typing_extensions import Buffer

    # What has bytes in one piece: bytes, bytearray, memoryview, an array of numpy, pyarrow.Buffer.
    Bytes = Union[bytes, bytearray, memoryview, Buffer]

# Prototypes of our own: those of ctypes.pythonapi are shared by the whole process.
_get = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)(
    ("PyObject_GetBuffer", ctypes.pythonapi))
_new_bytes = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t)(
    ("PyBytes_FromStringAndSize", ctypes.pythonapi))
_WRITABLE, _SHAPE, _FORMAT = 1, 8, 4


class _Unfilled(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("rest", ctypes.c_void_p * 4)]


class _View(_Unfilled):
    """One that is released when it is let go of."""


# It passes over one that is released, or was never filled.
_release = ctypes.PYFUNCTYPE(None, ctypes.POINTER(_View))(("PyBuffer_Release", ctypes.pythonapi))
# No bytecode runs in it: a KeyboardInterrupt that came there would be lost to who is to get it.
_View.__del__ = method(_release)


class Lent:
    """The bytes of any object that exports them in one piece, pinned until release(): a bytearray,
    for one, refuses to change its size (BufferError) until then.

    address, size   of the memory
    call            that it is lent to, where it is lent to one: once begun, that one's end releases it, and
                    not the end of its `with`, for a task that is being closed cannot wait
    """

    __slots__ = ("address", "size", "call", "_view")

    def __init__(self, source, argument="data", writable=False):
        self.call = self._view = None
        view = _Unfilled()
        # Where memory was short, what was made has none: it must not be released.
        view.__class__ = _View
        if isinstance(source, str):
            raise TypeError(f"{argument}: bytes are needed, and not a str: .encode() makes them")
        try:
            _get(source, ctypes.addressof(view), _SHAPE | _FORMAT | (_WRITABLE if writable else 0))
        except TypeError:
            raise TypeError(f"{argument}: a bytes-like object is needed, and not a "
                            f"{type(source).__name__}") from None
        except (BufferError, ValueError) as why:  # it cannot be written, is in pieces, was released
            what = "that is contiguous and can be written" if writable else "that is contiguous"
            raise TypeError(f"{argument}: memory {what} is needed: {why}") from None
        self._view = view
        self.address = view.buf
        self.size = view.len
        # Names of fields stand between colons.
        shape = view.format
        if shape and b"O" in shape and any(b"O" in part for part in shape.split(b":")[::2]):
            self.release()
            raise TypeError(f"{argument}: it holds Python objects, and no bytes")

    def release(self):
        """The memory is the caller's alone again. Again does nothing."""
        # In this order, should an interrupt come between them: released again it is passed over.
        if self._view is not None:
            _release(self._view)
            self._view = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        call, self.call = self.call, None
        if call is None or not call.begun:
            self.release()


def new_bytes(size):
    """Bytes whose content is not set yet: they are filled by the library before anyone sees them."""
    return _new_bytes(None, size)
