//! The other services: S3, and AIStore.

mod common;

use std::io::{Read, Write};

use common::{BUCKET, Emulator, fill, pattern};
use dataflux::{Bucket, Client, Code, Unfinished, UploadChecksum};

/// What every service does.
fn reads_and_writes(bucket: &Bucket) {
    let names = fill(bucket, 20);
    let listing = bucket.list("o/").wait().unwrap();
    assert_eq!(listing.names().collect::<Vec<_>>(), names);
    let items: Vec<_> = bucket.get_listing(&listing).start().unwrap().items().collect();
    for (number, item) in items.into_iter().enumerate() {
        assert_eq!(*item.unwrap().data.unwrap(), pattern(number));
    }
    assert_eq!(*bucket.get("o/019").range(3..5).wait().unwrap(), pattern(5)[3..]);
    assert_eq!(bucket.stat("no").wait().unwrap_err().code(), Code::NotFound);
    bucket.remove("o/000").wait().unwrap();
    assert_eq!(bucket.list("o/").wait().unwrap().len(), 19);
}

#[test]
fn s3_is_read_and_written() {
    let keys = ["--access-key", "KEY", "--secret-key", "SECRET"];
    let emulator = Emulator::with(&[&["--service", "s3"], &keys[..]].concat());
    let builder = || Client::builder().s3().endpoint(&emulator.endpoint).region("us-east-1");
    let client = builder().access_key("KEY", "SECRET").build().unwrap();
    let bucket = client.bucket(BUCKET);
    reads_and_writes(&bucket);
    let mut writer = bucket.writer("w").wait().unwrap();
    writer.write_all(&pattern(20_000_000)).unwrap();
    assert_eq!(writer.commit().wait().unwrap().object.size(), 20_000_000);
    let mut all = Vec::new();
    bucket.open("w").wait().unwrap().read_to_end(&mut all).unwrap();
    assert_eq!(all, pattern(20_000_000));
    let taken = bucket.put("w", "x").if_generation_match(0).wait().unwrap_err();
    assert_eq!((taken.code(), taken.scheme()), (Code::AlreadyExists, "s3"));
    assert_eq!(bucket.rename("w", "v").wait().unwrap_err().code(), Code::Unimplemented);
    let set = bucket.checkpoint_set("set").unwrap();
    set.begin(Unfinished::Refuse).wait().unwrap();
    let record = set.member("a").wait().unwrap().commit().wait().unwrap();
    set.commit([record]).wait().unwrap();
    assert_eq!(set.open().wait().unwrap().members().count(), 1);

    let wrong = builder().access_key("KEY", "hidden").upload_checksum(UploadChecksum::None);
    let why = wrong.build().unwrap().bucket(BUCKET).get("w").wait().unwrap_err();
    assert_eq!(why.code(), Code::Unauthenticated);
    assert!(!format!("{why} {why:?}").contains("hidden"));
}

#[test]
fn aistore_is_read_and_written() {
    let emulator = Emulator::with(&["--service", "ais"]);
    let client = Client::builder().ais().endpoint(&emulator.endpoint).build().unwrap();
    reads_and_writes(&client.bucket(BUCKET));
}
