//! Listings: rows of objects in columns.

use std::fmt;
use std::ops::Range;
use std::ptr;
use std::str;
use std::sync::Arc;
use std::time::Duration;

use crate::bucket::Bucket;
use crate::call::{Ended, LentQueue, Start, Verb, failure_of, next_records, verb};
use crate::client::Client;
use crate::error::{Code, Error, Result};
use crate::ffi::{self, Texts, empty_if_null, handle, nanoseconds};
use crate::json::Json;
use crate::sys;

handle!(ListingHandle, dataflux_listing, dataflux_listing_free);
handle!(ListerHandle, dataflux_lister, dataflux_lister_free);

impl Bucket {
    /// Lists the objects whose names begin with a prefix; "" for all. It is proved complete, or
    /// fails.
    pub fn list(&self, prefix: impl Into<String>) -> List {
        List { bucket: self.clone(), filter: Filter { prefix: prefix.into(), ..Filter::default() } }
    }
}

/// What is listed, and how.
#[derive(Clone, Default)]
pub(crate) struct Filter {
    prefix: String,
    start_offset: Option<String>,
    end_offset: Option<String>,
    delimiter: Option<String>,
    match_glob: Option<String>,
    suffix: Option<String>,
    regex: Option<String>,
    storage_classes: Vec<String>,
    min_size: u64,
    max_size: u64,
    keep_markers: bool,
    versions: bool,
    partial: bool,
    by_name: bool,
    parallelism: u32,
    max_calls: u64,
    memory_cap: u64,
    timeout: Option<Duration>,
}

impl Filter {
    /// Calls a function with it as the library wants it.
    pub(crate) fn with<R>(
        &self,
        bucket: &str,
        function: impl FnOnce(&sys::dataflux_list_options) -> Result<R>,
    ) -> Result<R> {
        let mut texts = Texts::default();
        let classes = texts.add_all(self.storage_classes.iter().map(String::as_str))?;
        let options = sys::dataflux_list_options {
            bucket: texts.add(bucket)?,
            prefix: texts.add(&self.prefix)?,
            start_offset: texts.add_if(self.start_offset.as_deref())?,
            end_offset: texts.add_if(self.end_offset.as_deref())?,
            delimiter: texts.add_if(self.delimiter.as_deref())?,
            match_glob: texts.add_if(self.match_glob.as_deref())?,
            suffix: texts.add_if(self.suffix.as_deref())?,
            regex: texts.add_if(self.regex.as_deref())?,
            min_size: self.min_size,
            max_size: self.max_size,
            keep_markers: self.keep_markers.into(),
            versions: self.versions.into(),
            partial: self.partial.into(),
            by_name: self.by_name.into(),
            parallelism: self.parallelism,
            max_calls: self.max_calls,
            memory_cap: self.memory_cap,
            timeout_ns: nanoseconds(self.timeout)?,
            storage_classes: if classes.is_empty() { ptr::null() } else { classes.as_ptr() },
            storage_class_count: classes.len(),
            ..Default::default()
        };
        function(&options)
    }
}

/// [`Bucket::list`]
#[must_use = "a call is made by wait(), begin(), batches() or .await"]
#[derive(Clone)]
pub struct List {
    pub(crate) bucket: Bucket,
    pub(crate) filter: Filter,
}

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident),*) => {
        $($(#[$doc])*
        pub fn $name(mut self, value: impl Into<String>) -> Self {
            self.filter.$name = Some(value.into());
            self
        })*
    };
}

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident),*) => {
        $($(#[$doc])*
        pub fn $name(mut self) -> Self {
            self.filter.$name = true;
            self
        })*
    };
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $kind:ty),*) => {
        $($(#[$doc])*
        pub fn $name(mut self, value: $kind) -> Self {
            self.filter.$name = value;
            self
        })*
    };
}

impl List {
    texts!(
        /// Names from this one on.
        start_offset,
        /// Names before this one.
        end_offset,
        /// Folds names behind it into prefixes: [`Listing::prefixes`].
        delimiter,
        /// The service's pattern of names.
        match_glob,
        /// What names end with.
        suffix,
        /// What names match.
        regex
    );
    flags!(
        /// Objects of no bytes whose names end in "/" are listed, too.
        keep_markers,
        /// All generations.
        versions,
        /// A range of names that fails is left out, and the summary says so.
        partial,
        /// The batches of [`List::batches`] come in order of names.
        by_name
    );
    numbers!(
        /// Objects of at least so many bytes.
        min_size: u64,
        /// Objects of at most so many bytes; 0: no bound.
        max_size: u64,
        /// Calls in flight; 0: found by measuring.
        parallelism: u32,
        /// Most calls; 0: no bound.
        max_calls: u64,
        /// Most memory; 0: no bound, of batches 256 MiB.
        memory_cap: u64
    );

    /// Objects of this storage class, and of others that are given, alone.
    pub fn storage_class(mut self, class: impl Into<String>) -> Self {
        self.filter.storage_classes.push(class.into());
        self
    }

    /// The time limit of the whole listing.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.filter.timeout = Some(limit);
        self
    }

    /// Lists in batches of rows, which need not fit in memory together. Dropping it cancels it.
    pub fn batches(self) -> Result<ListBatches> {
        let queue = LentQueue::of(&self.bucket.client)?;
        let lister = self.filter.with(&self.bucket.name, |options| {
            // SAFETY: the options live during the call; the queue outlives the lister.
            ListerHandle::make(|out, error| unsafe {
                let client = self.bucket.client.raw();
                sys::dataflux_list_stream(client, options, queue.raw(), 0, out, error)
            })
        })?;
        Ok(ListBatches { lister, queue, ended: false })
    }
}

verb!(List => Listing);
impl Verb for List {
    type Output = Listing;
    fn client(&self) -> &Client {
        &self.bucket.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        self.filter.with(&self.bucket.name, |options| {
            // SAFETY: the options live during the call.
            start.with(|queue, tag, out, error| unsafe {
                let client = self.bucket.client.raw();
                sys::dataflux_list(client, options, queue, tag, out, error)
            })
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<Listing> {
        Listing::taken(&ended)
    }
}

/// Rows of objects in order of names. It is plain memory and immutable; a clone is the same one.
#[derive(Clone)]
pub struct Listing(Arc<ListingHandle>);

impl fmt::Debug for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listing").field("rows", &self.len()).finish()
    }
}

impl Listing {
    pub(crate) fn of(handle: ListingHandle) -> Listing {
        Listing(Arc::new(handle))
    }

    pub(crate) fn taken(ended: &Ended) -> Result<Listing> {
        // SAFETY: the operation is ours and has ended well.
        let handle = ListingHandle::make(|out, error| unsafe {
            sys::dataflux_operation_take_listing(ended.op.raw(), out, error)
        })?;
        Ok(Listing::of(handle))
    }

    pub(crate) fn raw(&self) -> *mut sys::dataflux_listing {
        self.0.raw()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        // SAFETY: the handle is ours.
        unsafe { sys::dataflux_listing_size(self.raw()) as usize }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs of rows whose columns lie in one piece.
    pub fn chunks(&self) -> impl Iterator<Item = Chunk<'_>> {
        // SAFETY: the handle is ours.
        let count = unsafe { sys::dataflux_listing_chunks(self.raw()) };
        (0..count).map(|number| Chunk::of(self, number).expect("the listing has this chunk"))
    }

    /// All rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        self.chunks().flat_map(|chunk| (0..chunk.len()).map(move |place| chunk.row(place)))
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|row| row.name)
    }

    /// One row by its number; None behind the last.
    pub fn row(&self, number: usize) -> Option<Row<'_>> {
        self.chunks().find_map(|chunk| {
            let place = number.checked_sub(chunk.rows().start)?;
            (place < chunk.len()).then(|| chunk.row(place))
        })
    }

    /// What was listed, and how: "objects", "bytes", "calls", "missing" and so on.
    pub fn summary(&self) -> Result<Json> {
        let mut text = ptr::null();
        // SAFETY: the handle is ours, and the text lives as long as it.
        unsafe {
            ffi::call(|error| sys::dataflux_listing_json(self.raw(), &mut text, error))?;
            Json::parse(&ffi::own_text(text))
        }
    }

    /// Names that a delimiter folded.
    pub fn prefixes(&self) -> Result<Vec<String>> {
        let summary = self.summary()?;
        let names = summary.get("prefixes").items().iter();
        Ok(names.filter_map(|name| name.as_str().map(str::to_owned)).collect())
    }
}

/// Rows whose columns lie in one piece.
#[derive(Clone, Copy)]
pub struct Chunk<'a> {
    first: usize,
    names: &'a str,
    offsets: &'a [i32],
    /// Bytes of each object.
    pub sizes: &'a [u64],
    /// The generation of each object.
    pub generations: &'a [i64],
    crc32c: &'a [u32],
    valid: Option<&'a [u8]>,
    first_bit: usize,
}

impl<'a> Chunk<'a> {
    fn of(listing: &'a Listing, number: u64) -> Result<Chunk<'a>> {
        let mut raw = sys::dataflux_chunk::default();
        // SAFETY: the handle is ours, and `raw` has the size that is said.
        ffi::call(|error| unsafe {
            let size = size_of::<sys::dataflux_chunk>();
            sys::dataflux_listing_chunk(listing.raw(), number, &mut raw, size, error)
        })?;
        let offsets = empty_if_null(raw.name_offsets, raw.rows + 1);
        let last = offsets.last().copied().unwrap_or(0).try_into().unwrap_or(0);
        let names = empty_if_null(raw.names.cast::<u8>(), last);
        let bits = (raw.first_bit + raw.rows).div_ceil(8);
        // Services have names of UTF-8 alone, and the library refuses replies that are none.
        let names = str::from_utf8(names).map_err(|why| {
            Error::new(Code::Internal, format!("a listed name is no UTF-8: {why}"))
        })?;
        Ok(Chunk {
            first: raw.first_row as usize,
            names,
            offsets,
            sizes: empty_if_null(raw.sizes, raw.rows),
            generations: empty_if_null(raw.generations, raw.rows),
            crc32c: empty_if_null(raw.crc32c, raw.rows),
            valid: (!raw.crc32c_valid.is_null()).then(|| empty_if_null(raw.crc32c_valid, bits)),
            first_bit: raw.first_bit as usize,
        })
    }

    /// How many rows it has.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// The numbers of its rows in the listing.
    pub fn rows(&self) -> Range<usize> {
        self.first..self.first + self.len()
    }

    /// The name of a row, by its place in this chunk. Panics behind the last.
    pub fn name(&self, place: usize) -> &'a str {
        &self.names[self.offsets[place] as usize..self.offsets[place + 1] as usize]
    }

    /// The checksum of an object, if the service has one.
    pub fn crc32c(&self, place: usize) -> Option<u32> {
        let bit = self.first_bit + place;
        let known = self.valid.is_none_or(|bits| bits[bit / 8] >> (bit % 8) & 1 != 0);
        known.then(|| self.crc32c[place])
    }

    /// A row, by its place in this chunk. Panics behind the last.
    pub fn row(&self, place: usize) -> Row<'a> {
        Row {
            name: self.name(place),
            size: self.sizes[place],
            generation: self.generations[place],
            crc32c: self.crc32c(place),
        }
    }
}

/// An object of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its bytes.
    pub size: u64,
    /// The service's number for its content.
    pub generation: i64,
    /// The checksum of its bytes; None where the service has none.
    pub crc32c: Option<u32>,
}

/// [`List::batches`]: listings of some rows each. The last item may be the failure; without one the
/// whole is proved complete.
pub struct ListBatches {
    lister: ListerHandle, // before its queue
    queue: LentQueue,
    ended: bool,
}

impl ListBatches {
    /// The summary so far, as [`Listing::summary`].
    pub fn summary(&self) -> Result<Json> {
        // SAFETY: the text that comes is ours.
        let text = ffi::given_text(|out, error| unsafe {
            sys::dataflux_lister_json(self.lister.raw(), out, error)
        })?;
        Json::parse(&text)
    }

    /// The next batch, waiting so long (negative: for ever). The outer None: the time has passed.
    fn take(&mut self, timeout_ns: i64) -> Result<Option<Option<Listing>>> {
        let mut record = [sys::dataflux_record::default()];
        if next_records(self.queue.raw(), &mut record, timeout_ns)? == 0 {
            return Ok(None);
        }
        if record[0].flags & sys::DATAFLUX_RECORD_END != 0 {
            self.ended = true;
            return failure_of(self.queue.raw(), &record[0]).map_or(Ok(Some(None)), Err);
        }
        // SAFETY: the record says that a batch waits.
        let batch = ListingHandle::make(|out, error| unsafe {
            sys::dataflux_lister_take(self.lister.raw(), out, error)
        })?;
        Ok(Some(Some(Listing::of(batch))))
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn queue(&self) -> *mut sys::dataflux_queue {
        self.queue.raw()
    }

    /// The outer None: the time has passed.
    pub(crate) fn step(&mut self, timeout_ns: i64) -> Option<Option<Result<Listing>>> {
        if self.ended {
            return Some(None);
        }
        let taken = self.take(timeout_ns);
        self.ended |= taken.is_err();
        match taken {
            Ok(None) => None,
            Ok(Some(batch)) => Some(batch.map(Ok)),
            Err(why) => Some(Some(Err(why))),
        }
    }
}

impl Iterator for ListBatches {
    type Item = Result<Listing>;
    fn next(&mut self) -> Option<Self::Item> {
        self.step(-1).flatten()
    }
}
