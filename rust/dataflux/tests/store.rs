//! object_store's own suite, and what it does not look at.
#![cfg(feature = "object_store")]

mod common;

use common::{BUCKET, Emulator, pattern};
use dataflux::Store;
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{
    Error, GetOptions, GetRange, MultipartUpload, ObjectStore, ObjectStoreExt, integration,
};

/// A bucket that keeps versions, which the suite reads.
fn store(emulator: &Emulator) -> Store {
    emulator.ask("PATCH", &format!("/_emulator/buckets/{BUCKET}"), r#"{"versioning": true}"#);
    Store::new(emulator.bucket())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_suite_of_object_store_passes() {
    let emulator = Emulator::new();
    let store = store(&emulator);
    integration::put_get_delete_list(&store).await;
    integration::list_uses_directories_correctly(&store).await;
    integration::list_with_delimiter(&store).await;
    integration::list_with_offset_exclusivity(&store).await;
    let why = integration::get_nonexistent_object(&store, None).await.unwrap_err();
    assert!(matches!(why, Error::NotFound { .. }), "{why}");
    integration::rename_and_copy(&store).await;
    integration::copy_if_not_exists(&store).await;
    integration::copy_rename_nonexistent_object(&store).await;
    for location in store.list(None).map(|meta| meta.unwrap().location).collect::<Vec<_>>().await {
        store.delete(&location).await.unwrap();
    }
    integration::stream_get(&store).await;
    integration::multipart_race_condition(&store, false).await;
    integration::multipart_out_of_order(&store).await;
    integration::get_opts(&store).await;
    integration::put_opts(&store, true).await;
    integration::put_get_attributes(&store).await;
}

#[tokio::test]
async fn long_objects_come_as_streams() {
    let emulator = Emulator::new();
    let store = store(&emulator);
    let (path, all) = (Path::from("long"), pattern(20_000_000));
    store.put(&path, all.clone().into()).await.unwrap();
    assert_eq!(store.get(&path).await.unwrap().bytes().await.unwrap(), all);
    let ranges = [19_999_999..20_000_001, 0..3, 8_000_000..17_000_000];
    let came = store.get_ranges(&path, &ranges).await.unwrap();
    assert_eq!(came[0], all[19_999_999..]);
    assert_eq!((came[1].as_ref(), came[2].as_ref()), (&all[..3], &all[8_000_000..17_000_000]));
    let behind = store.get_range(&path, 20_000_000..20_000_001).await;
    assert!(matches!(behind, Err(Error::Generic { .. })), "{behind:?}");
    let suffix = GetOptions::new().with_range(Some(GetRange::Suffix(9_000_000)));
    let result = store.get_opts(&path, suffix).await.unwrap();
    assert_eq!(result.bytes().await.unwrap(), all[11_000_000..]);
    let mut stream = store.get(&path).await.unwrap().into_stream();
    assert_eq!(stream.next().await.unwrap().unwrap().len(), 8 << 20);
}

#[tokio::test]
async fn an_upload_is_aborted_dropped_or_completed_once() {
    let emulator = Emulator::new();
    let store = store(&emulator);
    let path = Path::from("parts");
    let mut upload = store.put_multipart(&path).await.unwrap();
    upload.put_part("abc".into()).await.unwrap();
    upload.abort().await.unwrap();
    assert!(upload.complete().await.is_err());
    let mut upload = store.put_multipart(&path).await.unwrap();
    drop(upload.put_part("abc".into()));
    drop(upload);
    assert!(matches!(store.head(&path).await, Err(Error::NotFound { .. })));
    let mut upload = store.put_multipart(&path).await.unwrap();
    drop(upload.put_part("abc".into()));
    let made = upload.complete().await.unwrap();
    let listed = store.list(None).next().await.unwrap().unwrap();
    assert_eq!((listed.size, listed.version), (3, made.version));
    let known = store.head(&path).await.unwrap();
    assert!((known.last_modified - listed.last_modified).num_seconds().abs() < 60);
}
