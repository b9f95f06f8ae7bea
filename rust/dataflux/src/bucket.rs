//! A bucket: where calls begin.

use std::fmt;

use crate::body::Body;
use crate::changes::{BucketInfo, Compose, Copy, Patch, Put, Remove, Rename};
use crate::client::Client;
use crate::gets::{Get, ReadInto, Stat};
use crate::object::Attributes;
use crate::target::Target;

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

    /// Reads an object, or a range of it, into memory of the library. At most the client's memory
    /// cap: [`Bucket::read_into`] has no such limit.
    pub fn get(&self, object: impl Into<String>) -> Get {
        Get { at: Target::new(self, object), offset: 0, length: u64::MAX }
    }

    /// Fills memory with the bytes of an object, by parallel ranges if that is long. Fails with
    /// [`Code::OutOfRange`](crate::Code::OutOfRange) if the object ends earlier; its content is
    /// undefined then.
    pub fn read_into<'a>(&self, object: impl Into<String>, memory: &'a mut [u8]) -> ReadInto<'a> {
        ReadInto { at: Target::new(self, object), offset: 0, memory }
    }

    /// An object's metadata.
    pub fn stat(&self, object: impl Into<String>) -> Stat {
        Stat { at: Target::new(self, object) }
    }

    /// Inserts an object by one request, with its checksum. Without a condition the last writer
    /// wins.
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
