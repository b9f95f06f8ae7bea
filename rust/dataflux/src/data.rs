//! Bytes in memory of the library.

use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;

use crate::sys;

/// Bytes that were read, where the library has put them: nothing is copied.
///
/// Until it is dropped its memory counts as borrowed, outside the client's memory cap. It may
/// outlive client and stream. With the feature `bytes` it becomes a `bytes::Bytes` without a copy.
pub struct Data {
    start: NonNull<u8>,
    size: usize,
    slab: u64,
}

// SAFETY: nobody changes the bytes, and a slab is returned on any thread.
unsafe impl Send for Data {}
// SAFETY: as above.
unsafe impl Sync for Data {}

impl Data {
    /// Owns what a record hands out, which may be nothing.
    pub(crate) fn of(record: &sys::dataflux_record) -> Data {
        let start = NonNull::new(record.data.cast::<u8>().cast_mut());
        match start {
            Some(start) if record.slab != 0 => {
                Data { start, size: record.size as usize, slab: record.slab }
            }
            _ => Data { start: NonNull::dangling(), size: 0, slab: record.slab },
        }
    }
}

impl Deref for Data {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: the slab is borrowed until the drop, and its bytes stay as they are.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.size) }
    }
}

impl AsRef<[u8]> for Data {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        // SAFETY: it was borrowed once, and is returned once; 0 is ignored.
        unsafe { sys::dataflux_slabs_release(&self.slab, 1) }
    }
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Data").field("size", &self.size).finish()
    }
}

impl PartialEq<[u8]> for Data {
    fn eq(&self, other: &[u8]) -> bool {
        **self == *other
    }
}

impl From<Data> for Vec<u8> {
    fn from(data: Data) -> Self {
        data.to_vec()
    }
}

#[cfg(feature = "bytes")]
impl From<Data> for bytes::Bytes {
    fn from(data: Data) -> Self {
        bytes::Bytes::from_owner(data)
    }
}
