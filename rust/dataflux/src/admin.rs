//! Buckets, leftovers, and listings that many processes make together.

use std::path::Path;
use std::ptr;
use std::time::Duration;

use crate::bucket::Bucket;
use crate::call::{Call, Report, Start};
use crate::client::Client;
use crate::ffi::{Texts, nanoseconds};
use crate::json::Json;
use crate::listing::List;
use crate::sys;

impl Client {
    /// All buckets of a project, in order of names: {"items": [...]}. None: the project of the
    /// credentials.
    pub fn list_buckets(&self, project: Option<&str>, prefix: &str) -> Call<Json> {
        let (own, project, prefix) = (self.clone(), project.map(str::to_owned), prefix.to_owned());
        let begin = move |start: &mut Start| {
            let mut texts = Texts::default();
            let options = sys::dataflux_list_buckets_options {
                project: texts.add_if(project.as_deref())?,
                prefix: texts.add(&prefix)?,
                ..Default::default()
            };
            // SAFETY: the options live during the call.
            start.with(|queue, tag, out, error| unsafe {
                sys::dataflux_list_buckets(own.raw(), &options, queue, tag, out, error)
            })
        };
        Call::new(self, begin, |ended| ended.json())
    }
}

/// Which leftovers of killed uploads and reads are meant.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeftoverPlan {
    /// The age from which one is stale; None: composites whose own time has passed, and nothing
    /// else.
    pub older_than: Option<Duration>,
    /// Open uploads and temporary objects of uploads alone.
    pub uploads_only: bool,
}

impl Bucket {
    /// Which of 1 to 100 permissions, such as "storage.objects.create", the account has.
    pub fn test_permissions<S: Into<String>>(
        &self,
        permissions: impl IntoIterator<Item = S>,
    ) -> Call<Vec<String>> {
        let bucket = self.clone();
        let permissions: Vec<String> = permissions.into_iter().map(Into::into).collect();
        let begin = move |start: &mut Start| {
            let mut texts = Texts::default();
            let names = texts.add_all(permissions.iter().map(String::as_str))?;
            let options = sys::dataflux_bucket_options {
                bucket: texts.add(&bucket.name)?,
                ..Default::default()
            };
            // SAFETY: options and names live during the call.
            start.with(|queue, tag, out, error| unsafe {
                let client = bucket.client.raw();
                let (names, count) = (names.as_ptr(), names.len());
                sys::dataflux_test_permissions(
                    client, &options, names, count, queue, tag, out, error,
                )
            })
        };
        Call::new(&self.client, begin, |ended| {
            let json = ended.json()?;
            let names = json.get("permissions").items().iter();
            Ok(names.filter_map(|name| name.as_str().map(str::to_owned)).collect())
        })
    }

    /// Finds what killed uploads and reads have left below a prefix. Removes nothing.
    pub fn find_leftovers(&self, prefix: &str, plan: LeftoverPlan) -> Call<Report> {
        self.leftovers(prefix, plan, false)
    }

    /// Finds them, and removes the stale ones. An upload in progress would fail then: choose an age
    /// that no upload reaches.
    pub fn remove_leftovers(&self, prefix: &str, plan: LeftoverPlan) -> Call<Report> {
        self.leftovers(prefix, plan, true)
    }

    fn leftovers(&self, prefix: &str, plan: LeftoverPlan, remove: bool) -> Call<Report> {
        let (bucket, prefix) = (self.clone(), prefix.to_owned());
        let begin = move |start: &mut Start| {
            let mut texts = Texts::default();
            let uploads = sys::DATAFLUX_LEFTOVERS_UPLOADS;
            let options = sys::dataflux_leftovers_options {
                bucket: texts.add(&bucket.name)?,
                prefix: texts.add(&prefix)?,
                kinds: if plan.uploads_only { uploads } else { 0 },
                older_than_ns: match plan.older_than {
                    Some(Duration::ZERO) => -1, // all are stale
                    age => nanoseconds(age)?,
                },
                ..Default::default()
            };
            // SAFETY: the options live during the call.
            start.with(|queue, tag, out, error| unsafe {
                let client = bucket.client.raw();
                if remove {
                    sys::dataflux_remove_leftovers(client, &options, queue, tag, out, error)
                } else {
                    sys::dataflux_find_leftovers(client, &options, queue, tag, out, error)
                }
            })
        };
        Call::new(&self.client, begin, Report::of)
    }
}

impl List {
    /// Lists together with all processes that call this with the same listing and board, a prefix
    /// that only they write to. Ends when the listing is complete: then `path` is a file with the
    /// whole manifest. None: this process only helps.
    pub fn shared(self, board: &Bucket, prefix: &str, path: Option<&Path>) -> Call<Report> {
        let (board, prefix) = (board.clone(), prefix.to_owned());
        let path = path.map(Path::to_owned);
        let client = self.bucket.client.clone();
        let begin = move |start: &mut Start| {
            let mut texts = Texts::default();
            let (at, below) = (texts.add(&board.name)?, texts.add(&prefix)?);
            let path = path.as_deref().map_or(Ok(ptr::null()), |path| texts.add_path(path))?;
            self.filter.with(&self.bucket.name, |options| {
                // SAFETY: options and texts live during the call.
                start.with(|queue, tag, out, error| unsafe {
                    let client = self.bucket.client.raw();
                    sys::dataflux_list_shared(
                        client, options, at, below, path, 0, queue, tag, out, error,
                    )
                })
            })
        };
        Call::new(&client, begin, Report::of)
    }
}
