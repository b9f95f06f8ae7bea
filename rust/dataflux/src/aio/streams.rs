//! Streams of batches, each with a queue that the runtime watches.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use tokio::io::unix::AsyncFd;

use super::{Descriptor, aside, watch};
use crate::error::{Code, Error, Result};
use crate::items::Batch;
use crate::listing::{List, ListBatches, Listing};
use crate::many::{Batches, GetMany};
use crate::sys;

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
    /// Begins to read ahead, within the client's memory cap, and gives a stream of batches.
    /// Dropping it ends what is under way.
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
