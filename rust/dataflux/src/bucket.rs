//! A bucket, and calls for single objects.

use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::ptr;
use std::time::Duration;

use crate::call::{Ended, Start, Verb, verb};
use crate::client::Client;
use crate::data::Data;
use crate::error::Result;
use crate::ffi::{Texts, nanoseconds};
use crate::json::Json;
use crate::object::{Attributes, Conditions, Object};
use crate::sys;

/// A bucket of a client: where all calls begin. A clone is the same one.
#[derive(Clone)]
pub struct Bucket {
    pub(crate) client: Client,
    pub(crate) name: String,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bucket").field(&self.name).finish()
    }
}

/// An object that a call is about, and the limits of the call.
pub(crate) struct Target {
    pub(crate) bucket: Bucket,
    pub(crate) name: String,
    pub(crate) generation: i64,
    pub(crate) timeout: Option<Duration>,
    pub(crate) conditions: Conditions,
    fields: u32,
    whole: bool,
    member: Option<String>,
}

impl Target {
    pub(crate) fn new(bucket: &Bucket, name: impl Into<String>) -> Target {
        Target {
            bucket: bucket.clone(),
            name: name.into(),
            generation: 0,
            timeout: None,
            conditions: Conditions::default(),
            fields: 0,
            whole: false,
            member: None,
        }
    }

    /// Calls a function with it as the library wants it.
    pub(crate) fn with<R>(
        &self,
        function: impl FnOnce(&sys::dataflux_object_options) -> Result<R>,
    ) -> Result<R> {
        let mut texts = Texts::default();
        let conditions = self.conditions.raw();
        let has_conditions = conditions.has != 0;
        let raw = sys::dataflux_object_options {
            bucket: texts.add(&self.bucket.name)?,
            object: texts.add(&self.name)?,
            generation: self.generation,
            timeout_ns: nanoseconds(self.timeout)?,
            conditions: if has_conditions { &conditions } else { ptr::null() },
            fields: self.fields,
            whole: self.whole.into(),
            member: texts.add_if(self.member.as_deref())?,
            ..Default::default()
        };
        function(&raw)
    }

    fn client(&self) -> *mut sys::dataflux_client {
        self.bucket.client.raw()
    }
}

/// setters!(at: NAME...): what calls have in common, of the Target `at`.
macro_rules! setters {
    ($at:ident: $($name:ident)*) => { $($crate::bucket::setters!(@$name $at);)* };
    (@generation $at:ident) => {
        /// This generation instead of the live one.
        pub fn generation(mut self, generation: i64) -> Self {
            self.$at.generation = generation;
            self
        }
    };
    (@timeout $at:ident) => {
        /// The time limit of the whole call, with all its retries.
        pub fn timeout(mut self, limit: std::time::Duration) -> Self {
            self.$at.timeout = Some(limit);
            self
        }
    };
    (@if_generation_match $at:ident) => {
        /// The generation that has to be live; 0: there has to be none.
        pub fn if_generation_match(mut self, generation: i64) -> Self {
            self.$at.conditions.generation_match = Some(generation);
            self
        }
    };
    (@if_generation_not_match $at:ident) => {
        /// The generation that must not be live.
        pub fn if_generation_not_match(mut self, generation: i64) -> Self {
            self.$at.conditions.generation_not_match = Some(generation);
            self
        }
    };
    (@if_metageneration_match $at:ident) => {
        /// The generation that its metadata has to have.
        pub fn if_metageneration_match(mut self, metageneration: i64) -> Self {
            self.$at.conditions.metageneration_match = Some(metageneration);
            self
        }
    };
    (@if_metageneration_not_match $at:ident) => {
        /// The generation that its metadata must not have.
        pub fn if_metageneration_not_match(mut self, metageneration: i64) -> Self {
            self.$at.conditions.metageneration_not_match = Some(metageneration);
            self
        }
    };
    (@attributes $at:ident) => {
        /// What is written with the object.
        pub fn attributes(mut self, attributes: $crate::Attributes) -> Self {
            self.attributes = attributes;
            self
        }
    };
}
pub(crate) use setters;

impl Bucket {
    pub(crate) fn new(client: Client, name: String) -> Bucket {
        Bucket { client, name }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Reads an object, or a range of it, into memory of the library. At most the client's memory cap:
    /// [`Bucket::read_into`] has no such limit.
    pub fn get(&self, object: impl Into<String>) -> Get {
        Get { at: Target::new(self, object), offset: 0, length: u64::MAX }
    }

    /// Fills memory with the bytes of an object, by parallel ranges if that is long. Fails with
    /// [`Code::OutOfRange`](crate::Code::OutOfRange) if the object ends earlier; its content is undefined then.
    pub fn read_into<'a>(&self, object: impl Into<String>, memory: &'a mut [u8]) -> ReadInto<'a> {
        ReadInto { at: Target::new(self, object), offset: 0, memory }
    }

    /// An object's metadata.
    pub fn stat(&self, object: impl Into<String>) -> Stat {
        Stat { at: Target::new(self, object) }
    }

    /// Inserts an object by one request, with its checksum. Without a condition the last writer wins.
    pub fn put<'a>(&self, object: impl Into<String>, body: impl Into<Body<'a>>) -> Put<'a> {
        let at = Target::new(self, object);
        Put { at, body: body.into(), attributes: Attributes::new() }
    }

    /// Removes an object.
    pub fn remove(&self, object: impl Into<String>) -> Remove {
        Remove { at: Target::new(self, object) }
    }

    /// Copies an object within the service, however large.
    pub fn copy(&self, object: impl Into<String>, to: &Bucket, name: impl Into<String>) -> Copy {
        let (from, to) = (Target::new(self, object), Target::new(to, name));
        Copy { from, to, attributes: Attributes::new() }
    }

    /// Renames an object, in one step.
    pub fn rename(&self, object: impl Into<String>, name: impl Into<String>) -> Rename {
        Rename { from: Target::new(self, object), to: Target::new(self, name) }
    }

    /// Joins 1 to 32 objects, in this order, which stay.
    pub fn compose<S: Into<String>>(
        &self,
        name: impl Into<String>,
        sources: impl IntoIterator<Item = S>,
    ) -> Compose {
        let sources = sources.into_iter().map(Into::into).collect();
        Compose { to: Target::new(self, name), sources, attributes: Attributes::new() }
    }

    /// Changes an object's attributes.
    pub fn patch(&self, object: impl Into<String>, attributes: Attributes) -> Patch {
        Patch { at: Target::new(self, object), attributes }
    }

    /// The bucket's metadata, with the service's names and formats.
    pub fn info(&self) -> BucketInfo {
        BucketInfo { bucket: self.clone(), timeout: None }
    }
}

/// offset and length, u64::MAX = to the end; saturating, since the library says what is wrong.
pub(crate) fn offset_and_length(range: impl RangeBounds<u64>) -> (u64, u64) {
    let offset = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&start) => start.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let length = match range.end_bound() {
        Bound::Included(&end) => end.saturating_add(1).saturating_sub(offset),
        Bound::Excluded(&end) => end.saturating_sub(offset),
        Bound::Unbounded => u64::MAX,
    };
    (offset, length)
}

/// [`Bucket::get`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct Get {
    at: Target,
    offset: u64,
    length: u64,
}

impl Get {
    setters!(at: generation timeout);

    /// These bytes alone, cut at the object's end. [`Code::OutOfRange`](crate::Code::OutOfRange) if they begin at or behind it.
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

/// [`Bucket::read_into`]
#[must_use = "a call is made by wait()"]
pub struct ReadInto<'a> {
    at: Target,
    offset: u64,
    memory: &'a mut [u8],
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

/// [`Bucket::stat`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct Stat {
    at: Target,
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

/// Bytes to be written: borrowed ones, or anything that owns some.
pub enum Body<'a> {
    #[doc(hidden)]
    Borrowed(&'a [u8]),
    #[doc(hidden)]
    Owned(Box<dyn AsRef<[u8]> + Send + Sync>),
}

impl Body<'static> {
    /// Whatever owns bytes.
    pub fn owned(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Body<'static> {
        Body::Owned(Box::new(bytes))
    }
}

impl Body<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Body::Borrowed(bytes) => bytes,
            Body::Owned(bytes) => (**bytes).as_ref(),
        }
    }
}

impl<'a> From<&'a [u8]> for Body<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Body::Borrowed(bytes)
    }
}
impl<'a, const N: usize> From<&'a [u8; N]> for Body<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Body::Borrowed(bytes)
    }
}
impl<'a> From<&'a Vec<u8>> for Body<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Body::Borrowed(bytes)
    }
}
impl<'a> From<&'a str> for Body<'a> {
    fn from(text: &'a str) -> Self {
        Body::Borrowed(text.as_bytes())
    }
}
impl From<Vec<u8>> for Body<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Body::Owned(Box::new(bytes))
    }
}
impl From<String> for Body<'_> {
    fn from(text: String) -> Self {
        Body::Owned(Box::new(text))
    }
}
impl From<Data> for Body<'_> {
    fn from(data: Data) -> Self {
        Body::Owned(Box::new(data))
    }
}
#[cfg(feature = "bytes")]
impl From<bytes::Bytes> for Body<'_> {
    fn from(bytes: bytes::Bytes) -> Self {
        Body::Owned(Box::new(bytes))
    }
}

/// [`Bucket::put`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct Put<'a> {
    at: Target,
    body: Body<'a>,
    attributes: Attributes,
}

impl Put<'_> {
    setters!(at: timeout if_generation_match if_generation_not_match
        if_metageneration_match if_metageneration_not_match attributes);
}

verb!(Put<'_> => Object);
impl Verb for Put<'_> {
    type Output = Object;
    fn client(&self) -> &Client {
        &self.at.bucket.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        let bytes = self.body.bytes();
        self.at.with(|options| {
            self.attributes.with(|attributes| {
                // SAFETY: the bytes are ours until the operation has ended.
                start.with(|queue, tag, out, error| unsafe {
                    let client = self.at.client();
                    let data = bytes.as_ptr().cast();
                    sys::dataflux_put(
                        client,
                        options,
                        data,
                        bytes.len(),
                        attributes,
                        queue,
                        tag,
                        out,
                        error,
                    )
                })
            })
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<Object> {
        Object::of(&ended)
    }
}

/// [`Bucket::remove`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct Remove {
    at: Target,
}

impl Remove {
    setters!(at: generation timeout if_generation_match if_generation_not_match
        if_metageneration_match if_metageneration_not_match);
}

verb!(Remove => ());
impl Verb for Remove {
    type Output = ();
    fn client(&self) -> &Client {
        &self.at.bucket.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        self.at.with(|options| {
            // SAFETY: the options live during the call.
            start.with(|queue, tag, out, error| unsafe {
                sys::dataflux_remove(self.at.client(), options, queue, tag, out, error)
            })
        })
    }
    fn finish(&mut self, _: Ended) -> Result<()> {
        Ok(())
    }
}

/// [`Bucket::copy`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct Copy {
    from: Target,
    to: Target,
    attributes: Attributes,
}

impl Copy {
    setters!(to: timeout if_generation_match if_generation_not_match
        if_metageneration_match if_metageneration_not_match attributes);

    /// This generation of the source instead of the live one.
    pub fn source_generation(mut self, generation: i64) -> Self {
        self.from.generation = generation;
        self
    }

    /// The generation of the source that has to be live.
    pub fn if_source_generation_match(mut self, generation: i64) -> Self {
        self.from.conditions.generation_match = Some(generation);
        self
    }
}

verb!(Copy => Object);
impl Verb for Copy {
    type Output = Object;
    fn client(&self) -> &Client {
        &self.to.bucket.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        self.from.with(|from| {
            self.to.with(|to| {
                self.attributes.with(|attributes| {
                    // SAFETY: the options live during the call.
                    start.with(|queue, tag, out, error| unsafe {
                        let client = self.to.client();
                        sys::dataflux_copy(client, from, to, attributes, queue, tag, out, error)
                    })
                })
            })
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<Object> {
        Object::of(&ended)
    }
}

/// [`Bucket::rename`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct Rename {
    from: Target,
    to: Target,
}

impl Rename {
    setters!(to: timeout if_generation_match if_generation_not_match);

    /// The generation of the source that has to be live.
    pub fn if_source_generation_match(mut self, generation: i64) -> Self {
        self.from.conditions.generation_match = Some(generation);
        self
    }
}

verb!(Rename => Object);
impl Verb for Rename {
    type Output = Object;
    fn client(&self) -> &Client {
        &self.to.bucket.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        self.from.with(|from| {
            self.to.with(|to| {
                // SAFETY: the options live during the call.
                start.with(|queue, tag, out, error| unsafe {
                    sys::dataflux_move(self.to.client(), from, to, queue, tag, out, error)
                })
            })
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<Object> {
        Object::of(&ended)
    }
}

/// [`Bucket::compose`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct Compose {
    to: Target,
    sources: Vec<String>,
    attributes: Attributes,
}

impl Compose {
    setters!(to: timeout if_generation_match if_generation_not_match
        if_metageneration_match if_metageneration_not_match attributes);
}

verb!(Compose => Object);
impl Verb for Compose {
    type Output = Object;
    fn client(&self) -> &Client {
        &self.to.bucket.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        let mut texts = Texts::default();
        let names = texts.add_all(self.sources.iter().map(String::as_str))?;
        let (list, count) = (names.as_ptr(), names.len());
        self.to.with(|to| {
            self.attributes.with(|attributes| {
                // SAFETY: options and names live during the call.
                start.with(|queue, tag, out, error| unsafe {
                    let (client, live) = (self.to.client(), ptr::null());
                    sys::dataflux_compose(
                        client, to, list, live, count, attributes, queue, tag, out, error,
                    )
                })
            })
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<Object> {
        Object::of(&ended)
    }
}

/// [`Bucket::patch`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct Patch {
    at: Target,
    attributes: Attributes,
}

impl Patch {
    setters!(at: generation timeout if_generation_match if_generation_not_match
        if_metageneration_match if_metageneration_not_match);
}

verb!(Patch => Object);
impl Verb for Patch {
    type Output = Object;
    fn client(&self) -> &Client {
        &self.at.bucket.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        self.at.with(|options| {
            self.attributes.with(|attributes| {
                // SAFETY: the options live during the call.
                start.with(|queue, tag, out, error| unsafe {
                    let client = self.at.client();
                    sys::dataflux_patch(client, options, attributes, queue, tag, out, error)
                })
            })
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<Object> {
        Object::of(&ended)
    }
}

/// [`Bucket::info`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct BucketInfo {
    bucket: Bucket,
    timeout: Option<Duration>,
}

impl BucketInfo {
    /// The time limit of the whole call, with all its retries.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }
}

verb!(BucketInfo => Json);
impl Verb for BucketInfo {
    type Output = Json;
    fn client(&self) -> &Client {
        &self.bucket.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        let mut texts = Texts::default();
        let options = sys::dataflux_bucket_options {
            bucket: texts.add(&self.bucket.name)?,
            timeout_ns: nanoseconds(self.timeout)?,
            ..Default::default()
        };
        // SAFETY: the options live during the call.
        start.with(|queue, tag, out, error| unsafe {
            let client = self.bucket.client.raw();
            sys::dataflux_bucket(client, &options, queue, tag, out, error)
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<Json> {
        ended.json()
    }
}
