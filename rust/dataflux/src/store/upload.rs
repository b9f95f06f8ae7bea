//! Uploads by parts.

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use object_store::{MultipartUpload, PutPayload, PutResult, UploadPart};
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot};

use super::{StoreResult, generic, put_result};
use crate::aio::AsyncWriter;

/// What the task of an upload is asked for.
enum Asked {
    Part(PutPayload, oneshot::Sender<StoreResult<()>>),
    Complete(oneshot::Sender<StoreResult<PutResult>>),
    Abort(oneshot::Sender<StoreResult<()>>),
}

/// An upload by parts. Parts are written in the order in which they were given, whoever waits for
/// which first: so a task has the writer. Dropping the upload ends the task, which leaves nothing.
#[derive(Debug)]
pub(crate) struct Upload {
    asked: mpsc::UnboundedSender<Asked>,
}

impl Upload {
    pub(crate) fn of(writer: AsyncWriter) -> Upload {
        let (asked, requests) = mpsc::unbounded_channel();
        tokio::spawn(write_parts(writer, requests));
        Upload { asked }
    }

    /// Asks the task, at once; what comes of it is a future.
    fn ask<T: Send + 'static>(
        &self,
        make: impl FnOnce(oneshot::Sender<StoreResult<T>>) -> Asked,
    ) -> BoxFuture<'static, StoreResult<T>> {
        let (answer, told) = oneshot::channel();
        let asked = self.asked.send(make(answer));
        Box::pin(async move {
            asked.map_err(|_| generic("the upload has ended"))?;
            told.await.map_err(|_| generic("the upload was completed or aborted before"))?
        })
    }
}

async fn write_parts(writer: AsyncWriter, mut requests: mpsc::UnboundedReceiver<Asked>) {
    let mut writer = Some(writer);
    while let Some(asked) = requests.recv().await {
        match (asked, writer.take()) {
            (Asked::Part(payload, answer), Some(mut open)) => {
                let mut written = Ok(());
                for piece in &payload {
                    if written.is_ok() {
                        written = open.write_all(piece).await.map_err(generic);
                    }
                }
                writer = Some(open); // after a failure every call fails
                let _ = answer.send(written); // nobody may wait for it
            }
            (Asked::Complete(answer), Some(open)) => {
                let made = open.commit().await.map_err(generic);
                let _ = answer.send(made.map(|written| put_result(&written.object)));
            }
            (Asked::Abort(answer), Some(open)) => {
                let _ = answer.send(open.abort().await.map_err(generic));
            }
            (_, None) => (), // the answer is dropped, which says so
        }
    }
}

#[async_trait]
impl MultipartUpload for Upload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.ask(|answer| Asked::Part(data, answer))
    }

    async fn complete(&mut self) -> StoreResult<PutResult> {
        self.ask(Asked::Complete).await
    }

    async fn abort(&mut self) -> StoreResult<()> {
        self.ask(Asked::Abort).await
    }
}
