//! get_many by the crate dataflux, as languages.cpp does it by C++ and by the C ABI: what Rust pays
//! for the boundary. Cases: many16k-rust, many100k-rust. Arguments and the line that it prints are
//! those of measure.hpp.

use std::collections::HashMap;
use std::error::Error;
use std::iter::repeat_n;
use std::time::Instant;

use dataflux::{Bucket, Client};

const CPU_OF_PROCESS: i32 = 2;

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
}

/// Seconds of all threads.
fn cpu_now() -> f64 {
    let mut time = [0; 2];
    // SAFETY: on 64-bit Linux a timespec is two such numbers.
    unsafe { clock_gettime(CPU_OF_PROCESS, &mut time) };
    time[0] as f64 + time[1] as f64 * 1e-9
}

/// Gives the bytes that were read.
fn many(bucket: &Bucket, object: &str, count: usize) -> Result<u64, Box<dyn Error>> {
    let mut bytes = 0;
    for batch in bucket.get_many(repeat_n(object, count)).start()? {
        for item in &batch? {
            bytes += item.bytes()?.len() as u64;
            if !item.is_verified() {
                return Err("an item was not compared".into());
            }
        }
    }
    Ok(bytes)
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let given: HashMap<_, _> = words.chunks_exact(2).map(|pair| (&pair[0][2..], pair[1].as_str())).collect();
    let endpoint = given["endpoint"];
    let count: usize = given["count"].parse()?;
    let object = match given["case"] {
        "many16k-rust" => "small/n01440764/n01440764_10026.JPEG",
        "many100k-rust" => "medium/n01440764/n01440764_10026.JPEG",
        other => return Err(format!("unknown case: {other}").into()),
    };
    let client = Client::builder().emulator(endpoint).max_concurrency(given["concurrency"].parse()?);
    let client = if endpoint.starts_with("https") { client.ca_file(given["ca"]) } else { client };
    let bucket = client.build()?.bucket("bench");
    many(&bucket, object, count / 8)?;
    let (wall, cpu) = (Instant::now(), cpu_now());
    let bytes = many(&bucket, object, count)?;
    println!(
        "{{\"requests\": {count}, \"bytes\": {bytes}, \"items\": 0, \"wall_s\": {:.6}, \"cpu_s\": {:.6}, \
         \"allocations\": -1, \"max_rss\": 0}}",
        wall.elapsed().as_secs_f64(),
        cpu_now() - cpu
    );
    Ok(())
}
