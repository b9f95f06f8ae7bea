//! Calls as futures, and streams, for tokio.
//!
//! Each runtime has one queue of the library, whose descriptor a task of the runtime watches. A
//! future begins its call when it is first polled, and is woken by that task. What a call needs
//! (its operation and the memory that it lends) belongs to the queue until the end: so a future
//! that is dropped cancels its call and waits for nothing, and one that is leaked hurts nobody.
//!
//! Streams have a queue each. Their items stay under the client's memory cap until somebody takes
//! them, which a queue that is shared would not allow.

use std::any::Any;
use std::collections::HashMap;
use std::future::Future;
use std::mem;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker, ready};
use std::thread;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Handle, Id};

use crate::call::{Ended, Start, Verb, failure_of, next_records};
use crate::data::Data;
use crate::error::{Code, Error, Result};
use crate::ffi::{OperationHandle, QueueHandle};
use crate::sys;

mod streams;
mod writer;

pub use streams::{BatchStream, ListStream};
pub use writer::AsyncWriter;

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
