//! A call: what begins it, waits for its end, and gives its result. Each verb says how it begins
//! and what its record means; whoever drives it (a thread here, a runtime in `aio`) does the rest.

use std::ptr;
use std::time::Duration;

use crate::client::Client;
use crate::data::Data;
use crate::error::{Code, Error, Result};
use crate::ffi::{self, OperationHandle, QueueHandle};
use crate::json::Json;
use crate::sys;

/// What a verb begins with: the queue that gets its record, and its tag.
pub struct Start {
    pub(crate) queue: *mut sys::dataflux_queue,
    pub(crate) tag: u64,
    op: Option<OperationHandle>,
}

impl Start {
    pub(crate) fn new(queue: *mut sys::dataflux_queue, tag: u64) -> Start {
        Start { queue, tag, op: None }
    }

    /// Calls the function that begins it.
    pub(crate) fn with(
        &mut self,
        function: impl FnOnce(
            *mut sys::dataflux_queue,
            u64,
            *mut *mut sys::dataflux_operation,
            *mut *mut sys::dataflux_error,
        ) -> sys::dataflux_status,
    ) -> Result<()> {
        let made = OperationHandle::make(|out, error| function(self.queue, self.tag, out, error))?;
        self.op = Some(made);
        Ok(())
    }

    pub(crate) fn begun(self) -> Result<OperationHandle> {
        self.op.ok_or_else(|| Error::new(Code::Internal, "a call has begun nothing"))
    }
}

/// A call that has ended well.
pub struct Ended {
    pub(crate) record: sys::dataflux_record,
    pub(crate) op: OperationHandle,
    data: Data,
}

impl Ended {
    /// What the last record says of an operation. It owns the bytes that the record hands out.
    pub(crate) fn new(
        record: sys::dataflux_record,
        failure: Option<Error>,
        op: OperationHandle,
    ) -> Result<Ended> {
        let data = Data::of(&record);
        match failure {
            Some(failure) => Err(failure),
            None => Ok(Ended { record, op, data }),
        }
    }

    pub(crate) fn into_data(self) -> Data {
        self.data
    }

    /// The operation's result beside its record.
    pub(crate) fn json(&self) -> Result<Json> {
        Json::parse(&self.json_text()?)
    }

    pub(crate) fn json_text(&self) -> Result<String> {
        let mut text = ptr::null();
        // SAFETY: the operation is ours, and has ended; the text lives as long as it.
        unsafe {
            ffi::call(|error| sys::dataflux_operation_json(self.op.raw(), &mut text, error))?;
            Ok(ffi::own_text(text))
        }
    }
}

/// The error of a record; None where it has none.
pub(crate) fn failure_of(
    queue: *mut sys::dataflux_queue,
    record: &sys::dataflux_record,
) -> Option<Error> {
    if record.status == sys::DATAFLUX_OK {
        return None;
    }
    let error = match record.error {
        0 => ptr::null_mut(),
        // SAFETY: the queue is alive; what comes is ours.
        number => unsafe { sys::dataflux_queue_error(queue, number) },
    };
    // SAFETY: as above.
    Some(unsafe { Error::take(record.status, error) })
}

/// Waits for records: 0 of them once `timeout_ns` has passed (negative: never). A signal's handler
/// that runs on this thread meanwhile ends no wait, as with the standard library.
pub(crate) fn next_records(
    queue: *mut sys::dataflux_queue,
    out: &mut [sys::dataflux_record],
    timeout_ns: i64,
) -> Result<usize> {
    let mut count = 0;
    loop {
        // SAFETY: `out` has room for so many records, and the queue is alive.
        let status = unsafe {
            sys::dataflux_queue_next(
                queue,
                out.as_mut_ptr(),
                size_of::<sys::dataflux_record>(),
                out.len(),
                timeout_ns,
                &mut count,
            )
        };
        match status {
            sys::DATAFLUX_OK => return Ok(count),
            sys::DATAFLUX_INTERRUPTED => (),
            sys::DATAFLUX_FAILED_PRECONDITION => {
                return Err(Error::new(
                    Code::FailedPrecondition,
                    "the queue is closed, or of the parent of this forked process",
                ));
            }
            other => return Err(Error::new(Code::of(other), "dataflux_queue_next has failed")),
        }
    }
}

/// A queue of a client's, which goes back to it. Nothing that names it is under way then.
pub(crate) struct LentQueue {
    queue: Option<QueueHandle>,
    client: Client,
}

const MOST_IDLE: usize = 16;

impl LentQueue {
    pub(crate) fn of(client: &Client) -> Result<LentQueue> {
        // Nobody waits for the lock: in the child of a fork it may be held for ever.
        let idle = client.idle_queues().try_lock().ok().and_then(|mut idle| idle.pop());
        let queue = match idle {
            Some(queue) => queue,
            // SAFETY: creates one.
            None => {
                QueueHandle::make(|out, error| unsafe { sys::dataflux_queue_create(out, error) })?
            }
        };
        Ok(LentQueue { queue: Some(queue), client: client.clone() })
    }

    pub(crate) fn raw(&self) -> *mut sys::dataflux_queue {
        self.queue.as_ref().map_or(ptr::null_mut(), QueueHandle::raw)
    }
}

impl Drop for LentQueue {
    fn drop(&mut self) {
        if let Ok(mut idle) = self.client.idle_queues().try_lock() {
            if idle.len() < MOST_IDLE {
                idle.extend(self.queue.take());
            }
        }
    }
}

/// One kind of call. The memory that it lends is its own, and stays in its place until it is
/// dropped, which is after the operation's end.
pub trait Verb: Send {
    /// What it gives.
    type Output;
    #[doc(hidden)]
    fn client(&self) -> &Client;
    #[doc(hidden)]
    fn begin(&mut self, start: &mut Start) -> Result<()>;
    #[doc(hidden)]
    fn finish(&mut self, ended: Ended) -> Result<Self::Output>;
}

/// What is under way. Fields are dropped in this order: the operation is freed, which waits until
/// it uses no lent memory, before the queue and that memory go.
struct Running<'a, T> {
    op: OperationHandle,
    queue: LentQueue,
    verb: Box<dyn Verb<Output = T> + 'a>,
}

impl<'a, T> Running<'a, T> {
    fn begin(mut verb: Box<dyn Verb<Output = T> + 'a>) -> Result<Self> {
        let queue = LentQueue::of(verb.client())?;
        let mut start = Start::new(queue.raw(), 0);
        verb.begin(&mut start)?;
        Ok(Running { op: start.begun()?, queue, verb })
    }

    /// It is never taken apart before the end has come: the order of the drops above matters.
    fn wait(mut self) -> Result<T> {
        let mut record = [sys::dataflux_record::default()];
        loop {
            let came = next_records(self.queue.raw(), &mut record, -1)?;
            if came == 1 && record[0].flags & sys::DATAFLUX_RECORD_END != 0 {
                break;
            }
        }
        let failure = failure_of(self.queue.raw(), &record[0]);
        self.verb.finish(Ended::new(record[0], failure, self.op)?)
    }
}

/// Makes a call, and waits for its end.
pub(crate) fn wait<'a, V: Verb + 'a>(verb: V) -> Result<V::Output> {
    Running::begin(Box::new(verb))?.wait()
}

/// A call that has begun, and which nobody waits for yet.
///
/// Dropping it cancels the call, and waits until that uses no memory any more: milliseconds. It
/// holds a descriptor while it is under way. Programs with very many calls at a time use
/// [`Bucket::get_many`](crate::Bucket::get_many), or futures.
pub struct Operation<T>(Running<'static, T>);

impl<T> Operation<T> {
    pub(crate) fn begin<V: Verb<Output = T> + 'static>(verb: V) -> Result<Operation<T>> {
        Running::begin(Box::new(verb)).map(Operation)
    }

    /// Waits for the end and gives the result.
    pub fn wait(self) -> Result<T> {
        self.0.wait()
    }

    /// Whether it has ended, waiting for it at most so long.
    pub fn ended_within(&self, limit: Duration) -> Result<bool> {
        let limit = i64::try_from(limit.as_nanos()).unwrap_or(i64::MAX);
        // SAFETY: the operation is ours.
        let waited = ffi::call(|error| unsafe {
            sys::dataflux_operation_wait(self.0.op.raw(), limit, error)
        });
        match waited {
            Ok(()) => Ok(true),
            Err(why) if why.code() == Code::DeadlineExceeded => Ok(false),
            Err(why) => Err(why),
        }
    }

    /// Asks for an early end, usually with [`Code::Cancelled`].
    pub fn cancel(&self) {
        // SAFETY: the operation is ours; this is for any thread.
        unsafe { sys::dataflux_operation_cancel(self.0.op.raw()) }
    }
}

/// verb!(Name => Output): how a verb is made. With a lifetime (`Name<'a>`) only `wait()` may
/// borrow.
macro_rules! verb {
    ($name:ident => $output:ty) => {
        impl $name {
            $crate::call::verb!(@wait $output);
            $crate::call::verb!(@begin $output);
        }
        $crate::call::verb!(@future $name => $output);
    };
    ($name:ident<'_> => $output:ty) => {
        impl $name<'_> {
            $crate::call::verb!(@wait $output);
        }
        impl $name<'static> {
            $crate::call::verb!(@begin $output);
        }
        $crate::call::verb!(@future $name<'static> => $output);
    };
    (@wait $output:ty) => {
        /// Makes the call on this thread, and waits for its end.
        pub fn wait(self) -> $crate::Result<$output> {
            $crate::call::wait(self)
        }
    };
    (@begin $output:ty) => {
        /// Begins the call, and waits for nothing.
        pub fn begin(self) -> $crate::Result<$crate::Operation<$output>> {
            $crate::call::Operation::begin(self)
        }
    };
    (@future $name:ty => $output:ty) => {
        #[cfg(feature = "tokio")]
        impl std::future::IntoFuture for $name {
            type Output = $crate::Result<$output>;
            type IntoFuture = $crate::aio::CallFuture<$name>;
            fn into_future(self) -> Self::IntoFuture {
                $crate::aio::CallFuture::new(self)
            }
        }
    };
}
pub(crate) use verb;

type Begin = Box<dyn FnMut(&mut Start) -> Result<()> + Send>;
type Finish<T> = Box<dyn FnMut(Ended) -> Result<T> + Send>;

/// A call that has no options of its own.
#[must_use = "a call is made by wait(), begin() or .await"]
pub struct Call<T> {
    client: Client,
    begin: Begin,
    finish: Finish<T>,
}

impl<T: 'static> Call<T> {
    pub(crate) fn new(
        client: &Client,
        begin: impl FnMut(&mut Start) -> Result<()> + Send + 'static,
        finish: impl FnMut(Ended) -> Result<T> + Send + 'static,
    ) -> Call<T> {
        Call { client: client.clone(), begin: Box::new(begin), finish: Box::new(finish) }
    }

    verb!(@wait T);
    verb!(@begin T);
}

impl<T> Verb for Call<T> {
    type Output = T;
    fn client(&self) -> &Client {
        &self.client
    }
    fn begin(&mut self, start: &mut Start) -> Result<()> {
        (self.begin)(start)
    }
    fn finish(&mut self, ended: Ended) -> Result<T> {
        (self.finish)(ended)
    }
}

#[cfg(feature = "tokio")]
impl<T: Send + 'static> std::future::IntoFuture for Call<T> {
    type Output = Result<T>;
    type IntoFuture = crate::aio::CallFuture<Call<T>>;
    fn into_future(self) -> Self::IntoFuture {
        crate::aio::CallFuture::new(self)
    }
}

/// What a call over many names or many bytes says at its end.
#[derive(Clone, Debug)]
pub struct Report {
    /// All that it says; dataflux.h describes the members.
    pub json: Json,
    /// Bytes, rows or samples, as the call describes.
    pub size: u64,
    /// Names that have failed.
    pub failed: u64,
}

impl Report {
    pub(crate) fn of(ended: Ended) -> Result<Report> {
        Ok(Report { json: ended.json()?, size: ended.record.size, failed: ended.record.index })
    }
}
