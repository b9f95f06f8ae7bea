//! The object that a call is about.

use std::ops::{Bound, RangeBounds};
use std::ptr;
use std::time::Duration;

use crate::bucket::Bucket;
use crate::error::Result;
use crate::ffi::{Texts, nanoseconds};
use crate::object::Conditions;
use crate::sys;

/// An object that a call is about, and the limits of the call.
pub(crate) struct Target {
    pub(crate) bucket: Bucket,
    pub(crate) name: String,
    pub(crate) generation: i64,
    pub(crate) timeout: Option<Duration>,
    pub(crate) conditions: Conditions,
    pub(crate) fields: u32,
    pub(crate) whole: bool,
    pub(crate) member: Option<String>,
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

    pub(crate) fn client(&self) -> *mut sys::dataflux_client {
        self.bucket.client.raw()
    }
}

/// setters!(at: NAME...): what calls have in common, of the Target `at`.
macro_rules! setters {
    ($at:ident: $($name:ident)*) => { $($crate::target::setters!(@$name $at);)* };
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
