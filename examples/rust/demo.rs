//! The main job through Rust: list a bucket, read every object with its bytes checked, write a
//! checkpoint, and read it back by many ranges at once. It writes one object, which it removes.
//!
//!     demo BUCKET PREFIX [FOLDER]
//!
//! Credentials are the usual ones, or STORAGE_EMULATOR_HOST names an emulator. With FOLDER every
//! object is compared with the file of its name there. ./dev demo --rust runs it.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use dataflux::{Bucket, Client, Listing};

const PIECE: usize = 4 << 20;
const PIECES: usize = 64;
const RANGES: usize = 32;

fn row(step: &str, objects: usize, bytes: u64, begun: Instant) {
    let (mib, seconds) = (bytes as f64 / 1048576.0, begun.elapsed().as_secs_f64());
    println!(
        "  {step:20} {objects:10} {mib:12.1} {seconds:9.2} {:11.1}",
        mib / seconds
    );
}

fn list(bucket: &Bucket, prefix: &str) -> Result<Listing, Box<dyn Error>> {
    let begun = Instant::now();
    let listing = bucket.list(prefix).keep_markers().wait()?;
    row("list", listing.len(), 0, begun);
    Ok(listing)
}

fn read_all(
    bucket: &Bucket,
    listing: &Listing,
    folder: Option<&Path>,
) -> Result<(), Box<dyn Error>> {
    let (begun, mut bytes) = (Instant::now(), 0);
    let names: Vec<&str> = listing.names().collect();
    for batch in bucket.get_listing(listing).start()? {
        for item in &batch? {
            let (name, content) = (names[item.index as usize], item.bytes()?);
            bytes += content.len() as u64;
            if !item.is_verified() {
                return Err(format!("{name} was not compared").into());
            }
            if let Some(folder) = folder {
                if std::fs::read(folder.join(name))? != content {
                    return Err(format!("{name} is not what its file is").into());
                }
            }
        }
    }
    row("read, all checked", listing.len(), bytes, begun);
    Ok(())
}

fn checkpoint(bucket: &Bucket, name: &str) -> Result<(), Box<dyn Error>> {
    let mut state = 88172645463325252_u64;
    let mut made = Vec::with_capacity(PIECE * PIECES);
    while made.len() < PIECE * PIECES {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        made.extend_from_slice(&state.to_le_bytes());
    }
    let begun = Instant::now();
    let mut writer = bucket.writer(name).size_hint(made.len() as u64).wait()?;
    for piece in made.chunks(PIECE) {
        writer.write_all(piece)?;
    }
    writer.commit().wait()?;
    row("write checkpoint", 1, made.len() as u64, begun);

    let begun = Instant::now();
    let mut restored = vec![0; made.len()];
    let reader = bucket.open(name).wait()?;
    let step = made.len() / RANGES;
    let ranges = restored.chunks_mut(step).enumerate();
    reader.read_ranges(ranges.map(|(number, memory)| ((number * step) as u64, memory)))?;
    row("read checkpoint", 1, made.len() as u64, begun);
    bucket.remove(name).wait()?;
    if restored == made {
        Ok(())
    } else {
        Err("the checkpoint came back changed".into())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (bucket, prefix, folder) = match &arguments[..] {
        [bucket, prefix] => (bucket, prefix, None),
        [bucket, prefix, folder] => (bucket, prefix, Some(Path::new(folder))),
        _ => return Err("usage: demo BUCKET PREFIX [FOLDER]".into()),
    };
    let bucket = Client::new()?.bucket(bucket);
    println!(
        "\n  {:20} {:>10} {:>12} {:>9} {:>11}",
        "step", "objects", "MiB", "seconds", "MiB/s"
    );
    let listing = list(&bucket, prefix)?;
    read_all(&bucket, &listing, folder)?;
    checkpoint(
        &bucket,
        &format!("{prefix}dataflux-demo-{}", std::process::id()),
    )?;
    let by = if folder.is_some() {
        " with the files and by CRC32C"
    } else {
        " by CRC32C"
    };
    println!("\n  every byte read was compared{by}");
    println!("\nAll of it worked. Next: docs/rust.md.");
    Ok(())
}
