//! What is known of an object, what is written with it, and conditions.

use std::ptr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::call::Ended;
use crate::error::{Code, Error, Result};
use crate::ffi::Texts;
use crate::json::Json;
use crate::sys;

/// An object's metadata.
#[derive(Clone, Debug)]
pub struct Object {
    size: u64,
    generation: i64,
    crc32c: Option<u32>,
    json: Json,
}

impl Object {
    pub(crate) fn of(ended: &Ended) -> Result<Object> {
        Object::new(&ended.record, ended.json()?)
    }

    /// What a report has of an object that it is about.
    pub(crate) fn new(record: &sys::dataflux_record, json: Json) -> Result<Object> {
        let crc32c = json.get("crc32c").as_str().map(|_| record.crc32c);
        Ok(Object { size: record.size, generation: record.generation, crc32c, json })
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.json.get(name).as_str()
    }

    /// The bucket that it is in.
    pub fn bucket(&self) -> &str {
        self.text("bucket").unwrap_or("")
    }
    /// Its name.
    pub fn name(&self) -> &str {
        self.text("name").unwrap_or("")
    }
    /// Its bytes.
    pub fn size(&self) -> u64 {
        self.size
    }
    /// The service's number for its content.
    pub fn generation(&self) -> i64 {
        self.generation
    }
    /// The checksum of its bytes; None where the service has none.
    pub fn crc32c(&self) -> Option<u32> {
        self.crc32c
    }
    /// The service's number for its metadata.
    pub fn metageneration(&self) -> Option<i64> {
        self.json.get("metageneration").as_i64()
    }
    /// As base64.
    pub fn md5_hash(&self) -> Option<&str> {
        self.text("md5Hash")
    }
    /// The service's mark of this content.
    pub fn etag(&self) -> Option<&str> {
        self.text("etag")
    }
    /// Such as "text/plain".
    pub fn content_type(&self) -> Option<&str> {
        self.text("contentType")
    }
    /// Such as "gzip".
    pub fn content_encoding(&self) -> Option<&str> {
        self.text("contentEncoding")
    }
    /// Such as "STANDARD".
    pub fn storage_class(&self) -> Option<&str> {
        self.text("storageClass")
    }
    /// When it was last written, in the service's words (RFC 3339).
    pub fn updated(&self) -> Option<&str> {
        self.text("updated").or_else(|| self.text("timeCreated"))
    }
    /// Metadata of the user.
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        let members = self.json.get("metadata").members().iter();
        members.map(|(name, value)| (name.as_str(), value.as_str().unwrap_or("")))
    }
    /// All that the service has said, with its names and formats.
    pub fn json(&self) -> &Json {
        &self.json
    }
}

/// Attributes that are written with an object. What is not set has the service's default.
///
/// ```
/// let attributes = dataflux::Attributes::new().content_type("image/jpeg").metadata("label",
/// "cat");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes {
    content_type: Option<String>,
    content_encoding: Option<String>,
    content_disposition: Option<String>,
    content_language: Option<String>,
    cache_control: Option<String>,
    storage_class: Option<String>,
    kms_key_name: Option<String>,
    custom_time: Option<SystemTime>,
    metadata: Vec<(String, Option<String>)>,
}

macro_rules! attribute {
    ($($(#[$doc:meta])* $name:ident),*) => {
        $($(#[$doc])*
        pub fn $name(mut self, value: impl Into<String>) -> Self {
            self.$name = Some(value.into());
            self
        })*
    };
}

impl Attributes {
    /// None set.
    pub fn new() -> Attributes {
        Attributes::default()
    }

    attribute!(
        /// Such as "image/jpeg".
        content_type,
        /// Such as "gzip"; the bytes are written and read as they are.
        content_encoding,
        /// How a browser presents it.
        content_disposition,
        /// Such as "en".
        content_language,
        /// Such as "no-store".
        cache_control,
        /// Such as "NEARLINE".
        storage_class,
        /// The key that encrypts it.
        kms_key_name
    );

    /// A time that its user gives it, from 1970 on.
    pub fn custom_time(mut self, time: SystemTime) -> Self {
        self.custom_time = Some(time);
        self
    }
    /// Metadata of the user.
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.push((name.into(), Some(value.into())));
        self
    }
    /// Removes metadata: of [`Bucket::patch`](crate::Bucket::patch) alone.
    pub fn without_metadata(mut self, name: impl Into<String>) -> Self {
        self.metadata.push((name.into(), None));
        self
    }

    /// Calls a function with them as the library wants them; NULL where none is set.
    pub(crate) fn with<R>(
        &self,
        function: impl FnOnce(*const sys::dataflux_attributes) -> Result<R>,
    ) -> Result<R> {
        if *self == Attributes::default() {
            return function(ptr::null());
        }
        let mut texts = Texts::default();
        let names = texts.add_all(self.metadata.iter().map(|(name, _)| name.as_str()))?;
        let values = self.metadata.iter().map(|(_, value)| texts.add_if(value.as_deref()));
        let values = values.collect::<Result<Vec<_>>>()?;
        let raw = sys::dataflux_attributes {
            content_type: texts.add_if(self.content_type.as_deref())?,
            content_encoding: texts.add_if(self.content_encoding.as_deref())?,
            content_disposition: texts.add_if(self.content_disposition.as_deref())?,
            content_language: texts.add_if(self.content_language.as_deref())?,
            cache_control: texts.add_if(self.cache_control.as_deref())?,
            storage_class: texts.add_if(self.storage_class.as_deref())?,
            kms_key_name: texts.add_if(self.kms_key_name.as_deref())?,
            custom_time_ns: self.custom_time.map_or(Ok(0), since_1970)?,
            metadata_names: names.as_ptr(),
            metadata_values: values.as_ptr(),
            metadata_count: names.len(),
            ..Default::default()
        };
        function(&raw)
    }
}

/// Nanoseconds since 1970.
pub(crate) fn since_1970(time: SystemTime) -> Result<i64> {
    let passed = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_nanos();
    match i64::try_from(passed) {
        Ok(passed) if passed > 0 => Ok(passed),
        _ => Err(Error::new(Code::InvalidArgument, "a time before 1970, or after 2262")),
    }
}

/// Conditions of a call; if one does not hold, it fails with [`Code::FailedPrecondition`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Conditions {
    pub(crate) generation_match: Option<i64>,
    pub(crate) generation_not_match: Option<i64>,
    pub(crate) metageneration_match: Option<i64>,
    pub(crate) metageneration_not_match: Option<i64>,
}

impl Conditions {
    pub(crate) fn raw(&self) -> sys::dataflux_conditions {
        let has = |value: Option<i64>, flag| value.map_or(0, |_| flag);
        sys::dataflux_conditions {
            has: has(self.generation_match, sys::DATAFLUX_IF_GENERATION_MATCH)
                | has(self.generation_not_match, sys::DATAFLUX_IF_GENERATION_NOT_MATCH)
                | has(self.metageneration_match, sys::DATAFLUX_IF_METAGENERATION_MATCH)
                | has(self.metageneration_not_match, sys::DATAFLUX_IF_METAGENERATION_NOT_MATCH),
            generation_match: self.generation_match.unwrap_or(0),
            generation_not_match: self.generation_not_match.unwrap_or(0),
            metageneration_match: self.metageneration_match.unwrap_or(0),
            metageneration_not_match: self.metageneration_not_match.unwrap_or(0),
            ..Default::default()
        }
    }
}
