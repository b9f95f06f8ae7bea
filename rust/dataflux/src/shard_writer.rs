//! Samples that are written into tar shards.

use crate::bucket::Bucket;
use crate::call::{Call, Ended, Report, Start, Verb, verb};
use crate::client::Client;
use crate::error::Result;
use crate::ffi::{self, Texts, handle};
use crate::sys;

handle!(ShardWriterHandle, dataflux_shard_writer, dataflux_shard_writer_free);

impl Bucket {
    /// Writes samples into tar shards, whose names are by number, such as "train/train-%06d.tar". A
    /// shard appears whole or not at all, with its index entry beside it. One of
    /// [`count`](OpenShardWriter::count) and [`bytes`](OpenShardWriter::bytes) is needed.
    ///
    /// ```
    /// # fn main() -> dataflux::Result<()> {
    /// # let client = dataflux::Client::new()?;
    /// let bucket = client.bucket("training");
    /// let mut writer = bucket.shard_writer("train-%06d.tar").bytes(256 << 20).wait()?;
    /// writer.write("sample-1", &[("jpg", &b"pixels"[..]), ("cls", b"7")])?;
    /// writer.finish()?.wait()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn shard_writer(&self, pattern: impl Into<String>) -> OpenShardWriter {
        let raw = sys::dataflux_shard_writer_options::default();
        OpenShardWriter { bucket: self.clone(), pattern: pattern.into(), raw }
    }
}

/// [`Bucket::shard_writer`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct OpenShardWriter {
    bucket: Bucket,
    pattern: String,
    raw: sys::dataflux_shard_writer_options,
}

// SAFETY: the options have no pointer yet.
unsafe impl Send for OpenShardWriter {}

impl OpenShardWriter {
    /// Most samples of a shard.
    pub fn count(mut self, samples: u64) -> Self {
        self.raw.count = samples;
        self
    }

    /// Most bytes of a shard's archive.
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.raw.bytes = bytes;
        self
    }

    /// The first number of rank 0.
    pub fn first(mut self, number: u64) -> Self {
        self.raw.first = number;
        self
    }

    /// This rank of so many, which writes each so-many-th number.
    pub fn ranks(mut self, rank: u32, of: u32) -> Self {
        (self.raw.rank, self.raw.ranks) = (rank, of);
        self
    }

    /// Goes on behind the shards of this rank that are there: give it the samples from behind
    /// those, which [`ShardWriter::resumed`] counts.
    pub fn resume(mut self) -> Self {
        self.raw.resume = 1;
        self
    }
}

verb!(OpenShardWriter => ShardWriter);
impl Verb for OpenShardWriter {
    type Output = ShardWriter;
    fn client(&self) -> &Client {
        &self.bucket.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        let mut texts = Texts::default();
        let mut options = self.raw;
        options.bucket = texts.add(&self.bucket.name)?;
        options.pattern = texts.add(&self.pattern)?;
        // SAFETY: the options live during the call.
        start.with(|queue, tag, out, error| unsafe {
            let client = self.bucket.client.raw();
            sys::dataflux_shard_writer_open(client, &options, queue, tag, out, error)
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<ShardWriter> {
        // SAFETY: the operation is ours and has ended well.
        let handle = ShardWriterHandle::make(|out, error| unsafe {
            sys::dataflux_operation_take_shard_writer(ended.op.raw(), out, error)
        })?;
        let client = self.bucket.client.clone();
        Ok(ShardWriter { handle, client, resumed: ended.record.size })
    }
}

/// Writes samples into shards. Dropping it without [`ShardWriter::finish`] discards the open shard,
/// which may take some seconds; those before it stay.
pub struct ShardWriter {
    handle: ShardWriterHandle,
    client: Client,
    resumed: u64,
}

impl ShardWriter {
    /// The samples that were there when it was opened to go on.
    pub fn resumed(&self) -> u64 {
        self.resumed
    }

    /// Appends a sample: its key, and names and bytes of its fields, in any order. Waits for room.
    pub fn write<B: AsRef<[u8]>>(&mut self, key: &str, fields: &[(&str, B)]) -> Result<()> {
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, bytes)| sys::dataflux_field_bytes {
                name: name.as_ptr().cast(),
                name_size: name.len() as u64,
                data: bytes.as_ref().as_ptr().cast(),
                size: bytes.as_ref().len() as u64,
            })
            .collect();
        self.until_done(|writer, done, error| {
            // SAFETY: key and fields live during the call, and `&mut` keeps other threads away.
            unsafe {
                sys::dataflux_shard_writer_write(
                    writer,
                    key.as_ptr().cast(),
                    key.len(),
                    fields.as_ptr(),
                    fields.len(),
                    1,
                    done,
                    error,
                )
            }
        })
    }

    /// A call that a signal's handler may interrupt, and which then goes on.
    fn until_done(
        &mut self,
        mut function: impl FnMut(
            *mut sys::dataflux_shard_writer,
            &mut i32,
            *mut *mut sys::dataflux_error,
        ) -> sys::dataflux_status,
    ) -> Result<()> {
        let mut done = 0;
        while done == 0 {
            ffi::call(|error| match function(self.handle.raw(), &mut done, error) {
                sys::DATAFLUX_INTERRUPTED => sys::DATAFLUX_OK,
                status => status,
            })?;
        }
        Ok(())
    }

    /// Writes the end of the last shard; the call that it gives makes that appear. The report names
    /// the shards that were written.
    pub fn finish(mut self) -> Result<Call<Report>> {
        self.until_done(|writer, done, error| {
            // SAFETY: the writer is ours, and `&mut` keeps other threads away.
            unsafe { sys::dataflux_shard_writer_end(writer, 1, done, error) }
        })?;
        let client = self.client.clone();
        let begin = move |start: &mut Start| {
            // SAFETY: the writer is the call's, which drops it behind the operation.
            start.with(|queue, tag, out, error| unsafe {
                sys::dataflux_shard_writer_finish(self.handle.raw(), queue, tag, out, error)
            })
        };
        Ok(Call::new(&client, begin, Report::of))
    }

    /// Discards the open shard.
    pub fn abort(self) -> Call<()> {
        let client = self.client.clone();
        let begin = move |start: &mut Start| {
            // SAFETY: as of finish().
            start.with(|queue, tag, out, error| unsafe {
                sys::dataflux_shard_writer_abort(self.handle.raw(), queue, tag, out, error)
            })
        };
        Call::new(&client, begin, |_| Ok(()))
    }
}
