//! One object, read like a file.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::time::Duration;

use crate::bucket::Bucket;
use crate::call::{Ended, Start, Verb, verb};
use crate::client::Client;
use crate::error::Result;
use crate::ffi::{self, Texts, handle, nanoseconds};
use crate::sys;

handle!(ReaderHandle, dataflux_reader, dataflux_reader_free);

/// How a reader reads.
#[derive(Default)]
pub(crate) struct ReaderOptions {
    pub(crate) generation: i64,
    pub(crate) block: u64,
    pub(crate) cache: u64,
    pub(crate) timeout: Option<Duration>,
}

impl ReaderOptions {
    /// Of a bucket's object, or of a set's member, which has no name here.
    pub(crate) fn with<R>(
        &self,
        object: Option<(&str, &str)>,
        function: impl FnOnce(&sys::dataflux_reader_options) -> Result<R>,
    ) -> Result<R> {
        let mut texts = Texts::default();
        let options = sys::dataflux_reader_options {
            bucket: texts.add_if(object.map(|(bucket, _)| bucket))?,
            object: texts.add_if(object.map(|(_, name)| name))?,
            generation: self.generation,
            block: self.block,
            cache: self.cache,
            timeout_ns: nanoseconds(self.timeout)?,
            ..Default::default()
        };
        function(&options)
    }
}

/// reader_options!(): setters of what has `options: ReaderOptions`.
macro_rules! reader_options {
    () => {
        /// What a short read brings; default: 1 MiB.
        pub fn block(mut self, bytes: u64) -> Self {
            self.options.block = bytes;
            self
        }
        /// The most memory of blocks; default: 64 MiB.
        pub fn cache(mut self, bytes: u64) -> Self {
            self.options.cache = bytes;
            self
        }
        /// The time limit of opening.
        pub fn timeout(mut self, limit: std::time::Duration) -> Self {
            self.options.timeout = Some(limit);
            self
        }
    };
}
pub(crate) use reader_options;

impl Bucket {
    /// Opens an object for reads from any offset, by any number of threads. It pins the generation:
    /// bytes never come from two objects.
    pub fn open(&self, object: impl Into<String>) -> OpenReader {
        let options = ReaderOptions::default();
        OpenReader { bucket: self.clone(), name: object.into(), options }
    }
}

/// [`Bucket::open`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct OpenReader {
    bucket: Bucket,
    name: String,
    options: ReaderOptions,
}

impl OpenReader {
    reader_options!();

    /// This generation instead of the live one.
    pub fn generation(mut self, generation: i64) -> Self {
        self.options.generation = generation;
        self
    }
}

verb!(OpenReader => Reader);
impl Verb for OpenReader {
    type Output = Reader;
    fn client(&self) -> &Client {
        &self.bucket.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        self.options.with(Some((&self.bucket.name, &self.name)), |options| {
            // SAFETY: the options live during the call.
            start.with(|queue, tag, out, error| unsafe {
                let client = self.bucket.client.raw();
                sys::dataflux_reader_open(client, options, queue, tag, out, error)
            })
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<Reader> {
        Reader::taken(&ended, &self.bucket.client)
    }
}

/// An object, opened for reads. Those at an offset are for any number of threads; `Read` and `Seek`
/// have a position, of which each clone has its own.
///
/// When all of the object was read, in any order, its checksum is compared.
#[derive(Clone)]
pub struct Reader {
    handle: Arc<ReaderHandle>,
    client: Client,
    position: u64,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("size", &self.size()).finish_non_exhaustive()
    }
}

impl Reader {
    pub(crate) fn taken(ended: &Ended, client: &Client) -> Result<Reader> {
        // SAFETY: the operation is ours and has ended well.
        let handle = ReaderHandle::make(|out, error| unsafe {
            sys::dataflux_operation_take_reader(ended.op.raw(), out, error)
        })?;
        Ok(Reader { handle: Arc::new(handle), client: client.clone(), position: 0 })
    }

    /// The object's bytes.
    pub fn size(&self) -> u64 {
        // SAFETY: the handle is ours.
        unsafe { sys::dataflux_reader_size(self.handle.raw()) }
    }

    /// The generation that is read.
    pub fn generation(&self) -> i64 {
        // SAFETY: the handle is ours.
        unsafe { sys::dataflux_reader_generation(self.handle.raw()) }
    }

    /// Whether the bytes that came are compared with a checksum.
    pub fn is_verified(&self) -> bool {
        // SAFETY: the handle is ours.
        unsafe { sys::dataflux_reader_verified(self.handle.raw()) != 0 }
    }

    /// Fills memory from an offset on. [`Code::OutOfRange`](crate::Code::OutOfRange) if the object
    /// ends earlier.
    pub fn read_at(&self, offset: u64, memory: &mut [u8]) -> Result<()> {
        self.read_ranges([(offset, memory)])
    }

    /// Fills many pieces of memory, each from an offset on, at once and in any order. One request
    /// reads short ranges that lie close together. The first failure ends it.
    pub fn read_ranges<'a>(
        &self,
        ranges: impl IntoIterator<Item = (u64, &'a mut [u8])>,
    ) -> Result<()> {
        crate::call::wait(ReadRanges { reader: self.clone(), ranges: ranges.into_iter().collect() })
    }

    /// Reads ranges into memory of their own: pairs of offset and size.
    pub fn get_ranges(&self, ranges: impl IntoIterator<Item = (u64, usize)>) -> GetRanges {
        GetRanges { reader: self.clone(), ranges: ranges.into_iter().collect(), memory: Vec::new() }
    }
}

fn begin_ranges<'a>(
    reader: &Reader,
    start: &mut Start,
    ranges: impl Iterator<Item = (u64, &'a mut [u8])>,
) -> Result<()> {
    let (mut offsets, mut sizes, mut into) = (Vec::new(), Vec::new(), Vec::new());
    for (offset, memory) in ranges {
        offsets.push(offset);
        sizes.push(memory.len() as u64);
        into.push(memory.as_mut_ptr().cast());
    }
    let columns = sys::dataflux_range_columns {
        offsets: offsets.as_ptr(),
        sizes: sizes.as_ptr(),
        into: into.as_ptr(),
        ..Default::default()
    };
    // SAFETY: columns live during the call, and the memory until the operation has ended.
    start.with(|queue, tag, out, error| unsafe {
        let handle = reader.handle.raw();
        sys::dataflux_reader_read_ranges(handle, &columns, into.len(), queue, tag, out, error)
    })
}

struct ReadRanges<'a> {
    reader: Reader,
    ranges: Vec<(u64, &'a mut [u8])>,
}

impl Verb for ReadRanges<'_> {
    type Output = ();
    fn client(&self) -> &Client {
        &self.reader.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        let ranges = self.ranges.iter_mut().map(|(offset, memory)| (*offset, &mut **memory));
        begin_ranges(&self.reader, start, ranges)
    }
    fn finish(&mut self, _: Ended) -> Result<()> {
        Ok(())
    }
}

/// [`Reader::get_ranges`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct GetRanges {
    reader: Reader,
    ranges: Vec<(u64, usize)>,
    memory: Vec<Vec<u8>>,
}

verb!(GetRanges => Vec<Vec<u8>>);
impl Verb for GetRanges {
    type Output = Vec<Vec<u8>>;
    fn client(&self) -> &Client {
        &self.reader.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        self.memory =
            self.ranges.iter().map(|&(_, size)| ffi::filled(size, 0)).collect::<Result<_>>()?;
        let offsets = self.ranges.iter().map(|&(offset, _)| offset);
        let ranges = offsets.zip(self.memory.iter_mut().map(Vec::as_mut_slice));
        begin_ranges(&self.reader, start, ranges)
    }
    fn finish(&mut self, _: Ended) -> Result<Vec<Vec<u8>>> {
        Ok(std::mem::take(&mut self.memory))
    }
}

impl Read for Reader {
    fn read(&mut self, memory: &mut [u8]) -> io::Result<usize> {
        let left = self.size().saturating_sub(self.position);
        let some = usize::try_from(left).unwrap_or(usize::MAX).min(memory.len());
        if some > 0 {
            self.read_at(self.position, &mut memory[..some])?;
            self.position += some as u64;
        }
        Ok(some)
    }
}

impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(by) => self.size().checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = place.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "a place before the begin of the object")
        })?;
        Ok(self.position)
    }
}
