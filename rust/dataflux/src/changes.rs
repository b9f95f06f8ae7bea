//! Writes of single objects, and what else changes one.

use std::ptr;
use std::time::Duration;

use crate::body::Body;
use crate::bucket::Bucket;
use crate::call::{Ended, Start, Verb, verb};
use crate::client::Client;
use crate::error::Result;
use crate::ffi::{Texts, nanoseconds};
use crate::json::Json;
use crate::object::{Attributes, Object};
use crate::sys;
use crate::target::{Target, setters};

/// [`Bucket::put`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct Put<'a> {
    pub(crate) at: Target,
    pub(crate) body: Body<'a>,
    pub(crate) attributes: Attributes,
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
    pub(crate) at: Target,
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
    pub(crate) from: Target,
    pub(crate) to: Target,
    pub(crate) attributes: Attributes,
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
    pub(crate) from: Target,
    pub(crate) to: Target,
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
    pub(crate) to: Target,
    pub(crate) sources: Vec<String>,
    pub(crate) attributes: Attributes,
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
    pub(crate) at: Target,
    pub(crate) attributes: Attributes,
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
    pub(crate) bucket: Bucket,
    pub(crate) timeout: Option<Duration>,
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
