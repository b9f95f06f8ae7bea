//! Ends in the middle of work: leaving ENDPOINT NUMBER, whose number says how and when.

use std::io::Write;
use std::time::Duration;

use dataflux::Client;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let number: u64 = arguments[2].parse()?;
    let client = Client::builder().emulator(&arguments[1]).on_event(|_| ()).build()?;
    let bucket = client.bucket("bucket");
    let mut batches = bucket.get_many(["big"; 1000]).start()?;
    let begun: Vec<_> = (0..8).map(|_| bucket.get("big").begin()).collect::<Result<_, _>>()?;
    let mut writer = bucket.writer(format!("written/{number}")).begin()?.wait()?;
    writer.write_all(&[1; 1 << 20])?;
    let taken = batches.next().transpose()?;
    for _ in 0..2 {
        let bucket = bucket.clone();
        std::thread::spawn(move || while bucket.get("big").wait().is_ok() {});
    }
    std::thread::sleep(Duration::from_micros(number * 97 % 5000));
    match number % 4 {
        0 => std::process::exit(0),
        1 => std::mem::forget((taken, begun, batches, writer)),
        2 => drop(client), // of many handles
        _ => (),
    }
    Ok(())
}
