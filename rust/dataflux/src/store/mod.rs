//! A bucket as an `object_store::ObjectStore`, for DataFusion, Delta, Lance and the like.

use std::fmt;
use std::ops::Range;

use crate::bucket::Bucket;
use crate::error::{Code, Error};
use crate::items::OwnedItem;
use crate::object::Object;
use crate::requests::Request;
use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt, try_join};
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, CopyMode, CopyOptions, GetOptions, GetRange, GetResult,
    GetResultPayload, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, RenameTargetMode,
};

mod upload;

use upload::Upload;

type StoreResult<T> = object_store::Result<T>;

const NAME: &str = "dataflux";
/// What one request reads at most, and what a range may have to be read before its object is known.
const PIECE: u64 = 8 << 20;
/// Removals in flight.
const REMOVALS: usize = 64;

/// A bucket as an [`ObjectStore`].
///
/// The `version` of an object is its generation: reads can be of one, and conditional writes need
/// it. Reads of an object are all of one generation. A listing of the library has no times: on GCS
/// `last_modified` is the time that is in the generation, and elsewhere 1970. An upload by parts
/// fails if somebody else wrote the object meanwhile.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use object_store::{ObjectStoreExt, path::Path};
/// let store = dataflux::Store::new(dataflux::Client::new()?.bucket("training"));
/// let bytes = store.get(&Path::from("a/b")).await?.bytes().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Store {
    bucket: Bucket,
}

impl Store {
    /// The store of a bucket.
    pub fn new(bucket: Bucket) -> Store {
        Store { bucket }
    }

    /// The bucket.
    pub fn bucket(&self) -> &Bucket {
        &self.bucket
    }

    async fn stat(&self, location: &Path, generation: i64) -> StoreResult<Object> {
        let stat = self.bucket.stat(location.as_ref()).generation(generation);
        stat.await.map_err(of(location))
    }

    async fn bytes(
        &self,
        location: &Path,
        generation: i64,
        range: Range<u64>,
    ) -> StoreResult<(i64, Bytes)> {
        if range.is_empty() {
            return Ok((generation, Bytes::new()));
        }
        let requests = [Request::new(location.to_string()).range(range).generation(generation)];
        let item = self.items(location, requests.into()).next().await;
        let item =
            item.ok_or_else(|| of(location)(Error::new(Code::Internal, "no item came")))??;
        Ok((item.generation, Bytes::from(item.data.map_err(of(location))?)))
    }

    /// Reads through one window, in this order.
    fn items(
        &self,
        location: &Path,
        requests: Vec<Request<'static>>,
    ) -> BoxStream<'static, StoreResult<OwnedItem>> {
        let location = location.clone();
        let batches = match self.bucket.get_many(requests).stop_at_failure().stream() {
            Ok(batches) => batches,
            Err(why) => return stream::once(async move { Err(of(&location)(why)) }).boxed(),
        };
        let batches = batches.map_ok(|batch| {
            stream::iter(batch.into_items().map(Ok::<_, Error>).collect::<Vec<_>>())
        });
        batches.try_flatten().map_err(move |why| of(&location)(why)).boxed()
    }

    /// The bytes of a range as a stream; the pieces are read ahead.
    fn payload(&self, location: &Path, generation: i64, range: Range<u64>) -> GetResultPayload {
        let pieces = range.clone().step_by(PIECE as usize).map(|begin| {
            let piece = begin..range.end.min(begin + PIECE);
            Request::new(location.to_string()).range(piece).generation(generation)
        });
        let at = location.clone();
        let items = self.items(location, pieces.collect());
        let bytes = items.and_then(move |item| {
            futures_util::future::ready(item.data.map(Bytes::from).map_err(of(&at)))
        });
        GetResultPayload::Stream(bytes.boxed())
    }

    fn listed(&self, prefix: Option<&Path>) -> crate::List {
        let folder = prefix.map(Path::as_ref).filter(|name| !name.is_empty());
        self.bucket.list(folder.map_or(String::new(), |name| format!("{name}/")))
    }

    fn metas(list: crate::List) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        let batches = match list.stream() {
            Ok(batches) => batches,
            Err(why) => return stream::once(async move { Err(of(&Path::default())(why)) }).boxed(),
        };
        let batches = batches.map_err(|why| of(&Path::default())(why));
        let rows =
            batches.map_ok(|batch| stream::iter(batch.iter().map(meta_of_row).collect::<Vec<_>>()));
        rows.try_flatten().boxed()
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.bucket.name()).finish()
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dataflux({})", self.bucket.name())
    }
}

/// A failure at a place, in the words of object_store.
fn of(location: &Path) -> impl Fn(Error) -> object_store::Error + use<> {
    let path = location.to_string();
    move |why| {
        let (path, code) = (path.clone(), why.code());
        let source = Box::new(why);
        match code {
            Code::NotFound => object_store::Error::NotFound { path, source },
            Code::AlreadyExists => object_store::Error::AlreadyExists { path, source },
            Code::FailedPrecondition => object_store::Error::Precondition { path, source },
            Code::PermissionDenied => object_store::Error::PermissionDenied { path, source },
            Code::Unauthenticated => object_store::Error::Unauthenticated { path, source },
            Code::Unimplemented => object_store::Error::NotSupported { source },
            _ => object_store::Error::Generic { store: NAME, source },
        }
    }
}

fn generic(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> object_store::Error {
    object_store::Error::Generic { store: NAME, source: why.into() }
}

/// Generations of GCS are microseconds since 1970; those of others are no times.
fn time_in(generation: i64) -> DateTime<Utc> {
    const SOME_OF_2010: i64 = 1_262_304_000_000_000;
    const SOME_OF_2100: i64 = 4_102_444_800_000_000;
    let time = Some(generation).filter(|time| (SOME_OF_2010..SOME_OF_2100).contains(time));
    time.and_then(DateTime::from_timestamp_micros).unwrap_or(DateTime::UNIX_EPOCH)
}

fn meta_of_row(row: crate::Row<'_>) -> StoreResult<ObjectMeta> {
    Ok(ObjectMeta {
        location: Path::parse(row.name)?,
        last_modified: time_in(row.generation),
        size: row.size,
        e_tag: None,
        version: Some(row.generation.to_string()),
    })
}

fn meta_of(location: &Path, object: &Object) -> ObjectMeta {
    let time = object.updated().and_then(|time| DateTime::parse_from_rfc3339(time).ok());
    ObjectMeta {
        location: location.clone(),
        last_modified: time.map_or_else(|| time_in(object.generation()), |time| time.to_utc()),
        size: object.size(),
        e_tag: object.etag().map(str::to_owned),
        version: Some(object.generation().to_string()),
    }
}

fn put_result(object: &Object) -> PutResult {
    PutResult {
        e_tag: object.etag().map(str::to_owned),
        version: Some(object.generation().to_string()),
        extensions: Default::default(),
    }
}

fn attributes_of(object: &Object) -> Attributes {
    let named = [
        (Attribute::ContentType, "contentType"),
        (Attribute::ContentEncoding, "contentEncoding"),
        (Attribute::ContentDisposition, "contentDisposition"),
        (Attribute::ContentLanguage, "contentLanguage"),
        (Attribute::CacheControl, "cacheControl"),
    ];
    let mut all = Attributes::new();
    for (attribute, name) in named {
        if let Some(value) = object.json().get(name).as_str() {
            all.insert(attribute, value.to_owned().into());
        }
    }
    for (name, value) in object.metadata() {
        all.insert(Attribute::Metadata(name.to_owned().into()), value.to_owned().into());
    }
    all
}

fn own_attributes(given: &Attributes) -> StoreResult<crate::Attributes> {
    let mut own = crate::Attributes::new();
    for (attribute, value) in given {
        let value = value.to_string();
        own = match attribute {
            Attribute::ContentType => own.content_type(value),
            Attribute::ContentEncoding => own.content_encoding(value),
            Attribute::ContentDisposition => own.content_disposition(value),
            Attribute::ContentLanguage => own.content_language(value),
            Attribute::CacheControl => own.cache_control(value),
            Attribute::StorageClass => own.storage_class(value),
            Attribute::Metadata(name) => own.metadata(name.to_string(), value),
            other => {
                let why = format!("dataflux writes no attribute {other:?}");
                return Err(object_store::Error::NotSupported { source: why.into() });
            }
        };
    }
    Ok(own)
}

fn version_of(text: &str) -> StoreResult<i64> {
    text.parse().map_err(|_| generic(format!("'{text}' is no version of a dataflux store")))
}

#[async_trait]
impl ObjectStore for Store {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> StoreResult<PutResult> {
        let put = self.bucket.put(location.as_ref(), Bytes::from(payload));
        let put = put.attributes(own_attributes(&options.attributes)?);
        let put = match options.mode {
            PutMode::Overwrite => put,
            PutMode::Create => put.if_generation_match(0),
            PutMode::Update(version) => {
                let version = version.version.ok_or_else(|| object_store::Error::NotSupported {
                    source: "an update of a dataflux store needs a version, not an ETag".into(),
                })?;
                put.if_generation_match(version_of(&version)?)
            }
        };
        put.await.map(|made| put_result(&made)).map_err(of(location))
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> StoreResult<Box<dyn MultipartUpload>> {
        let open = self.bucket.writer(location.as_ref());
        let open = open.attributes(own_attributes(&options.attributes)?);
        let writer = open.await.map_err(of(location))?;
        Ok(Box::new(Upload::of(writer.into_async())))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> StoreResult<GetResult> {
        let asked = options.version.as_deref().map_or(Ok(0), version_of)?;
        let first = match &options.range {
            Some(GetRange::Bounded(range)) if !options.head => range.clone(),
            _ => 0..0,
        };
        // A short range is read while the object is asked for, not behind that.
        let first = if range_length(&first) <= PIECE { first } else { 0..0 };
        let (object, early) = if first.is_empty() {
            (self.stat(location, asked).await?, None)
        } else {
            let read = async { Ok(self.bytes(location, asked, first.clone()).await.ok()) };
            try_join!(self.stat(location, asked), read)?
        };
        let meta = meta_of(location, &object);
        options.check_preconditions(&meta)?;
        let range = match &options.range {
            Some(range) => range.as_range(meta.size).map_err(generic)?,
            None => 0..meta.size,
        };
        let generation = object.generation();
        let early = early.filter(|(read, _)| *read == generation).map(|(_, bytes)| bytes);
        let payload = match early {
            _ if options.head => GetResultPayload::Stream(stream::empty().boxed()),
            Some(bytes) => GetResultPayload::Stream(stream::once(async { Ok(bytes) }).boxed()),
            None => self.payload(location, generation, range.clone()),
        };
        let attributes = attributes_of(&object);
        Ok(GetResult { payload, meta, range, attributes, extensions: Default::default() })
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> StoreResult<Vec<Bytes>> {
        if ranges.is_empty() {
            return Ok(Vec::new());
        }
        // One reader, so that all bytes are of one generation; it joins what lies close together.
        let reader = self.bucket.open(location.as_ref()).await.map_err(of(location))?;
        let size = reader.size();
        let mut pairs = Vec::with_capacity(ranges.len());
        for range in ranges {
            let range = GetRange::Bounded(range.clone()).as_range(size).map_err(generic)?;
            pairs.push((range.start, range_length(&range) as usize));
        }
        let came = reader.get_ranges(pairs).await.map_err(of(location))?;
        Ok(came.into_iter().map(Bytes::from).collect())
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, StoreResult<Path>>,
    ) -> BoxStream<'static, StoreResult<Path>> {
        let bucket = self.bucket.clone();
        let removals = locations.map(move |location| {
            let bucket = bucket.clone();
            async move {
                let location = location?;
                bucket.remove(location.as_ref()).await.map_err(of(&location))?;
                Ok(location)
            }
        });
        removals.buffered(REMOVALS).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        Store::metas(self.listed(prefix))
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        let offset = offset.clone();
        let list = self.listed(prefix).start_offset(offset.as_ref());
        let behind = move |meta: &ObjectMeta| futures_util::future::ready(meta.location > offset);
        Store::metas(list).try_filter(behind).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> StoreResult<ListResult> {
        let at = prefix.cloned().unwrap_or_default();
        let listing = self.listed(prefix).delimiter("/").await.map_err(of(&at))?;
        let folders = listing.prefixes().map_err(of(&at))?;
        let folders = folders.iter().map(|folder| Ok(Path::parse(folder)?));
        Ok(ListResult {
            common_prefixes: folders.collect::<StoreResult<_>>()?,
            objects: listing.iter().map(meta_of_row).collect::<StoreResult<_>>()?,
            extensions: Default::default(),
        })
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> StoreResult<()> {
        let copy = self.bucket.copy(from.as_ref(), &self.bucket, to.as_ref());
        let (copy, at) = match options.mode {
            CopyMode::Overwrite => (copy, from),
            CopyMode::Create => (copy.if_generation_match(0), to),
        };
        copy.await.map(|_| ()).map_err(of(at))
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> StoreResult<()> {
        let rename = self.bucket.rename(from.as_ref(), to.as_ref());
        let (rename, mode) = match options.target_mode {
            RenameTargetMode::Overwrite => (rename, CopyMode::Overwrite),
            RenameTargetMode::Create => (rename.if_generation_match(0), CopyMode::Create),
        };
        match rename.await {
            Err(why) if why.code() == Code::Unimplemented => {
                let copy = CopyOptions { mode, extensions: options.extensions };
                self.copy_opts(from, to, copy).await?;
                self.bucket.remove(from.as_ref()).await.map_err(of(from))
            }
            Err(why) => Err(of(if mode == CopyMode::Create { to } else { from })(why)),
            Ok(_) => Ok(()),
        }
    }
}

fn range_length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}
