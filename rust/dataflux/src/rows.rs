//! Batches in memory of the program's: each row arrives in its place, without a copy.

use std::collections::HashMap;
use std::ptr;

use crate::bucket::Bucket;
use crate::call::{LentQueue, failure_of, next_records};
use crate::error::{Code, Error, Result};
use crate::ffi::{self, Texts, handle};
use crate::listing::Listing;
use crate::shards::ShardIndex;
use crate::sys;

handle!(BatchGetterHandle, dataflux_batch_getter, dataflux_batch_getter_free);

impl Bucket {
    /// Begins a stream of batches in memory that is given with each: of rows of a listing by
    /// number, or, without one, of samples. Push as many batches ahead as there is memory for.
    ///
    /// ```
    /// # fn main() -> dataflux::Result<()> {
    /// # let bucket = dataflux::Client::new()?.bucket("training");
    /// # let listing = bucket.list("").wait()?;
    /// let mut batches = bucket.get_batches(Some(&listing))?;
    /// batches.push_rows(&[2, 0, 1], vec![0; 3 << 20])?;
    /// let filled = batches.wait()?; // its memory can be pushed again
    /// println!("{:?} bytes came", filled.sizes);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_batches(&self, listing: Option<&Listing>) -> Result<RowBatches> {
        let queue = LentQueue::of(&self.client)?;
        let mut texts = Texts::default();
        let options =
            sys::dataflux_get_many_options { bucket: texts.add(&self.name)?, ..Default::default() };
        let listing = listing.map_or(ptr::null_mut(), Listing::raw);
        // SAFETY: options and listing live during the call; the queue outlives the getter.
        let getter = BatchGetterHandle::make(|out, error| unsafe {
            let (client, queue) = (self.client.raw(), queue.raw());
            sys::dataflux_get_batches(client, &options, listing, queue, 0, out, error)
        })?;
        Ok(RowBatches { getter, queue, lent: HashMap::new(), failed: HashMap::new(), ended: None })
    }
}

/// Memory that the library writes into until its batch is complete.
struct Lent {
    memory: Vec<u8>,
    sizes: Box<[u64]>,
}

/// A stream of batches, which come in the order in which they were pushed. Dropping it ends what is
/// under way: milliseconds.
pub struct RowBatches {
    getter: BatchGetterHandle, // before its queue, and before what it was lent
    queue: LentQueue,
    lent: HashMap<u64, Lent>,
    failed: HashMap<u64, Vec<(usize, Error)>>,
    ended: Option<Error>,
}

/// A batch whose rows have all ended.
#[derive(Debug)]
pub struct FilledBatch {
    /// Its number, from 0.
    pub number: u64,
    /// The memory that was given: row i begins at i times its size divided by the rows. Bytes that
    /// a row does not fill are as they were.
    pub memory: Vec<u8>,
    /// Bytes of each row.
    pub sizes: Box<[u64]>,
    /// Rows that failed, by their places, and why. Their bytes are not specified.
    pub failures: Vec<(usize, Error)>,
    /// Whether each of the other rows was compared with a checksum.
    pub verified: bool,
}

impl RowBatches {
    /// Begins a batch of rows of the listing, and gives its number. Each has an equal part of the
    /// memory. Never waits.
    pub fn push_rows(&mut self, rows: &[u64], memory: Vec<u8>) -> Result<u64> {
        self.push(rows, ptr::null_mut(), memory)
    }

    /// The same of samples of an index.
    pub fn push_samples(
        &mut self,
        index: &ShardIndex,
        numbers: &[u64],
        memory: Vec<u8>,
    ) -> Result<u64> {
        self.push(numbers, index.raw(), memory)
    }

    fn push(
        &mut self,
        numbers: &[u64],
        index: *mut sys::dataflux_shard_index,
        mut memory: Vec<u8>,
    ) -> Result<u64> {
        let mut sizes = ffi::filled(numbers.len(), 0_u64)?.into_boxed_slice();
        let batch = sys::dataflux_batch {
            count: numbers.len(),
            numbers: numbers.as_ptr(),
            index,
            data: memory.as_mut_ptr().cast(),
            size: memory.len() as u64,
            sizes: sizes.as_mut_ptr(),
            ..Default::default()
        };
        // SAFETY: memory and sizes are kept until the batch's record, or the getter's end.
        let number = ffi::made(|number: &mut u64, error| unsafe {
            sys::dataflux_batch_getter_push(self.getter.raw(), &batch, number, error)
        })?;
        self.lent.insert(number, Lent { memory, sizes });
        Ok(number)
    }

    /// How many batches are under way.
    pub fn pending(&self) -> usize {
        self.lent.len()
    }

    /// Waits for the next batch. Fails at once where none is under way.
    pub fn wait(&mut self) -> Result<FilledBatch> {
        loop {
            if let Some(why) = &self.ended {
                return Err(why.clone());
            }
            if self.lent.is_empty() {
                let why = "no batch is under way: push one before";
                return Err(Error::new(Code::FailedPrecondition, why));
            }
            let mut record = [sys::dataflux_record::default()];
            next_records(self.queue.raw(), &mut record, -1)?;
            if let Some(filled) = self.take(&record[0]) {
                return Ok(filled);
            }
        }
    }

    fn take(&mut self, record: &sys::dataflux_record) -> Option<FilledBatch> {
        let failure = failure_of(self.queue.raw(), record);
        if record.flags & sys::DATAFLUX_RECORD_END != 0 {
            let over = || Error::new(Code::Cancelled, "the stream of batches has ended");
            self.ended = Some(failure.unwrap_or_else(over));
            return None;
        }
        if record.flags & sys::DATAFLUX_RECORD_ROW != 0 {
            let failures = self.failed.entry(record.index).or_default();
            failures.extend(failure.map(|why| (record.size as usize, why)));
            return None;
        }
        let lent = self.lent.remove(&record.index)?;
        Some(FilledBatch {
            number: record.index,
            memory: lent.memory,
            sizes: lent.sizes,
            failures: self.failed.remove(&record.index).unwrap_or_default(),
            verified: record.flags & sys::DATAFLUX_RECORD_VERIFIED != 0,
        })
    }
}
