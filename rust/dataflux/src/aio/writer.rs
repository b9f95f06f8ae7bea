//! A writer for tasks.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;

use super::{CallFuture, Hub, aside};
use crate::error::{Code, Error, Result};
use crate::ffi;
use crate::sys;
use crate::writer::{Commit, Writer, Written};

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
