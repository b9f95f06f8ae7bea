//! Reads of single objects.

use std::ops::RangeBounds;

use crate::call::{Ended, Start, Verb, verb};
use crate::client::Client;
use crate::data::Data;
use crate::error::Result;
use crate::object::Object;
use crate::sys;
use crate::target::{Target, offset_and_length, setters};

/// [`Bucket::get`](crate::Bucket::get)
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct Get {
    pub(crate) at: Target,
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

impl Get {
    setters!(at: generation timeout);

    /// These bytes alone, cut at the object's end. [`Code::OutOfRange`](crate::Code::OutOfRange) if
    /// they begin at or behind it.
    pub fn range(mut self, range: impl RangeBounds<u64>) -> Self {
        (self.offset, self.length) = offset_and_length(range);
        self
    }

    /// A file of the archive that the object is (tar, tgz or zip), which AIStore takes out.
    pub fn member(mut self, name: impl Into<String>) -> Self {
        self.at.member = Some(name.into());
        self
    }
}

verb!(Get => Data);
impl Verb for Get {
    type Output = Data;
    fn client(&self) -> &Client {
        &self.at.bucket.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        let at = &self.at;
        at.with(|options| {
            // SAFETY: the options live during the call.
            start.with(|queue, tag, out, error| unsafe {
                let client = at.client();
                sys::dataflux_get(client, options, self.offset, self.length, queue, tag, out, error)
            })
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<Data> {
        Ok(ended.into_data())
    }
}

/// [`Bucket::read_into`](crate::Bucket::read_into)
#[must_use = "a call is made by wait()"]
pub struct ReadInto<'a> {
    pub(crate) at: Target,
    pub(crate) offset: u64,
    pub(crate) memory: &'a mut [u8],
}

impl ReadInto<'_> {
    setters!(at: generation timeout);

    /// From this byte on.
    pub fn offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// The object has exactly so many bytes, as a listing says: on S3 this saves a request.
    pub fn whole(mut self) -> Self {
        self.at.whole = true;
        self
    }

    /// Reads on this thread, and waits for the end. Gives the generation that was read.
    pub fn wait(self) -> Result<i64> {
        crate::call::wait(self)
    }
}

impl Verb for ReadInto<'_> {
    type Output = i64;
    fn client(&self) -> &Client {
        &self.at.bucket.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        let (memory, size) = (self.memory.as_mut_ptr(), self.memory.len());
        self.at.with(|options| {
            // SAFETY: the memory is ours until the operation has ended.
            start.with(|queue, tag, out, error| unsafe {
                let client = self.at.client();
                let memory = memory.cast();
                sys::dataflux_get_one(
                    client,
                    options,
                    self.offset,
                    memory,
                    size,
                    queue,
                    tag,
                    out,
                    error,
                )
            })
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<i64> {
        Ok(ended.record.generation)
    }
}

/// [`Bucket::stat`](crate::Bucket::stat)
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct Stat {
    pub(crate) at: Target,
}

impl Stat {
    setters!(at: generation timeout if_generation_match if_generation_not_match
        if_metageneration_match if_metageneration_not_match);

    /// Bucket, name, size, generation and checksum alone.
    pub fn basic(mut self) -> Self {
        self.at.fields = sys::DATAFLUX_FIELD_BASIC;
        self
    }
}

verb!(Stat => Object);
impl Verb for Stat {
    type Output = Object;
    fn client(&self) -> &Client {
        &self.at.bucket.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        self.at.with(|options| {
            // SAFETY: the options live during the call.
            start.with(|queue, tag, out, error| unsafe {
                sys::dataflux_stat(self.at.client(), options, queue, tag, out, error)
            })
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<Object> {
        Object::of(&ended)
    }
}
