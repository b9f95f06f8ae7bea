//! Requests of a stream of reads, one by one and as the library's columns.

use std::borrow::Cow;
use std::ops::RangeBounds;
use std::ptr;

use crate::sys;
use crate::target::offset_and_length;

/// One read: an object, or a range of it.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    name: Cow<'a, str>,
    generation: i64,
    offset: u64,
    length: u64,
    member: Option<Cow<'a, str>>,
}

impl<'a> Request<'a> {
    /// A whole object.
    pub fn new(name: impl Into<Cow<'a, str>>) -> Self {
        Request { name: name.into(), generation: 0, offset: 0, length: u64::MAX, member: None }
    }

    /// These bytes alone, cut at the object's end.
    pub fn range(mut self, range: impl RangeBounds<u64>) -> Self {
        (self.offset, self.length) = offset_and_length(range);
        self
    }

    /// This generation instead of the live one.
    pub fn generation(mut self, generation: i64) -> Self {
        self.generation = generation;
        self
    }

    /// A file of the archive that the object is, which AIStore takes out.
    pub fn member(mut self, name: impl Into<Cow<'a, str>>) -> Self {
        self.member = Some(name.into());
        self
    }
}

impl<'a> From<&'a str> for Request<'a> {
    fn from(name: &'a str) -> Self {
        Request::new(name)
    }
}
impl From<String> for Request<'_> {
    fn from(name: String) -> Self {
        Request::new(name)
    }
}

/// Requests that wait to be pushed, as the library's columns. They are filled anew for each push.
#[derive(Default)]
pub(crate) struct Columns {
    names: String,
    name_offsets: Vec<u64>,
    generations: Vec<i64>,
    offsets: Vec<u64>,
    lengths: Vec<u64>,
    members: String,
    member_offsets: Vec<u64>,
}

impl Columns {
    pub(crate) fn clear(&mut self) {
        self.names.clear();
        self.name_offsets.clear();
        self.name_offsets.push(0);
        self.generations.clear();
        self.offsets.clear();
        self.lengths.clear();
        self.members.clear();
        self.member_offsets.clear();
        self.member_offsets.push(0);
    }

    pub(crate) fn add(&mut self, request: &Request<'_>) {
        self.names.push_str(&request.name);
        self.name_offsets.push(self.names.len() as u64);
        self.generations.push(request.generation);
        self.offsets.push(request.offset);
        self.lengths.push(request.length);
        self.members.push_str(request.member.as_deref().unwrap_or(""));
        self.member_offsets.push(self.members.len() as u64);
    }

    pub(crate) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Those from a place on.
    pub(crate) fn from(&self, place: usize) -> sys::dataflux_get_columns {
        let members = !self.members.is_empty();
        sys::dataflux_get_columns {
            names: self.names.as_ptr().cast(),
            name_offsets: self.name_offsets[place..].as_ptr(),
            generations: self.generations[place..].as_ptr(),
            offsets: self.offsets[place..].as_ptr(),
            lengths: self.lengths[place..].as_ptr(),
            members: if members { self.members.as_ptr().cast() } else { ptr::null() },
            member_offsets: if members {
                self.member_offsets[place..].as_ptr()
            } else {
                ptr::null()
            },
            ..Default::default()
        }
    }
}
