//! Objects that are written as a stream.

use std::fmt;
use std::io;
use std::ptr;
use std::time::Duration;

use crate::bucket::Bucket;
use crate::call::{Ended, Start, Verb, verb};
use crate::client::Client;
use crate::error::{Error, Result};
use crate::ffi::{self, OperationHandle, Texts, handle, nanoseconds};
use crate::json::Json;
use crate::object::{Attributes, Conditions, Object};
use crate::sys;

handle!(WriterHandle, dataflux_writer, dataflux_writer_free);

/// What a writer is opened with.
#[derive(Default)]
pub(crate) struct WriterOptions {
    attributes: Attributes,
    conditions: Conditions,
    size_hint: u64,
    part_size: u64,
    timeout: Option<Duration>,
}

impl WriterOptions {
    /// Of a bucket's object, or of a set's member, which has no name here.
    pub(crate) fn with<R>(
        &self,
        object: Option<(&str, &str)>,
        function: impl FnOnce(&sys::dataflux_writer_options) -> Result<R>,
    ) -> Result<R> {
        let mut texts = Texts::default();
        let conditions = self.conditions.raw();
        let has_conditions = conditions.has != 0;
        self.attributes.with(|attributes| {
            let options = sys::dataflux_writer_options {
                bucket: texts.add_if(object.map(|(bucket, _)| bucket))?,
                object: texts.add_if(object.map(|(_, name)| name))?,
                attributes,
                conditions: if has_conditions { &conditions } else { ptr::null() },
                size_hint: self.size_hint,
                part_size: self.part_size,
                timeout_ns: nanoseconds(self.timeout)?,
                ..Default::default()
            };
            function(&options)
        })
    }
}

/// writer_options!(): setters of what has `options: WriterOptions`.
macro_rules! writer_options {
    () => {
        /// How large it will be, as far as is known.
        pub fn size_hint(mut self, bytes: u64) -> Self {
            self.options.size_hint(bytes);
            self
        }
        /// What is sent at a time; by default 8 to 32 MiB.
        pub fn part_size(mut self, bytes: u64) -> Self {
            self.options.part_size(bytes);
            self
        }
        /// The time limit of all, from here to the end of commit.
        pub fn timeout(mut self, limit: std::time::Duration) -> Self {
            self.options.timeout(limit);
            self
        }
        /// What is written with the object.
        pub fn attributes(mut self, attributes: $crate::Attributes) -> Self {
            self.options.attributes(attributes);
            self
        }
    };
}
pub(crate) use writer_options;

impl WriterOptions {
    pub(crate) fn size_hint(&mut self, bytes: u64) {
        self.size_hint = bytes;
    }
    pub(crate) fn part_size(&mut self, bytes: u64) {
        self.part_size = bytes;
    }
    pub(crate) fn timeout(&mut self, limit: Duration) {
        self.timeout = Some(limit);
    }
    pub(crate) fn attributes(&mut self, attributes: Attributes) {
        self.attributes = attributes;
    }
}

impl Bucket {
    /// Opens a writer of an object of any length, in bounded memory. The object appears only by
    /// [`Writer::commit`], whole and verified; in all other cases the previous one stays.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let client = dataflux::Client::new()?;
    /// use std::io::Write;
    /// let mut writer = client.bucket("checkpoints").writer("step-100").wait()?;
    /// writer.write_all(b"weights")?;
    /// let object = writer.commit().wait()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn writer(&self, object: impl Into<String>) -> OpenWriter {
        let options = WriterOptions::default();
        OpenWriter { bucket: self.clone(), name: object.into(), options }
    }
}

/// [`Bucket::writer`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct OpenWriter {
    bucket: Bucket,
    name: String,
    options: WriterOptions,
}

impl OpenWriter {
    writer_options!();

    /// The generation that has to be live; 0: there has to be none. By default what is there when
    /// the writer is opened has to be there at its end, which costs a request.
    pub fn if_generation_match(mut self, generation: i64) -> Self {
        self.options.conditions.generation_match = Some(generation);
        self
    }
}

verb!(OpenWriter => Writer);
impl Verb for OpenWriter {
    type Output = Writer;
    fn client(&self) -> &Client {
        &self.bucket.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        self.options.with(Some((&self.bucket.name, &self.name)), |options| {
            // SAFETY: the options live during the call.
            start.with(|queue, tag, out, error| unsafe {
                let client = self.bucket.client.raw();
                sys::dataflux_writer_open(client, options, queue, tag, out, error)
            })
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<Writer> {
        Writer::taken(&ended, &self.bucket.client)
    }
}

/// Writes one object. Dropping it without a commit removes what was sent, which may take some
/// seconds.
pub struct Writer {
    handle: WriterHandle,
    client: Client,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Writer")
    }
}

impl Writer {
    pub(crate) fn taken(ended: &Ended, client: &Client) -> Result<Writer> {
        // SAFETY: the operation is ours and has ended well.
        let handle = WriterHandle::make(|out, error| unsafe {
            sys::dataflux_operation_take_writer(ended.op.raw(), out, error)
        })?;
        Ok(Writer { handle, client: client.clone() })
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn raw(&self) -> *mut sys::dataflux_writer {
        self.handle.raw()
    }

    /// Appends as much as there is room for within the time (negative: all), and says how much.
    pub(crate) fn append(&mut self, data: &[u8], timeout_ns: i64) -> (usize, Result<()>) {
        let (mut taken, mut error) = (0, ptr::null_mut());
        // SAFETY: the bytes live during the call, and `&mut` keeps other threads away.
        let status = unsafe {
            sys::dataflux_writer_write(
                self.handle.raw(),
                data.as_ptr().cast(),
                data.len(),
                timeout_ns,
                &mut taken,
                &mut error,
            )
        };
        match status {
            sys::DATAFLUX_OK | sys::DATAFLUX_INTERRUPTED => (taken, Ok(())),
            // SAFETY: after a failure the error is ours.
            status => (taken, Err(unsafe { Error::take(status, error) })),
        }
    }

    /// Sends the rest, waits for all parts, makes the object and verifies it.
    pub fn commit(self) -> Commit {
        Commit { writer: self }
    }

    /// Removes what was sent. An error names what could not be removed.
    pub fn abort(self) -> Abort {
        Abort { writer: self }
    }
}

/// It takes all that is given; flush() sends nothing, since only a commit makes the object.
impl io::Write for Writer {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < data.len() {
            let (taken, outcome) = self.append(&data[done..], -1);
            done += taken;
            if let Err(why) = outcome {
                // What was taken is told first; the next write fails the same.
                return if done > 0 { Ok(done) } else { Err(why.into()) };
            }
        }
        Ok(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// [`Writer::commit`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct Commit {
    writer: Writer,
}

/// An object that a writer has made.
#[derive(Clone, Debug)]
pub struct Written {
    /// It.
    pub object: Object,
    /// How it was uploaded, with "path", "mode" and "fallback".
    pub report: Json,
}

impl Commit {
    /// Commits; gives the operation, too, which a set takes its record from.
    pub(crate) fn finish_with_operation(ended: &Ended) -> Result<Written> {
        let report = ended.json()?;
        let object = Object::new(&ended.record, report.get("object").clone())?;
        Ok(Written { object, report })
    }

    pub(crate) fn start(writer: &Writer, start: &mut Start) -> Result<()> {
        // SAFETY: the writer is ours.
        start.with(|queue, tag, out, error| unsafe {
            sys::dataflux_writer_commit(writer.handle.raw(), queue, tag, out, error)
        })
    }
}

verb!(Commit => Written);
impl Verb for Commit {
    type Output = Written;
    fn client(&self) -> &Client {
        &self.writer.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        Commit::start(&self.writer, start)
    }
    fn finish(&mut self, ended: Ended) -> Result<Written> {
        Commit::finish_with_operation(&ended)
    }
}

/// [`Writer::abort`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct Abort {
    writer: Writer,
}

verb!(Abort => ());
impl Verb for Abort {
    type Output = ();
    fn client(&self) -> &Client {
        &self.writer.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        // SAFETY: the writer is ours.
        start.with(|queue, tag, out, error| unsafe {
            sys::dataflux_writer_abort(self.writer.handle.raw(), queue, tag, out, error)
        })
    }
    fn finish(&mut self, _: Ended) -> Result<()> {
        Ok(())
    }
}

/// A record of a set's member, from the operation of its commit.
pub(crate) fn record_of(set: *const sys::dataflux_set, op: &OperationHandle) -> Result<String> {
    // SAFETY: set and operation are alive; the text that comes is ours.
    ffi::given_text(|out, error| unsafe { sys::dataflux_set_record(set, op.raw(), out, error) })
}
