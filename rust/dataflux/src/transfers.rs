//! Files, folders and prefixes as a whole.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::bucket::Bucket;
use crate::call::{Call, Report, Start};
use crate::ffi::{Texts, nanoseconds};
use crate::sys;

/// How a folder or a file is copied.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopyPlan {
    /// What an earlier call has left is gone on with.
    pub resume: bool,
    /// Nothing is changed; the report says what would be. Of folders.
    pub dry_run: bool,
    /// In the end, what only the target has is removed. Of folders.
    pub delete_extra: bool,
    /// The first name that fails ends the call. Of folders.
    pub stop_at_failure: bool,
    /// The time limit of the whole call.
    pub timeout: Option<Duration>,
}

type OfFolders = unsafe extern "C" fn(
    *mut sys::dataflux_client,
    *const sys::dataflux_folder_options,
    *mut sys::dataflux_queue,
    u64,
    *mut *mut sys::dataflux_operation,
    *mut *mut sys::dataflux_error,
) -> sys::dataflux_status;

impl Bucket {
    /// Reads an object into a file by parallel ranges. The file gets its name when it is complete
    /// and compared.
    pub fn download_file(
        &self,
        object: impl Into<String>,
        path: impl AsRef<Path>,
        plan: CopyPlan,
    ) -> Call<Report> {
        let (bucket, object, path) = (self.clone(), object.into(), path.as_ref().to_owned());
        let begin = move |start: &mut Start| {
            let mut texts = Texts::default();
            let options = sys::dataflux_download_file_options {
                bucket: texts.add(&bucket.name)?,
                object: texts.add(&object)?,
                path: texts.add_path(&path)?,
                resume: plan.resume.into(),
                timeout_ns: nanoseconds(plan.timeout)?,
                ..Default::default()
            };
            // SAFETY: the options live during the call.
            start.with(|queue, tag, out, error| unsafe {
                let client = bucket.client.raw();
                sys::dataflux_download_file(client, &options, queue, tag, out, error)
            })
        };
        Call::new(&self.client, begin, Report::of)
    }

    /// Writes a file as an object, which appears whole and compared, or not at all.
    pub fn upload_file(
        &self,
        path: impl AsRef<Path>,
        object: impl Into<String>,
        plan: CopyPlan,
    ) -> Call<Report> {
        let (bucket, object, path) = (self.clone(), object.into(), path.as_ref().to_owned());
        let begin = move |start: &mut Start| {
            let mut texts = Texts::default();
            let options = sys::dataflux_upload_file_options {
                bucket: texts.add(&bucket.name)?,
                object: texts.add(&object)?,
                path: texts.add_path(&path)?,
                resume: plan.resume.into(),
                timeout_ns: nanoseconds(plan.timeout)?,
                ..Default::default()
            };
            // SAFETY: the options live during the call.
            start.with(|queue, tag, out, error| unsafe {
                let client = bucket.client.raw();
                sys::dataflux_upload_file(client, &options, queue, tag, out, error)
            })
        };
        Call::new(&self.client, begin, Report::of)
    }

    /// Copies the files below a folder into objects below a prefix. Failed names are in the report.
    pub fn upload_folder(
        &self,
        folder: impl AsRef<Path>,
        prefix: impl Into<String>,
        plan: CopyPlan,
    ) -> Call<Report> {
        self.folder(folder.as_ref().to_owned(), prefix.into(), plan, sys::dataflux_upload_folder)
    }

    /// Copies the objects below a prefix into files below a folder. Failed names are in the report.
    pub fn download_folder(
        &self,
        prefix: impl Into<String>,
        folder: impl AsRef<Path>,
        plan: CopyPlan,
    ) -> Call<Report> {
        self.folder(folder.as_ref().to_owned(), prefix.into(), plan, sys::dataflux_download_folder)
    }

    fn folder(
        &self,
        path: PathBuf,
        prefix: String,
        plan: CopyPlan,
        function: OfFolders,
    ) -> Call<Report> {
        let bucket = self.clone();
        let begin = move |start: &mut Start| {
            let mut texts = Texts::default();
            let stop = sys::DATAFLUX_ON_ERROR_STOP;
            let options = sys::dataflux_folder_options {
                path: texts.add_path(&path)?,
                bucket: texts.add(&bucket.name)?,
                prefix: texts.add(&prefix)?,
                resume: plan.resume.into(),
                dry_run: plan.dry_run.into(),
                delete_extra: plan.delete_extra.into(),
                on_error: if plan.stop_at_failure { stop } else { 0 },
                timeout_ns: nanoseconds(plan.timeout)?,
                ..Default::default()
            };
            // SAFETY: the options live during the call.
            start.with(|queue, tag, out, error| unsafe {
                function(bucket.client.raw(), &options, queue, tag, out, error)
            })
        };
        Call::new(&self.client, begin, Report::of)
    }

    /// Removes all objects whose names begin with a prefix: "tmp" is "tmpfoo", too, and "" is the
    /// whole bucket. Newer objects than those that were listed stay. Failed names are in the
    /// report.
    pub fn remove_prefix(&self, prefix: impl Into<String>, dry_run: bool) -> Call<Report> {
        let (bucket, prefix) = (self.clone(), prefix.into());
        let begin = move |start: &mut Start| {
            let mut texts = Texts::default();
            let options = sys::dataflux_remove_prefix_options {
                bucket: texts.add(&bucket.name)?,
                prefix: texts.add(&prefix)?,
                dry_run: dry_run.into(),
                ..Default::default()
            };
            // SAFETY: the options live during the call.
            start.with(|queue, tag, out, error| unsafe {
                let client = bucket.client.raw();
                sys::dataflux_remove_prefix(client, &options, queue, tag, out, error)
            })
        };
        Call::new(&self.client, begin, Report::of)
    }
}
