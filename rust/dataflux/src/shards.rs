//! Samples of tar shards, by number.

use std::ffi::c_char;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::bucket::Bucket;
use crate::call::{Ended, Report, Start, Verb, verb};
use crate::client::{Client, check_version};
use crate::error::Result;
use crate::ffi::{self, Texts, empty_if_null, handle, nanoseconds};
use crate::listing::Listing;
use crate::sys;

handle!(IndexHandle, dataflux_shard_index, dataflux_shard_index_free);

/// Where each sample of many shards lies: a file that many processes map. It is immutable, and a
/// clone is the same one.
#[derive(Clone)]
pub struct ShardIndex(Arc<IndexHandle>);

impl fmt::Debug for ShardIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShardIndex")
    }
}

impl ShardIndex {
    /// Maps an index; sends nothing. The file must not change while it is in use.
    pub fn open(path: impl AsRef<Path>) -> Result<ShardIndex> {
        check_version()?;
        let mut texts = Texts::default();
        let path = texts.add_path(path.as_ref())?;
        // SAFETY: the path lives during the call.
        let handle = IndexHandle::make(|out, error| unsafe {
            sys::dataflux_shard_index_open(path, out, error)
        })?;
        Ok(ShardIndex(Arc::new(handle)))
    }

    pub(crate) fn raw(&self) -> *mut sys::dataflux_shard_index {
        self.0.raw()
    }

    fn info(&self) -> Result<sys::dataflux_shard_index_info> {
        // SAFETY: the handle is ours, and `out` has the size that is said.
        ffi::made(|out, error| unsafe {
            let size = size_of::<sys::dataflux_shard_index_info>();
            sys::dataflux_shard_index_describe(self.raw(), out, size, error)
        })
    }

    /// How many samples there are.
    pub fn samples(&self) -> Result<u64> {
        Ok(self.info()?.samples)
    }

    /// How many shards there are.
    pub fn shards(&self) -> Result<u64> {
        Ok(self.info()?.shards)
    }

    /// The bucket that the shards are in.
    pub fn bucket(&self) -> Result<String> {
        // SAFETY: the text lives as long as the index.
        Ok(unsafe { ffi::own_text(self.info()?.bucket) })
    }

    /// The numbers of the samples with a key, ascending. Once in 10^11 the key is another one,
    /// which [`ShardIndex::split`] tells.
    pub fn find(&self, key: &[u8]) -> Result<Vec<u64>> {
        let mut numbers = Vec::new();
        loop {
            let room = numbers.len();
            // SAFETY: `numbers` has so much room.
            let count = ffi::made(|count: &mut usize, error| unsafe {
                let (key, size) = (key.as_ptr().cast::<c_char>(), key.len());
                let into = numbers.as_mut_ptr();
                sys::dataflux_shard_index_find(self.raw(), key, size, into, room, count, error)
            })?;
            numbers.resize(count, 0);
            if count <= room {
                return Ok(numbers);
            }
        }
    }

    /// Takes the bytes of a sample apart, without a copy. Every header in them is compared with the
    /// index: [`Code::DataLoss`](crate::Code::DataLoss) for the bytes of another sample.
    pub fn split<'a>(&self, number: u64, bytes: &'a [u8]) -> Result<Sample<'a>> {
        let mut fields = vec![sys::dataflux_sample_field::default(); 8];
        let mut key = vec![0_u8; 64];
        loop {
            let (mut field_count, mut key_size) = (0, 0);
            // SAFETY: `fields` and `key` have the room that is said.
            ffi::call(|error| unsafe {
                sys::dataflux_shard_index_split(
                    self.raw(),
                    number,
                    bytes.as_ptr().cast(),
                    bytes.len(),
                    fields.as_mut_ptr(),
                    fields.len(),
                    &mut field_count,
                    key.as_mut_ptr().cast(),
                    key.len(),
                    &mut key_size,
                    error,
                )
            })?;
            let fits = field_count <= fields.len() && key_size <= key.len();
            fields.resize(field_count, sys::dataflux_sample_field::default());
            key.resize(key_size, 0);
            if fits {
                let fields = fields.iter().map(|field| Sample::field_of(field, bytes)).collect();
                return Ok(Sample { key, fields });
            }
        }
    }
}

impl Bucket {
    /// Reads the shards of a listing once, and writes where each of their samples lies into a file.
    pub fn index_shards(&self, listing: &Listing, path: impl AsRef<Path>) -> IndexShards {
        let raw = sys::dataflux_index_shards_options::default();
        let (bucket, listing) = (self.clone(), listing.clone());
        IndexShards { bucket, listing, path: path.as_ref().to_owned(), raw, timeout: None }
    }
}

/// [`Bucket::index_shards`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct IndexShards {
    bucket: Bucket,
    listing: Listing,
    path: PathBuf,
    raw: sys::dataflux_index_shards_options,
    timeout: Option<Duration>,
}

// SAFETY: the options have no pointer yet.
unsafe impl Send for IndexShards {}

macro_rules! allowed {
    ($($(#[$doc:meta])* $name:ident),*) => {
        $($(#[$doc])*
        pub fn $name(mut self) -> Self {
            self.raw.$name = 1;
            self
        })*
    };
}

impl IndexShards {
    allowed!(
        /// An archive behind the end of another is read, too.
        read_concatenated,
        /// Other bytes behind the end are ignored.
        ignore_trailing,
        /// A damaged shard ends where it is damaged.
        end_at_damage,
        /// Fields keep their case.
        keep_case,
        /// A leading "./" is no part of a key.
        strip_dot_slash,
        /// A field that comes again in a sample is left out.
        keep_first
    );

    /// Shards that are read at the same time; default: 64.
    pub fn parallelism(mut self, shards: u32) -> Self {
        self.raw.parallelism = shards;
        self
    }

    /// Data of at least so many bytes are not read, and then their shard's samples have no
    /// checksums; default: 1 MiB. `u64::MAX`: all are read.
    pub fn skip_from(mut self, bytes: u64) -> Self {
        self.raw.skip_from = bytes;
        self
    }

    /// The time limit of the whole call.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }
}

verb!(IndexShards => Report);
impl Verb for IndexShards {
    type Output = Report;
    fn client(&self) -> &Client {
        &self.bucket.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        let mut texts = Texts::default();
        let mut options = self.raw;
        options.bucket = texts.add(&self.bucket.name)?;
        options.path = texts.add_path(&self.path)?;
        options.timeout_ns = nanoseconds(self.timeout)?;
        // SAFETY: options and listing live during the call.
        start.with(|queue, tag, out, error| unsafe {
            let (client, listing) = (self.bucket.client.raw(), self.listing.raw());
            sys::dataflux_index_shards(client, &options, listing, queue, tag, out, error)
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<Report> {
        Report::of(ended)
    }
}

/// A sample, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample<'a> {
    /// As the archive has it.
    pub key: Vec<u8>,
    /// Names and bytes of its files, in the archive's order.
    pub fields: Vec<(String, &'a [u8])>,
}

impl<'a> Sample<'a> {
    fn field_of(field: &sys::dataflux_sample_field, bytes: &'a [u8]) -> (String, &'a [u8]) {
        let name = empty_if_null(field.name.cast::<u8>(), field.name_size);
        let range = field.offset as usize..(field.offset + field.size) as usize;
        (String::from_utf8_lossy(name).into_owned(), &bytes[range])
    }

    /// The bytes of a field, such as "jpg".
    pub fn field(&self, name: &str) -> Option<&'a [u8]> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, bytes)| *bytes)
    }
}
