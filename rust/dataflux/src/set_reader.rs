//! A complete checkpoint set, opened for reads.

use std::ptr;
use std::sync::Arc;

use crate::call::{Ended, Start, Verb, verb};
use crate::client::Client;
use crate::error::Result;
use crate::ffi::{self, Texts, handle};
use crate::json::Json;
use crate::reader::{Reader, ReaderOptions, reader_options};
use crate::sys;

handle!(SetReaderHandle, dataflux_set_reader, dataflux_set_reader_free);

/// A complete set as it was when it was opened. A clone is the same one.
#[derive(Clone)]
pub struct SetReader {
    handle: Arc<SetReaderHandle>,
    client: Client,
    description: Json,
}

impl SetReader {
    pub(crate) fn taken(ended: &Ended, client: &Client) -> Result<SetReader> {
        let mut text = ptr::null();
        // SAFETY: the operation is ours and has ended well; the text lives as long as the handle.
        let (handle, description) = unsafe {
            let handle = SetReaderHandle::make(|out, error| {
                sys::dataflux_operation_take_set_reader(ended.op.raw(), out, error)
            })?;
            ffi::call(|error| sys::dataflux_set_reader_json(handle.raw(), &mut text, error))?;
            (handle, Json::parse(&ffi::own_text(text))?)
        };
        Ok(SetReader { handle: Arc::new(handle), client: client.clone(), description })
    }

    /// Bytes of all members.
    pub fn bytes(&self) -> u64 {
        self.description.get("bytes").as_u64().unwrap_or(0)
    }

    /// Names and bytes of the members, in order of names.
    pub fn members(&self) -> impl Iterator<Item = (&str, u64)> {
        let members = self.description.get("members").items().iter();
        members.map(|member| {
            let name = member.get("name").as_str().unwrap_or("");
            (name, member.get("size").as_u64().unwrap_or(0))
        })
    }

    /// "prefix", "last", "committed", "members", and of a latest set "passed_over".
    pub fn description(&self) -> &Json {
        &self.description
    }

    /// Opens a member, or the last object, for reads, each of which is compared.
    pub fn member(&self, name: impl Into<String>) -> OpenSetMember {
        OpenSetMember { set: self.clone(), name: name.into(), options: ReaderOptions::default() }
    }
}

/// [`SetReader::member`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct OpenSetMember {
    set: SetReader,
    name: String,
    options: ReaderOptions,
}

impl OpenSetMember {
    reader_options!();
}

verb!(OpenSetMember => Reader);
impl Verb for OpenSetMember {
    type Output = Reader;
    fn client(&self) -> &Client {
        &self.set.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        let mut texts = Texts::default();
        let name = texts.add(&self.name)?;
        self.options.with(None, |options| {
            // SAFETY: name and options live during the call.
            start.with(|queue, tag, out, error| unsafe {
                let set = self.set.handle.raw();
                sys::dataflux_set_reader_open(set, name, options, queue, tag, out, error)
            })
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<Reader> {
        Reader::taken(&ended, &self.set.client)
    }
}
