//! The order of training, saved listings, shards, files and folders, and the cache.

mod common;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use common::{BUCKET, Emulator, fill, pattern};
use dataflux::{
    Cache, CacheLimits, Client, Code, CopyPlan, Equalize, Exhausted, Job, LeftoverPlan, Mixer,
    Sampler, ShardIndex, Shuffle, Stage,
};

/// A folder that goes with this.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("dataflux-rust-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn ranks_share_an_epoch() {
    let of = |rank| Sampler::new(1000).seed(7).epoch(3).ranks(rank, 4);
    let mut all = Vec::new();
    for rank in 0..4 {
        assert_eq!(of(rank).len().unwrap(), 250);
        let rows = of(rank).rows(0..250).unwrap();
        assert_eq!(of(rank).iter_from(10).unwrap().collect::<Vec<_>>(), rows[10..]);
        all.extend(rows);
    }
    all.sort_unstable();
    assert_eq!(all, (0..1000).collect::<Vec<_>>());
    assert_eq!(of(0).rows(0..251).unwrap_err().code(), Code::OutOfRange);
    assert_eq!(of(0).rows(0..u64::MAX / 8).unwrap_err().code(), Code::ResourceExhausted);
    assert_eq!(of(4).len().unwrap_err().code(), Code::InvalidArgument);
    let plain = Sampler::new(10).shuffle(Shuffle::None).ranks(2, 3);
    assert_eq!(plain.rows(0..3).unwrap(), [2, 5, 8]);
    assert_eq!(plain.equalize(Equalize::Pad).rows(3..4).unwrap(), [1]);
    let blocks = Sampler::new(10_000).shuffle(Shuffle::Window).block(10).window(4);
    assert_eq!(blocks.window_end(5).unwrap(), 40);
}

#[test]
fn a_mix_counts_exactly() {
    let mixer = Mixer::new(&[(1000, 3), (500, 1)], Exhausted::Restart).unwrap();
    assert_eq!(mixer.end().unwrap(), None);
    assert_eq!(mixer.counts(4000).unwrap(), [3000, 1000]);
    let draws = mixer.draws(0, 1, 400).unwrap();
    assert_eq!(draws.iter().filter(|draw| draw.source == 1).count(), 100);
    assert_eq!(mixer.draws(3, 4, 1).unwrap()[0], draws[3]);
    let short = Mixer::new(&[(3, 1), (3, 1)], Exhausted::Stop).unwrap();
    assert_eq!(short.end().unwrap(), Some(6));
    assert_eq!(short.draws(4, 1, 10).unwrap().len(), 2);
    let stage = |parts: &[u32]| Stage { from: 0, parts: parts.to_vec() };
    let wrong = Mixer::with_stages(&[3, 3], &[stage(&[1])], None, Exhausted::Stop);
    assert_eq!(wrong.err().unwrap().code(), Code::InvalidArgument);
}

#[test]
fn rows_arrive_in_their_places() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    fill(&bucket, 50);
    let listing = bucket.list("o/").wait().unwrap();
    let mut batches = bucket.get_batches(Some(&listing)).unwrap();
    assert_eq!(batches.wait().unwrap_err().code(), Code::FailedPrecondition);
    for _ in 0..3 {
        batches.push_rows(&[7, 49, 0, 20], vec![0xFF; 4 * 49]).unwrap();
    }
    batches.push_rows(&[7, 49], vec![0; 2 * 40]).unwrap();
    assert_eq!(batches.pending(), 4);
    for number in 0..3 {
        let filled = batches.wait().unwrap();
        assert_eq!((filled.number, filled.verified, filled.failures.len()), (number, true, 0));
        assert_eq!(*filled.sizes, [7, 49, 0, 20]);
        assert_eq!(filled.memory[..7], pattern(7));
        assert_eq!(filled.memory[49..98], pattern(49));
        assert!(filled.memory[98..147].iter().all(|&byte| byte == 0xFF));
    }
    let filled = batches.wait().unwrap();
    assert_eq!((filled.failures[0].0, filled.failures[0].1.code()), (1, Code::OutOfRange));
    assert_eq!(filled.memory[..7], pattern(7));
    batches.push_rows(&[50], vec![0; 9]).unwrap();
    assert_eq!(batches.wait().unwrap().failures[0].1.code(), Code::OutOfRange);
    batches.push_rows(&[49], vec![0; 49]).unwrap();
    drop(batches);
}

#[test]
fn processes_list_together_and_share_a_rate() {
    let emulator = Emulator::new();
    let (bucket, folder) = (emulator.bucket(), Folder::new("shared"));
    fill(&bucket, 30);
    let path = folder.0.join("manifest");
    let list = bucket.list("o/");
    let report = list.clone().shared(&bucket, "board", Some(&path)).wait().unwrap();
    assert_eq!(report.json.get("objects").as_u64(), Some(30));
    list.shared(&bucket, "board", None).wait().unwrap();
    assert_eq!(bucket.client().open_manifest(&path).wait().unwrap().len(), 30);

    let jobs = [Job::new(0, 2).unwrap(), Job::new(1, 2).unwrap()];
    let first = jobs[0].beat(bucket.client(), []).unwrap();
    jobs[1].beat(bucket.client(), [first.as_str()]).unwrap();
    assert_eq!(jobs[1].living().unwrap(), (2, 0));
    jobs[1].leave(bucket.client()).unwrap();
    assert_eq!(Job::new(2, 2).err().unwrap().code(), Code::InvalidArgument);
}

#[test]
fn buckets_and_leftovers_are_told() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    let buckets = bucket.client().list_buckets(Some("project"), "").wait().unwrap();
    assert_eq!(buckets.get("items").items()[0].get("name").as_str(), Some(BUCKET));
    let asked = ["storage.objects.get", "storage.objects.create"];
    assert_eq!(bucket.test_permissions(asked).wait().unwrap(), asked);
    let all = LeftoverPlan { older_than: Some(Duration::ZERO), ..Default::default() };
    let report = bucket.find_leftovers("", all).wait().unwrap();
    assert_eq!(report.json.get("stale").as_u64(), Some(0));
    bucket.remove_leftovers("", all).wait().unwrap();
}

#[test]
fn a_manifest_is_a_saved_listing() {
    let emulator = Emulator::new();
    let (bucket, folder) = (emulator.bucket(), Folder::new("manifest"));
    fill(&bucket, 10);
    let listing = bucket.list("o/").wait().unwrap();
    let path = folder.0.join("listing");
    bucket.client().save_manifest(&listing, &path).wait().unwrap();
    bucket.save_manifest(&listing, "saved/listing").wait().unwrap();
    let object = bucket.open_manifest("saved/listing").wait().unwrap();
    assert_eq!((object.len(), object.rows().wait().unwrap().len()), (10, 10));

    let manifest = bucket.client().open_manifest(&path).wait().unwrap();
    assert_eq!(manifest.description().unwrap().get("prefix").as_str(), Some("o/"));
    let some = manifest.some_rows(3, 2).wait().unwrap();
    assert_eq!(some.names().collect::<Vec<_>>(), ["o/003", "o/004"]);
    bucket.put("o/new", "x").wait().unwrap();
    bucket.put("o/003", "x").wait().unwrap();
    bucket.remove("o/000").wait().unwrap();
    let changes = manifest.refresh().wait().unwrap();
    assert_eq!((changes.added(), changes.removed(), changes.unchanged()), (&[9][..], &[0][..], 8));
    assert_eq!(changes.changed().collect::<Vec<_>>(), [(3, 2)]);
    assert_eq!(changes.listing().unwrap().len(), 10);
    let same = listing.compare(&listing).unwrap();
    assert!(same.added().is_empty() && same.unchanged() == 10);
    let missing = bucket.client().open_manifest(folder.0.join("no")).wait().err().unwrap();
    assert_eq!(missing.code(), Code::NotFound);
}

#[test]
fn samples_are_written_indexed_and_read() {
    let emulator = Emulator::new();
    let (bucket, folder) = (emulator.bucket(), Folder::new("shards"));
    let mut writer = bucket.shard_writer("train-%04d.tar").count(10).wait().unwrap();
    for number in 0..25 {
        let (jpg, cls) = (pattern(number * 100), number.to_string());
        writer
            .write(&format!("s/{number:02}"), &[("jpg", jpg.as_slice()), ("cls", cls.as_bytes())])
            .unwrap();
    }
    assert_eq!(writer.write("a.b", &[("x", "y")]).unwrap_err().code(), Code::InvalidArgument);
    let report = writer.finish().unwrap().wait().unwrap();
    assert_eq!((report.size, report.json.get("shards").items().len()), (25, 3));

    let listing = bucket.list("train-").wait().unwrap();
    let path = folder.0.join("train.dfx");
    let report = bucket.index_shards(&listing, &path).wait().unwrap();
    assert_eq!((report.size, report.json.get("taken_over").as_u64()), (25, Some(3)));
    let index = ShardIndex::open(&path).unwrap();
    assert_eq!((index.samples().unwrap(), index.shards().unwrap()), (25, 3));
    assert_eq!(index.bucket().unwrap(), BUCKET);
    assert_eq!(index.find(b"s/17").unwrap(), [17]);
    assert!(index.find(b"none").unwrap().is_empty());

    let numbers = [17, 0, 24, 3];
    for item in bucket.get_samples(&index, numbers).start().unwrap().items().map(Result::unwrap) {
        let number = numbers[item.index as usize];
        let data = item.data.unwrap();
        let sample = index.split(number, &data).unwrap();
        assert_eq!(sample.key, format!("s/{number:02}").as_bytes());
        assert_eq!(sample.field("jpg").unwrap(), pattern(number as usize * 100));
        assert_eq!(sample.field("cls").unwrap(), number.to_string().as_bytes());
        assert!(sample.field("png").is_none() && item.verified);
        assert_eq!(index.split(9, &data).unwrap_err().code(), Code::DataLoss);
    }
    let bad = bucket.get_samples(&index, [25]).start().unwrap().next().unwrap();
    assert_eq!(bad.err().unwrap().code(), Code::OutOfRange);

    let resumed = bucket.shard_writer("train-%04d.tar").count(10).resume().wait().unwrap();
    assert_eq!(resumed.resumed(), 25);
    resumed.abort().wait().unwrap();
    drop(bucket.shard_writer("other-%04d.tar").count(10).wait().unwrap());
    let why = bucket.shard_writer("%06d.tar").wait().err().unwrap();
    assert_eq!(why.code(), Code::InvalidArgument, "neither count nor bytes");
}

#[test]
fn files_and_folders_are_copied() {
    let emulator = Emulator::new();
    let (bucket, folder) = (emulator.bucket(), Folder::new("files"));
    let plan = CopyPlan::default();
    fs::create_dir(folder.0.join("up")).unwrap();
    fs::write(folder.0.join("up/a"), pattern(1000)).unwrap();
    fs::write(folder.0.join("up/b"), pattern(10)).unwrap();
    bucket.upload_file(folder.0.join("up/a"), "single", plan).wait().unwrap();
    let report = bucket.download_file("single", folder.0.join("down"), plan).wait().unwrap();
    assert_eq!(report.json.get("bytes").as_u64(), Some(1000));
    assert_eq!(fs::read(folder.0.join("down")).unwrap(), pattern(1000));

    let dry = CopyPlan { dry_run: true, ..plan };
    bucket.upload_folder(folder.0.join("up"), "many", dry).wait().unwrap();
    assert!(bucket.list("many/").wait().unwrap().is_empty());
    let report = bucket.upload_folder(folder.0.join("up"), "many", plan).wait().unwrap();
    assert_eq!((report.json.get("copied").as_u64(), report.failed), (Some(2), 0));
    bucket.download_folder("many", folder.0.join("back"), plan).wait().unwrap();
    assert_eq!(fs::read(folder.0.join("back/b")).unwrap(), pattern(10));
    let report = bucket.remove_prefix("many/", false).wait().unwrap();
    assert_eq!(report.json.get("objects").as_u64(), Some(2));
    let missing = bucket.download_file("no", folder.0.join("no"), plan).wait().unwrap_err();
    assert_eq!(missing.code(), Code::NotFound);
}

#[test]
fn a_cache_answers_the_second_time() {
    let emulator = Emulator::new();
    let folder = Folder::new("cache");
    let cache = match Cache::open(folder.0.join("kept"), CacheLimits::default()) {
        Ok(cache) => cache,
        Err(why) => panic!("{why}"),
    };
    let client = Client::builder().emulator(&emulator.endpoint).cache(&cache).build().unwrap();
    let bucket = client.bucket(BUCKET);
    bucket.put("x", pattern(100_000)).wait().unwrap();
    let listing = bucket.list("").wait().unwrap();
    for _ in 0..2 {
        for item in bucket.get_listing(&listing).start().unwrap().items() {
            assert_eq!(*item.unwrap().data.unwrap(), pattern(100_000));
        }
        cache.flush().unwrap();
    }
    assert_eq!(cache.counters().unwrap().get("hits").as_u64(), Some(1));
    let why = Cache::open("/proc/none", CacheLimits::default()).err().unwrap();
    assert_ne!(why.code(), Code::Unknown);
}
