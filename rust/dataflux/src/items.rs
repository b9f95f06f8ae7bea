//! What a stream of reads gives: batches of items.

use crate::data::Data;
use crate::error::{Error, Result};
use crate::ffi;
use crate::sys;

pub(crate) struct Raw {
    pub(crate) record: sys::dataflux_record,
    pub(crate) failure: Option<Error>,
}

/// Some items. Their memory is returned when it is dropped.
pub struct Batch {
    pub(crate) items: Vec<Raw>,
    pub(crate) slabs: Vec<u64>,
}

// SAFETY: the bytes that records point to are borrowed until the drop, and nobody changes them.
unsafe impl Send for Batch {}
// SAFETY: as above.
unsafe impl Sync for Batch {}

impl Batch {
    /// How many items it has.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items.
    pub fn iter(&self) -> Items<'_> {
        Items(self.items.iter())
    }

    /// Items that own their memory each.
    pub fn into_items(mut self) -> impl Iterator<Item = OwnedItem> {
        self.slabs.clear(); // each is its item's from here on
        let items: Vec<_> = self.items.drain(..).map(OwnedItem::of).collect();
        items.into_iter()
    }
}

impl<'a> IntoIterator for &'a Batch {
    type Item = Item<'a>;
    type IntoIter = Items<'a>;
    fn into_iter(self) -> Items<'a> {
        self.iter()
    }
}

/// The items of a [`Batch`].
pub struct Items<'a>(std::slice::Iter<'a, Raw>);

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;
    fn next(&mut self) -> Option<Item<'a>> {
        self.0.next().map(|raw| Item { index: raw.record.index, raw })
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Items<'_> {}

impl Drop for Batch {
    fn drop(&mut self) {
        // SAFETY: each was borrowed once, and is returned once; 0 is ignored.
        unsafe { sys::dataflux_slabs_release(self.slabs.as_ptr(), self.slabs.len()) }
    }
}

/// What one request has given, in memory of its batch.
#[derive(Clone, Copy)]
pub struct Item<'a> {
    /// The number of the request, from 0.
    pub index: u64,
    raw: &'a Raw,
}

impl<'a> Item<'a> {
    /// The bytes, or why there are none.
    pub fn bytes(&self) -> Result<&'a [u8]> {
        match &self.raw.failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(ffi::empty_if_null(self.raw.record.data.cast(), self.raw.record.size)),
        }
    }

    /// The generation that the bytes are of.
    pub fn generation(&self) -> i64 {
        self.raw.record.generation
    }

    /// The checksum of the bytes.
    pub fn crc32c(&self) -> u32 {
        self.raw.record.crc32c
    }

    /// Whether the bytes were compared with a checksum of the service.
    pub fn is_verified(&self) -> bool {
        self.raw.record.flags & sys::DATAFLUX_RECORD_VERIFIED != 0
    }
}

/// What one request has given, with its memory.
#[derive(Debug)]
pub struct OwnedItem {
    /// The number of the request, from 0.
    pub index: u64,
    /// The generation that the bytes are of.
    pub generation: i64,
    /// The checksum of the bytes.
    pub crc32c: u32,
    /// Whether the bytes were compared with a checksum of the service.
    pub verified: bool,
    /// The bytes, or why there are none.
    pub data: Result<Data>,
}

impl OwnedItem {
    fn of(raw: Raw) -> OwnedItem {
        let (record, data) = (raw.record, Data::of(&raw.record));
        OwnedItem {
            index: record.index,
            generation: record.generation,
            crc32c: record.crc32c,
            verified: record.flags & sys::DATAFLUX_RECORD_VERIFIED != 0,
            data: raw.failure.map_or(Ok(data), Err),
        }
    }
}
