//! Calls as futures, and streams, for tokio.
//!
//! Each runtime has one queue of the library, whose descriptor a task of the runtime watches. A future
//! begins its call when it is first polled, and is woken by that task. What a call needs (its
//! operation and the memory that it lends) belongs to the queue until the end: so a future that is
//! dropped cancels its call and waits for nothing, and one that is leaked hurts nobody.
//!
//! Streams have a queue each. Their items stay under the client's memory cap until somebody takes
//! them, which a queue that is shared would not allow.

use std::any::Any;
use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker, ready};
use std::thread;

use futures_core::Stream;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncWrite, Interest};
use tokio::runtime::{Handle, Id};

use crate::call::{Ended, Start, Verb, failure_of, next_records};
use crate::data::Data;
use crate::error::{Code, Error, Result};
use crate::ffi::{self, OperationHandle, QueueHandle};
use crate::listing::{List, ListBatches, Listing};
use crate::many::{Batch, Batches, GetMany};
use crate::sys;
use crate::writer::{Commit, Writer, Written};

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Descriptor(RawFd);

impl AsRawFd for Descriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.0
    }
}

/// Watches a queue by the runtime that is current. The queue has to outlive it.
fn watch(queue: *mut sys::dataflux_queue) -> Result<AsyncFd<Descriptor>> {
    // SAFETY: the queue is alive.
    let descriptor = Descriptor(unsafe { sys::dataflux_queue_fd(queue) });
    // What came instead of it wants a newer tokio. The descriptor is the queue's, which stays.
    #[allow(deprecated)]
    AsyncFd::with_interest(descriptor, Interest::READABLE).map_err(|why| {
        Error::new(Code::FailedPrecondition, format!("the runtime cannot watch a queue: {why}"))
    })
}

/// The end of a call, as its record says.
struct Came {
    record: sys::dataflux_record,
    failure: Option<Error>,
}

// SAFETY: what the record points to is borrowed, and nobody changes it.
unsafe impl Send for Came {}

/// A call under way. Fields are dropped in this order: the operation is freed before what it lends.
struct Slot {
    op: Option<OperationHandle>, // None: of what is told once
    keep: Box<dyn Any + Send>,
    waker: Option<Waker>, // None: nobody waits any more
    came: Option<Came>,
}

#[derive(Default)]
struct Slots {
    by_tag: HashMap<u64, Slot>,
    last: u64,
    gone: bool,
}

/// The queue of a runtime, and the calls that wait for its records.
pub(crate) struct Hub {
    slots: Mutex<Slots>, // operations before their queue
    queue: QueueHandle,
}

static HUBS: Mutex<Vec<(Id, Weak<Hub>)>> = Mutex::new(Vec::new());

impl Hub {
    /// That of the runtime that is current.
    fn current() -> Result<Arc<Hub>> {
        let runtime = Handle::try_current().map_err(|_| {
            Error::new(Code::FailedPrecondition, "a call is awaited outside of a tokio runtime")
        })?;
        let mut hubs = locked(&HUBS);
        hubs.retain(|(_, hub)| hub.strong_count() > 0);
        let known =
            hubs.iter().find(|(id, _)| *id == runtime.id()).and_then(|(_, hub)| hub.upgrade());
        if let Some(hub) = known.filter(|hub| !locked(&hub.slots).gone) {
            return Ok(hub);
        }
        // SAFETY: creates one.
        let queue =
            QueueHandle::make(|out, error| unsafe { sys::dataflux_queue_create(out, error) })?;
        let hub = Arc::new(Hub { slots: Mutex::default(), queue });
        let fd = watch(hub.queue.raw())?;
        hubs.push((runtime.id(), Arc::downgrade(&hub)));
        runtime.spawn(Driver { fd, hub: hub.clone() }.run());
        Ok(hub)
    }

    /// Begins a call under a new tag, which is given.
    fn begin<K: Any + Send>(
        &self,
        keep: K,
        waker: &Waker,
        begin: impl FnOnce(&mut K, *mut sys::dataflux_queue, u64) -> Result<Option<OperationHandle>>,
    ) -> Result<u64> {
        let mut keep = Box::new(keep); // it stays in its place from here on
        let mut slots = locked(&self.slots); // so its record is not handed out too early
        if slots.gone {
            return Err(ended());
        }
        slots.last += 1;
        let tag = slots.last;
        let op = begin(&mut keep, self.queue.raw(), tag)?;
        slots.by_tag.insert(tag, Slot { op, keep, waker: Some(waker.clone()), came: None });
        Ok(tag)
    }

    /// The slot of a call that has ended.
    fn poll(&self, tag: u64, waker: &Waker) -> Poll<Result<Slot>> {
        let mut slots = locked(&self.slots);
        match slots.by_tag.get_mut(&tag) {
            None => Poll::Ready(Err(ended())),
            Some(slot) if slot.came.is_none() => {
                slot.waker.get_or_insert_with(|| waker.clone()).clone_from(waker);
                Poll::Pending
            }
            Some(_) => Poll::Ready(slots.by_tag.remove(&tag).ok_or_else(ended)),
        }
    }

    /// Nobody waits for a call any more. It is cancelled, and kept until its record comes.
    fn let_go(&self, tag: u64) {
        let mut slots = locked(&self.slots);
        let Some(slot) = slots.by_tag.get_mut(&tag) else { return };
        match &slot.op {
            Some(op) if slot.came.is_none() => {
                slot.waker = None;
                // SAFETY: the operation is ours.
                unsafe { sys::dataflux_operation_cancel(op.raw()) }
            }
            _ => {
                let slot = slots.by_tag.remove(&tag);
                drop(slots);
                slot.into_iter().for_each(aside);
            }
        }
    }

    fn hand_out(&self, records: &[sys::dataflux_record]) {
        for record in records {
            let mut slots = locked(&self.slots);
            let Some(slot) = slots.by_tag.get_mut(&record.tag) else {
                drop(Data::of(record));
                continue;
            };
            if slot.op.is_some() && record.flags & sys::DATAFLUX_RECORD_END == 0 {
                continue; // of a part of a call, whose end is what counts
            }
            slot.came =
                Some(Came { record: *record, failure: failure_of(self.queue.raw(), record) });
            match slot.waker.take() {
                Some(waker) => {
                    drop(slots);
                    waker.wake();
                }
                None => {
                    let slot = slots.by_tag.remove(&record.tag);
                    drop(slots);
                    slot.into_iter().for_each(aside);
                }
            }
        }
    }

    /// The runtime ends: so does each call, on a thread that may wait for it.
    fn end(&self) {
        let slots = {
            let mut slots = locked(&self.slots);
            slots.gone = true;
            mem::take(&mut slots.by_tag)
        };
        let mut rest = Vec::new();
        for mut slot in slots.into_values() {
            let waker = slot.waker.take();
            rest.push(slot);
            waker.into_iter().for_each(Waker::wake);
        }
        if !rest.is_empty() {
            let _ = thread::Builder::new().spawn(move || drop(rest)); // without a thread: here
        }
    }
}

fn ended() -> Error {
    Error::new(Code::Cancelled, "the tokio runtime that the call was begun in has ended")
}

/// Drops what may wait for a moment: an operation whose result nobody takes, say.
fn aside<T: Send + 'static>(what: T) {
    match Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn_blocking(move || drop(what))),
        Err(_) => drop(what),
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(came) = &self.came {
            drop(Data::of(&came.record));
        }
    }
}

/// The task of a runtime that watches its queue.
struct Driver {
    fd: AsyncFd<Descriptor>, // before the queue that it watches
    hub: Arc<Hub>,
}

impl Driver {
    async fn run(self) {
        while let Ok(mut readable) = self.fd.readable().await {
            match self.drain() {
                Ok(0) => readable.clear_ready(),
                Ok(_) => (),
                Err(_) => return, // the child of a fork
            }
        }
    }

    fn drain(&self) -> Result<usize> {
        let mut records = [sys::dataflux_record::default(); 64];
        let count = next_records(self.hub.queue.raw(), &mut records, 0)?;
        self.hub.hand_out(&records[..count]);
        Ok(count)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.hub.end();
    }
}

enum State<V> {
    Idle(V),
    Begun(Arc<Hub>, u64),
    Done,
}

/// A call, to be awaited in a tokio runtime. Dropping it cancels the call.
#[must_use = "futures do nothing unless they are awaited"]
pub struct CallFuture<V: Verb>(State<V>);

// Nothing is pinned: what a call lends is in a box.
impl<V: Verb> Unpin for CallFuture<V> {}

impl<V: Verb> CallFuture<V> {
    pub(crate) fn new(verb: V) -> Self {
        CallFuture(State::Idle(verb))
    }
}

impl<V: Verb + 'static> Future for CallFuture<V> {
    type Output = Result<V::Output>;
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let State::Idle(_) = self.0 {
            let State::Idle(verb) = mem::replace(&mut self.0, State::Done) else { unreachable!() };
            let hub = Hub::current()?;
            let tag = hub.begin(verb, context.waker(), |verb, queue, tag| {
                let mut start = Start::new(queue, tag);
                verb.begin(&mut start)?;
                start.begun().map(Some)
            })?;
            self.0 = State::Begun(hub, tag);
        }
        let State::Begun(hub, tag) = &self.0 else { panic!("a call is polled after its end") };
        let mut slot = ready!(hub.poll(*tag, context.waker()))?;
        self.0 = State::Done;
        let (Some(came), Some(op)) = (slot.came.take(), slot.op.take()) else {
            return Poll::Ready(Err(ended()));
        };
        let ended = Ended::new(came.record, came.failure, op)?;
        let Some(verb) = slot.keep.downcast_mut::<V>() else {
            return Poll::Ready(Err(self::ended()));
        };
        Poll::Ready(verb.finish(ended))
    }
}

impl<V: Verb> Drop for CallFuture<V> {
    fn drop(&mut self) {
        if let State::Begun(hub, tag) = &self.0 {
            hub.let_go(*tag);
        }
    }
}

/// What gives items without a wait, and whose queue says when there are some.
trait Steps {
    type Item;
    fn queue(&self) -> *mut sys::dataflux_queue;
    /// The outer None: nothing is there yet.
    fn step_now(&mut self) -> Option<Option<Self::Item>>;
}

/// Watches a stream's queue from the first time that it has to wait.
struct Watched<S> {
    fd: Option<AsyncFd<Descriptor>>, // before the queue that it watches
    steps: S,
}

impl<S: Steps<Item = Result<T>>, T> Watched<S> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        loop {
            if let Some(step) = self.steps.step_now() {
                return Poll::Ready(step);
            }
            let fd = match &self.fd {
                Some(fd) => fd,
                None => match watch(self.steps.queue()) {
                    Ok(fd) => self.fd.insert(fd),
                    Err(why) => return Poll::Ready(Some(Err(why))),
                },
            };
            match ready!(fd.poll_read_ready(context)) {
                Ok(mut readable) => readable.clear_ready(), // then it looks once more
                Err(why) => {
                    let why = Error::new(Code::Cancelled, format!("the runtime has ended: {why}"));
                    return Poll::Ready(Some(Err(why)));
                }
            }
        }
    }
}

impl Steps for Batches<'_> {
    type Item = Result<Batch>;
    fn queue(&self) -> *mut sys::dataflux_queue {
        Batches::queue(self)
    }
    fn step_now(&mut self) -> Option<Option<Self::Item>> {
        match self.step(0) {
            Some(Ok(batch)) if batch.is_empty() => None,
            step => Some(step),
        }
    }
}

impl Steps for ListBatches {
    type Item = Result<Listing>;
    fn queue(&self) -> *mut sys::dataflux_queue {
        ListBatches::queue(self)
    }
    fn step_now(&mut self) -> Option<Option<Self::Item>> {
        self.step(0)
    }
}

/// [`GetMany::stream`]
pub struct BatchStream<'a>(Watched<Batches<'a>>);

impl<'a> GetMany<'a> {
    /// Begins to read ahead, within the client's memory cap, and gives a stream of batches. Dropping
    /// it ends what is under way.
    pub fn stream(self) -> Result<BatchStream<'a>> {
        Ok(BatchStream(Watched { fd: None, steps: self.start()? }))
    }
}

impl Unpin for BatchStream<'_> {}

impl Stream for BatchStream<'_> {
    type Item = Result<Batch>;
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll(context)
    }
}

impl Drop for BatchStream<'_> {
    fn drop(&mut self) {
        self.0.fd = None;
        self.0.steps.cancel();
        self.0.steps.reading().take().into_iter().for_each(aside); // it waits for milliseconds
    }
}

/// [`List::stream`]
pub struct ListStream(Watched<ListBatches>);

impl List {
    /// Lists in batches of rows, as a stream. Dropping it cancels it.
    pub fn stream(self) -> Result<ListStream> {
        Ok(ListStream(Watched { fd: None, steps: self.batches()? }))
    }
}

impl Unpin for ListStream {}

impl Stream for ListStream {
    type Item = Result<Listing>;
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll(context)
    }
}

/// A [`Writer`] as `AsyncWrite`. `shutdown()` commits; dropped before, it leaves nothing.
pub struct AsyncWriter {
    writer: Option<Writer>,
    room: Option<Room>,
    commit: Option<CallFuture<Commit>>,
    written: Option<Written>,
}

/// Waits until a writer has room.
struct Room(Arc<Hub>, u64);

impl Drop for Room {
    fn drop(&mut self) {
        self.0.let_go(self.1);
    }
}

impl Writer {
    /// The same for tasks.
    pub fn into_async(self) -> AsyncWriter {
        AsyncWriter { writer: Some(self), room: None, commit: None, written: None }
    }
}

impl AsyncWriter {
    /// What it has made, once it is shut down.
    pub fn written(&self) -> Option<&Written> {
        self.written.as_ref()
    }

    /// Sends the rest, makes the object and verifies it.
    pub async fn commit(mut self) -> Result<Written> {
        std::future::poll_fn(|context| self.poll_commit(context)).await?;
        self.written.take().ok_or_else(Self::over)
    }

    /// Removes what was sent.
    pub async fn abort(mut self) -> Result<()> {
        self.room = None;
        match self.writer.take() {
            Some(writer) => writer.abort().await,
            None => Err(Self::over()),
        }
    }

    fn over() -> Error {
        Error::new(Code::FailedPrecondition, "the writer was committed or aborted before")
    }

    fn poll_append(&mut self, context: &mut Context<'_>, data: &[u8]) -> Poll<Result<usize>> {
        loop {
            if let Some(room) = &self.room {
                let told = ready!(room.0.poll(room.1, context.waker()));
                self.room = None;
                told?; // the next write tells a writer's failure
            }
            let Some(writer) = &mut self.writer else { return Poll::Ready(Err(Self::over())) };
            let (taken, outcome) = writer.append(data, 0);
            if taken > 0 || data.is_empty() {
                return Poll::Ready(Ok(taken));
            }
            outcome?;
            let hub = Hub::current()?;
            let raw = writer.raw();
            let tag = hub.begin((), context.waker(), |(), queue, tag| {
                // SAFETY: the writer is ours, and the queue alive.
                ffi::call(|error| unsafe { sys::dataflux_writer_notify(raw, queue, tag, error) })?;
                Ok(None)
            })?;
            self.room = Some(Room(hub, tag));
        }
    }

    fn poll_commit(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        if self.written.is_some() {
            return Poll::Ready(Ok(()));
        }
        self.room = None;
        if let Some(writer) = self.writer.take() {
            self.commit = Some(CallFuture::new(writer.commit()));
        }
        let Some(commit) = &mut self.commit else { return Poll::Ready(Err(Self::over())) };
        let made = ready!(Pin::new(commit).poll(context));
        self.commit = None;
        self.written = Some(made?);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for AsyncWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_append(context, data).map_err(io::Error::from)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_commit(context).map_err(io::Error::from)
    }
}

impl Drop for AsyncWriter {
    fn drop(&mut self) {
        self.room = None;
        self.writer.take().into_iter().for_each(aside); // it removes what was sent: seconds, maybe
    }
}
