//! Very many objects: a stream of reads.

use std::ptr;
use std::time::Duration;

use crate::bucket::Bucket;
use crate::call::{LentQueue, failure_of, next_records};
use crate::client::Client;
use crate::error::{Error, Result};
use crate::ffi::{self, Texts, handle, nanoseconds};
use crate::items::{Batch, OwnedItem, Raw};
use crate::listing::Listing;
use crate::requests::{Columns, Request};
use crate::shards::ShardIndex;
use crate::sys;

handle!(GetterHandle, dataflux_getter, dataflux_getter_free);

/// Records that are taken at a time.
const BATCH: usize = 64;
/// Requests that are pushed at a time; as many more may be waiting.
const PUSHED: usize = 512;

/// Where requests come from.
enum Source<'a> {
    /// All of a listing.
    Listing(Listing),
    Requests(Box<dyn Iterator<Item = Request<'a>> + Send + 'a>, Columns),
    Rows(Listing, Box<dyn Iterator<Item = u64> + Send + 'a>, Vec<u64>),
    Samples(ShardIndex, Box<dyn Iterator<Item = u64> + Send + 'a>, Vec<u64>),
}

impl Bucket {
    /// Reads very many objects, or ranges of them: names, or [`Request`]s. They are taken from the
    /// iterator as reads go on, and items come as an iterator of batches.
    ///
    /// ```
    /// # fn main() -> dataflux::Result<()> {
    /// # let client = dataflux::Client::new()?;
    /// let bucket = client.bucket("training");
    /// for batch in bucket.get_many(["a.jpg", "b.jpg"]).start()? {
    ///     for item in &batch? {
    ///         println!("{}: {} bytes", item.index, item.bytes()?.len());
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_many<'a, R: Into<Request<'a>> + 'a>(
        &self,
        requests: impl IntoIterator<Item = R, IntoIter: Send + 'a>,
    ) -> GetMany<'a> {
        let requests = requests.into_iter().map(Into::into);
        self.many(Source::Requests(Box::new(requests), Columns::default()))
    }

    /// Reads all objects of a listing, in its generations.
    pub fn get_listing(&self, listing: &Listing) -> GetMany<'static> {
        self.many(Source::Listing(listing.clone()))
    }

    /// Reads rows of a listing by their numbers, such as those of a
    /// [`Sampler`](crate::Sampler).
    pub fn get_rows<'a>(
        &self,
        listing: &Listing,
        rows: impl IntoIterator<Item = u64, IntoIter: Send + 'a>,
    ) -> GetMany<'a> {
        self.many(Source::Rows(listing.clone(), Box::new(rows.into_iter()), Vec::new()))
    }

    /// Reads samples of shards by their numbers in an index of shards of this bucket.
    pub fn get_samples<'a>(
        &self,
        index: &ShardIndex,
        numbers: impl IntoIterator<Item = u64, IntoIter: Send + 'a>,
    ) -> GetMany<'a> {
        self.many(Source::Samples(index.clone(), Box::new(numbers.into_iter()), Vec::new()))
    }

    fn many<'a>(&self, source: Source<'a>) -> GetMany<'a> {
        let options = sys::dataflux_get_many_options::default();
        GetMany { bucket: self.clone(), source, options, timeout: None }
    }
}

/// [`Bucket::get_many`] and the like: what is read, and how.
#[must_use = "nothing is read before start()"]
pub struct GetMany<'a> {
    bucket: Bucket,
    source: Source<'a>,
    options: sys::dataflux_get_many_options,
    timeout: Option<Duration>,
}

// SAFETY: the options have no pointer yet.
unsafe impl Send for GetMany<'_> {}

impl<'a> GetMany<'a> {
    /// Items come as they are ready, not in the order of the requests.
    pub fn as_ready(mut self) -> Self {
        self.options.order = sys::DATAFLUX_ORDER_AS_READY;
        self
    }

    /// The first failure ends the stream. By default a failed request is an item with its error.
    pub fn stop_at_failure(mut self) -> Self {
        self.options.on_error = sys::DATAFLUX_ON_ERROR_STOP;
        self
    }

    /// Runs of small whole objects are composed by the service, and read as one.
    pub fn compose(mut self) -> Self {
        self.options.compose = 1;
        self
    }

    /// The time limit of the whole stream.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Begins to read ahead, within the client's memory cap.
    pub fn start(self) -> Result<Batches<'a>> {
        let queue = LentQueue::of(&self.bucket.client)?;
        let mut texts = Texts::default();
        let mut options = self.options;
        options.bucket = texts.add(&self.bucket.name)?;
        options.timeout_ns = nanoseconds(self.timeout)?;
        let (listing, feed) = match &self.source {
            Source::Listing(listing) => (Some(listing.clone()), false),
            Source::Rows(listing, ..) => (Some(listing.clone()), true),
            Source::Requests(..) | Source::Samples(..) => (None, true),
        };
        options.feed = feed.into();
        let rows = listing.as_ref().map_or(ptr::null_mut(), Listing::raw);
        // SAFETY: options and listing live during the call; the queue outlives the getter.
        let getter = GetterHandle::make(|out, error| unsafe {
            let (client, queue) = (self.bucket.client.raw(), queue.raw());
            sys::dataflux_get_many(client, &options, rows, ptr::null(), 0, queue, 0, out, error)
        })?;
        let client = self.bucket.client.clone();
        let feed = feed.then(|| Feed { source: self.source, at: 0, pushed: 0, finished: false });
        let reading = Some(Reading { getter, queue });
        Ok(Batches { reading, feed, taken: 0, ended: false, failure: None, client })
    }
}

/// What pushes requests as items are taken.
struct Feed<'a> {
    source: Source<'a>,
    /// Of those at hand, the first that is not pushed yet.
    at: usize,
    pushed: u64,
    finished: bool,
}

impl Feed<'_> {
    /// Pushes what there is room for, so that half of what may wait always does.
    fn push(&mut self, getter: &GetterHandle, taken: u64) -> Result<()> {
        while !self.finished && self.pushed - taken < PUSHED as u64 {
            if self.at == self.at_hand() {
                self.refill();
            }
            if self.at == self.at_hand() {
                // SAFETY: the getter is ours.
                unsafe { sys::dataflux_getter_finish(getter.raw()) }
                self.finished = true;
                return Ok(());
            }
            let some = self.push_once(getter)?;
            self.at += some;
            self.pushed += some as u64;
            if some == 0 {
                return Ok(()); // the feed is full: on when items have come
            }
        }
        Ok(())
    }

    fn at_hand(&self) -> usize {
        match &self.source {
            Source::Listing(_) => 0,
            Source::Requests(_, columns) => columns.len(),
            Source::Rows(_, _, numbers) | Source::Samples(_, _, numbers) => numbers.len(),
        }
    }

    fn refill(&mut self) {
        self.at = 0;
        match &mut self.source {
            Source::Listing(_) => (),
            Source::Requests(requests, columns) => {
                columns.clear();
                requests.take(PUSHED).for_each(|request| columns.add(&request));
            }
            Source::Rows(_, rows, numbers) | Source::Samples(_, rows, numbers) => {
                numbers.clear();
                numbers.extend(rows.take(PUSHED));
            }
        }
    }

    fn push_once(&self, getter: &GetterHandle) -> Result<usize> {
        let (getter, count) = (getter.raw(), self.at_hand() - self.at);
        // SAFETY: columns and numbers live during the call, and have so many rows.
        ffi::made(|taken: &mut usize, error| unsafe {
            match &self.source {
                Source::Listing(_) => sys::DATAFLUX_OK,
                Source::Requests(_, columns) => {
                    sys::dataflux_getter_push(getter, &columns.from(self.at), count, taken, error)
                }
                Source::Rows(_, _, rows) => {
                    let rows = rows[self.at..].as_ptr();
                    sys::dataflux_getter_push_rows(getter, rows, count, taken, error)
                }
                Source::Samples(index, _, numbers) => {
                    let numbers = numbers[self.at..].as_ptr();
                    sys::dataflux_getter_push_samples(
                        getter,
                        index.raw(),
                        numbers,
                        count,
                        taken,
                        error,
                    )
                }
            }
        })
    }
}

/// What the library has of a stream.
pub(crate) struct Reading {
    getter: GetterHandle, // before its queue
    queue: LentQueue,
}

/// Items in batches of whatever is there. Items that are not taken stay under the client's memory
/// cap, so that a slow consumer stops the network. Dropping it ends what is under way:
/// milliseconds. A failure ends it.
pub struct Batches<'a> {
    reading: Option<Reading>, // None: let go of
    feed: Option<Feed<'a>>,
    taken: u64,
    ended: bool,
    /// What it has ended with, and which is told behind the items before.
    failure: Option<Error>,
    client: Client,
}

impl<'a> Batches<'a> {
    /// Its client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Ends the stream from another thread, with [`Code::Cancelled`](crate::Code::Cancelled).
    pub fn cancel(&self) {
        let getter = self.reading.as_ref().map_or(ptr::null_mut(), |reading| reading.getter.raw());
        // SAFETY: the getter is ours; this is for any thread.
        unsafe { sys::dataflux_getter_cancel(getter) }
    }

    /// All items, one by one.
    pub fn items(self) -> impl Iterator<Item = Result<OwnedItem>> + use<'a> {
        self.flat_map(|batch| match batch {
            Ok(batch) => batch.into_items().map(Ok).collect::<Vec<_>>(),
            Err(why) => vec![Err(why)],
        })
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn reading(&mut self) -> &mut Option<Reading> {
        &mut self.reading
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn queue(&self) -> *mut sys::dataflux_queue {
        self.reading.as_ref().map_or(ptr::null_mut(), |reading| reading.queue.raw())
    }

    /// The next batch; None at the end, and an empty one when the time has passed.
    pub(crate) fn take(&mut self, timeout_ns: i64) -> Result<Option<Batch>> {
        let Some(reading) = &self.reading else { return Ok(None) };
        if let Some(feed) = &mut self.feed {
            feed.push(&reading.getter, self.taken)?;
        }
        let mut records = [sys::dataflux_record::default(); BATCH];
        let count = next_records(reading.queue.raw(), &mut records, timeout_ns)?;
        let mut batch =
            Batch { items: Vec::with_capacity(count), slabs: Vec::with_capacity(count) };
        for record in &records[..count] {
            batch.slabs.push(record.slab);
            let failure = failure_of(reading.queue.raw(), record);
            if record.flags & sys::DATAFLUX_RECORD_END != 0 {
                self.ended = true;
                self.failure = failure;
            } else {
                batch.items.push(Raw { record: *record, failure });
            }
        }
        self.taken += batch.items.len() as u64;
        if !batch.items.is_empty() || !self.ended {
            return Ok(Some(batch));
        }
        self.failure.take().map_or(Ok(None), Err)
    }

    pub(crate) fn step(&mut self, timeout_ns: i64) -> Option<Result<Batch>> {
        if self.ended {
            return self.failure.take().map(Err);
        }
        let taken = self.take(timeout_ns);
        self.ended |= taken.is_err();
        taken.transpose()
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<Batch>;
    fn next(&mut self) -> Option<Self::Item> {
        self.step(-1)
    }
}
