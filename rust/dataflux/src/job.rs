//! Processes of a job that share the rate of a bucket.

use std::sync::{Mutex, PoisonError};

use crate::client::{Client, check_version};
use crate::error::Result;
use crate::ffi::{self, Texts, handle};
use crate::sys;

handle!(JobHandle, dataflux_job, dataflux_job_free);

/// The part of one process. Each second or so it is given what the others say of themselves, and
/// limits the rate at which a client starts requests (docs/job.md).
pub struct Job(Mutex<JobHandle>);

impl Job {
    /// The part of a rank of so many processes. Asks nobody.
    pub fn new(rank: u32, processes: u32) -> Result<Job> {
        check_version()?;
        let options = sys::dataflux_job_options { rank, processes, ..Default::default() };
        // SAFETY: the options live during the call.
        let handle = JobHandle::make(|out, error| unsafe {
            sys::dataflux_job_create(&options, out, error)
        })?;
        Ok(Job(Mutex::new(handle)))
    }

    /// A beat: takes what the others have said, in any order, and gives what they are to see.
    pub fn beat<'a>(
        &self,
        client: &Client,
        records: impl IntoIterator<Item = &'a str>,
    ) -> Result<String> {
        let mut texts = Texts::default();
        let records = texts.add_all(records)?;
        let job = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the texts live during the call, and the lock keeps other beats away.
        ffi::given_text(|out, error| unsafe {
            let (list, count) = (records.as_ptr(), records.len());
            sys::dataflux_job_beat(job.raw(), client.raw(), list, count, out, error)
        })
    }

    /// How many processes live, with this one, and the lowest rank of them.
    pub fn living(&self) -> Result<(u32, u32)> {
        let job = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut count, mut lowest) = (0, 0);
        // SAFETY: the handle is ours.
        ffi::call(|error| unsafe {
            sys::dataflux_job_living(job.raw(), &raw mut count, &raw mut lowest, error)
        })?;
        Ok((count, lowest))
    }

    /// The client's rates are limited no more.
    pub fn leave(&self, client: &Client) -> Result<()> {
        let job = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: both handles are alive, and the lock keeps beats away.
        ffi::call(|error| unsafe { sys::dataflux_job_leave(job.raw(), client.raw(), error) })
    }
}
