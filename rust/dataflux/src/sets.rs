//! Checkpoint sets: many objects below one prefix that appear together.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::body::Body;
use crate::bucket::Bucket;
use crate::call::{Call, Ended, Report, Start, Verb, verb};
use crate::client::Client;
use crate::error::Result;
use crate::ffi::{Texts, handle, nanoseconds};
use crate::json::Json;
use crate::set_reader::SetReader;
use crate::sys;
use crate::writer::{Abort, Commit, Writer, WriterOptions, record_of, writer_options};

handle!(SetHandle, dataflux_set, dataflux_set_free);

/// Calls a function with the options of a set.
fn with_options<R>(
    bucket: &Bucket,
    prefix: &str,
    timeout: Option<Duration>,
    function: impl FnOnce(&sys::dataflux_set_options) -> Result<R>,
) -> Result<R> {
    let mut texts = Texts::default();
    let options = sys::dataflux_set_options {
        bucket: texts.add(&bucket.name)?,
        prefix: texts.add(prefix)?,
        timeout_ns: nanoseconds(timeout)?,
        ..Default::default()
    };
    function(&options)
}

type OfSets = unsafe extern "C" fn(
    *mut sys::dataflux_client,
    *const sys::dataflux_set_options,
    *mut sys::dataflux_queue,
    u64,
    *mut *mut sys::dataflux_operation,
    *mut *mut sys::dataflux_error,
) -> sys::dataflux_status;

impl Bucket {
    /// A set of objects below a prefix. Sends nothing.
    ///
    /// To save, one process calls [`CheckpointSet::begin`]; each writes members and sends their
    /// records to the one that commits. To load, [`CheckpointSet::open`] it.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let client = dataflux::Client::new()?;
    /// use std::io::Write;
    /// let set = client.bucket("checkpoints").checkpoint_set("run/step-100")?;
    /// set.begin(dataflux::Unfinished::Refuse).wait()?;
    /// let mut member = set.member("rank-0").wait()?;
    /// member.write_all(b"weights")?;
    /// let record = member.commit().wait()?;
    /// set.commit([record]).wait()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn checkpoint_set(&self, prefix: impl Into<String>) -> Result<CheckpointSet> {
        CheckpointSet::new(self, prefix.into(), None)
    }

    /// Opens the newest complete set below a prefix.
    pub fn latest_set(&self, prefix: impl Into<String>) -> Call<SetReader> {
        let client = self.client.clone();
        let begin = self.of_sets(prefix.into(), sys::dataflux_latest_set);
        Call::new(&self.client, begin, move |ended| SetReader::taken(&ended, &client))
    }

    /// The sets below a prefix: "complete", "damaged" and "unfinished".
    pub fn list_sets(&self, prefix: impl Into<String>) -> Call<Report> {
        Call::new(&self.client, self.of_sets(prefix.into(), sys::dataflux_list_sets), Report::of)
    }

    /// Removes all objects below a prefix, last objects of sets first.
    pub fn remove_sets(&self, prefix: impl Into<String>) -> Call<Report> {
        Call::new(&self.client, self.of_sets(prefix.into(), sys::dataflux_remove_sets), Report::of)
    }

    /// Removes complete sets below a prefix, but for so many newest ones. With a time it also
    /// removes unfinished ones that nobody wrote to for so long: choose more than a save takes.
    pub fn keep_last_sets(
        &self,
        prefix: impl Into<String>,
        count: u64,
        unfinished_older_than: Option<Duration>,
    ) -> Call<Report> {
        let (bucket, prefix) = (self.clone(), prefix.into());
        let begin = move |start: &mut Start| {
            let mut texts = Texts::default();
            let options = sys::dataflux_keep_last_options {
                bucket: texts.add(&bucket.name)?,
                prefix: texts.add(&prefix)?,
                count,
                remove_unfinished_older_than_ns: nanoseconds(unfinished_older_than)?,
                ..Default::default()
            };
            // SAFETY: the options live during the call.
            start.with(|queue, tag, out, error| unsafe {
                let client = bucket.client.raw();
                sys::dataflux_keep_last_sets(client, &options, queue, tag, out, error)
            })
        };
        Call::new(&self.client, begin, Report::of)
    }

    fn of_sets(
        &self,
        prefix: String,
        function: OfSets,
    ) -> impl FnMut(&mut Start) -> Result<()> + use<> {
        let bucket = self.clone();
        move |start| {
            with_options(&bucket, &prefix, None, |options| {
                // SAFETY: the options live during the call.
                start.with(|queue, tag, out, error| unsafe {
                    function(bucket.client.raw(), options, queue, tag, out, error)
                })
            })
        }
    }
}

/// What becomes of the leftovers of an earlier save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// They are an error.
    Refuse,
    /// They are removed.
    Replace,
}

/// Many objects below one prefix, which one more object, the last, commits together. A clone is the
/// same set.
#[derive(Clone)]
pub struct CheckpointSet {
    handle: Arc<SetHandle>,
    bucket: Bucket,
    prefix: String,
}

impl CheckpointSet {
    fn new(bucket: &Bucket, prefix: String, timeout: Option<Duration>) -> Result<CheckpointSet> {
        let handle = with_options(bucket, &prefix, timeout, |options| {
            // SAFETY: the options live during the call.
            SetHandle::make(|out, error| unsafe {
                sys::dataflux_set_create(bucket.client.raw(), options, out, error)
            })
        })?;
        Ok(CheckpointSet { handle: Arc::new(handle), bucket: bucket.clone(), prefix })
    }

    /// The same set, each of whose calls may take so long, but those of members.
    pub fn timeout(&self, limit: Duration) -> Result<CheckpointSet> {
        CheckpointSet::new(&self.bucket, self.prefix.clone(), Some(limit))
    }

    fn client(&self) -> &Client {
        &self.bucket.client
    }

    /// Ensures that the prefix is free; all processes of the save wait for it.
    pub fn begin(&self, unfinished: Unfinished) -> Call<Report> {
        let set = self.clone();
        let how = match unfinished {
            Unfinished::Refuse => sys::DATAFLUX_UNFINISHED_REFUSE,
            Unfinished::Replace => sys::DATAFLUX_UNFINISHED_REPLACE,
        };
        let begin = move |start: &mut Start| {
            // SAFETY: the set is ours.
            start.with(|queue, tag, out, error| unsafe {
                sys::dataflux_set_begin(set.handle.raw(), how, queue, tag, out, error)
            })
        };
        Call::new(self.client(), begin, Report::of)
    }

    /// Begins a save over the set: the same state is saved again below the same prefix. Gives a
    /// text, which each process of the save turns into a set by [`CheckpointSet::over`].
    pub fn begin_over(&self) -> Call<String> {
        let set = self.clone();
        let begin = move |start: &mut Start| {
            // SAFETY: the set is ours.
            start.with(|queue, tag, out, error| unsafe {
                sys::dataflux_set_begin_over(set.handle.raw(), queue, tag, out, error)
            })
        };
        Call::new(self.client(), begin, |ended| ended.json_text())
    }

    /// The set of a save over this one, in any process. Sends nothing.
    pub fn over(&self, save: &str) -> Result<CheckpointSet> {
        let mut texts = Texts::default();
        let text = texts.add(save)?;
        // SAFETY: the text lives during the call.
        let handle = SetHandle::make(|out, error| unsafe {
            sys::dataflux_set_over(self.handle.raw(), text, out, error)
        })?;
        Ok(CheckpointSet { handle: Arc::new(handle), ..self.clone() })
    }

    /// Opens the writer of a member. A member is never replaced.
    pub fn member(&self, name: impl Into<String>) -> OpenMember {
        OpenMember { set: self.clone(), name: name.into(), options: WriterOptions::default() }
    }

    /// Commits the set of these members.
    pub fn commit(&self, records: impl IntoIterator<Item = MemberRecord>) -> CommitSet {
        let records = records.into_iter().map(|record| record.0).collect();
        CommitSet { set: self.clone(), records, last: None, body: None, kms_key_name: None }
    }

    /// Checks whether the set is complete, and opens it.
    pub fn open(&self) -> Call<SetReader> {
        self.open_by(None)
    }

    /// The same by the name of its last object.
    pub fn open_last(&self, last: impl Into<String>) -> Call<SetReader> {
        self.open_by(Some(last.into()))
    }

    fn open_by(&self, last: Option<String>) -> Call<SetReader> {
        let (set, client) = (self.clone(), self.client().clone());
        let begin = move |start: &mut Start| {
            let mut texts = Texts::default();
            let last = texts.add_if(last.as_deref())?;
            // SAFETY: the text lives during the call.
            start.with(|queue, tag, out, error| unsafe {
                sys::dataflux_set_open(set.handle.raw(), last, queue, tag, out, error)
            })
        };
        Call::new(self.client(), begin, move |ended| SetReader::taken(&ended, &client))
    }
}

/// What a member's writer gives, for the process that commits the set: one line of JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberRecord(String);

impl MemberRecord {
    /// One that another process has sent.
    pub fn new(text: impl Into<String>) -> MemberRecord {
        MemberRecord(text.into())
    }

    /// To be sent to the process that commits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// [`CheckpointSet::member`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct OpenMember {
    set: CheckpointSet,
    name: String,
    options: WriterOptions,
}

impl OpenMember {
    writer_options!();
}

verb!(OpenMember => MemberWriter);
impl Verb for OpenMember {
    type Output = MemberWriter;
    fn client(&self) -> &Client {
        self.set.client()
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        let mut texts = Texts::default();
        let name = texts.add(&self.name)?;
        self.options.with(None, |options| {
            // SAFETY: name and options live during the call.
            start.with(|queue, tag, out, error| unsafe {
                let set = self.set.handle.raw();
                sys::dataflux_set_open_member(set, name, options, queue, tag, out, error)
            })
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<MemberWriter> {
        let writer = Writer::taken(&ended, self.set.client())?;
        Ok(MemberWriter { writer, set: self.set.clone() })
    }
}

/// Writes a member, as a [`Writer`] does; its commit gives the record for the set's commit.
#[derive(Debug)]
pub struct MemberWriter {
    writer: Writer,
    set: CheckpointSet,
}

impl std::fmt::Debug for CheckpointSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("CheckpointSet").field(&self.prefix).finish()
    }
}

impl MemberWriter {
    /// Makes the member's object, and gives its record.
    pub fn commit(self) -> CommitMember {
        CommitMember { member: self }
    }

    /// Removes what was sent.
    pub fn abort(self) -> Abort {
        self.writer.abort()
    }
}

impl io::Write for MemberWriter {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.writer.write(data)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// [`MemberWriter::commit`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct CommitMember {
    member: MemberWriter,
}

verb!(CommitMember => MemberRecord);
impl Verb for CommitMember {
    type Output = MemberRecord;
    fn client(&self) -> &Client {
        self.member.set.client()
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        Commit::start(&self.member.writer, start)
    }
    fn finish(&mut self, ended: Ended) -> Result<MemberRecord> {
        record_of(self.member.set.handle.raw(), &ended.op).map(MemberRecord)
    }
}

/// [`CheckpointSet::commit`]
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct CommitSet {
    set: CheckpointSet,
    records: Vec<String>,
    last: Option<String>,
    body: Option<Body<'static>>,
    kms_key_name: Option<String>,
}

impl CommitSet {
    /// The last object's name, without a slash, and its bytes; default: ".dataflux-complete",
    /// empty.
    pub fn last(mut self, name: impl Into<String>, body: impl Into<Body<'static>>) -> Self {
        self.last = Some(name.into());
        self.body = Some(body.into());
        self
    }

    /// Encrypts the last object and the manifest.
    pub fn kms_key_name(mut self, name: impl Into<String>) -> Self {
        self.kms_key_name = Some(name.into());
        self
    }
}

/// A set that was committed.
#[derive(Clone, Debug)]
pub struct Committed {
    /// Bytes of all members.
    pub bytes: u64,
    /// The generation of the last object.
    pub generation: i64,
    /// "last", "manifest", "members", "bytes", and of a save over a set "replaced".
    pub report: Json,
}

verb!(CommitSet => Committed);
impl Verb for CommitSet {
    type Output = Committed;
    fn client(&self) -> &Client {
        self.set.client()
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        let mut texts = Texts::default();
        let records = texts.add_all(self.records.iter().map(String::as_str))?;
        let body = self.body.as_ref().map_or(&[][..], Body::bytes);
        let options = sys::dataflux_set_commit_options {
            records: records.as_ptr(),
            record_count: records.len(),
            last: texts.add_if(self.last.as_deref())?,
            data: body.as_ptr().cast(),
            size: body.len(),
            kms_key_name: texts.add_if(self.kms_key_name.as_deref())?,
            ..Default::default()
        };
        // SAFETY: the options live during the call, and the body until the operation has ended.
        start.with(|queue, tag, out, error| unsafe {
            sys::dataflux_set_commit(self.set.handle.raw(), &options, queue, tag, out, error)
        })
    }
    fn finish(&mut self, ended: Ended) -> Result<Committed> {
        let (bytes, generation) = (ended.record.size, ended.record.generation);
        Ok(Committed { bytes, generation, report: ended.json()? })
    }
}
