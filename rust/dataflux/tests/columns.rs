//! Listings in arrow-rs.
#![cfg(feature = "arrow")]

mod common;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type, UInt64Type};
use common::{Emulator, fill};

#[test]
fn a_listing_becomes_record_batches() {
    let emulator = Emulator::new();
    let bucket = emulator.bucket();
    let names = fill(&bucket, 20);
    let listing = bucket.list("").wait().unwrap();
    let rows: Vec<_> = listing.iter().map(|row| (row.generation, row.crc32c)).collect();
    let batches = listing.record_batches().unwrap();
    drop(listing);
    let mut at = 0;
    for batch in batches {
        let batch = batch.unwrap();
        let name = batch.column_by_name("name").unwrap().as_string::<i32>();
        let size = batch.column_by_name("size").unwrap().as_primitive::<UInt64Type>();
        let generation = batch.column_by_name("generation").unwrap().as_primitive::<Int64Type>();
        let crc32c = batch.column_by_name("crc32c").unwrap().as_primitive::<UInt32Type>();
        for row in 0..batch.num_rows() {
            assert_eq!((name.value(row), size.value(row)), (names[at].as_str(), at as u64));
            assert_eq!((generation.value(row), Some(crc32c.value(row))), rows[at]);
            at += 1;
        }
    }
    assert_eq!(at, 20);
}
