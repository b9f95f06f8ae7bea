//! An emulator for a test, and requests to it.
#![allow(dead_code, missing_docs)] // each test uses some of it

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use dataflux::{Bucket, Client};

pub const BUCKET: &str = "bucket";

/// The program dataflux-emulator with one bucket; it ends with this.
pub struct Emulator {
    process: Child,
    pub endpoint: String,
}

impl Emulator {
    pub fn new() -> Emulator {
        Emulator::with(&[])
    }

    pub fn with(arguments: &[&str]) -> Emulator {
        let program = std::env::var("DATAFLUX_EMULATOR")
            .expect("DATAFLUX_EMULATOR names the program dataflux-emulator");
        let mut process = Command::new(program)
            .args(["--bucket", BUCKET])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the emulator starts");
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let endpoint = lines
            .map_while(Result::ok)
            .find_map(|line| {
                let (name, endpoint) = line.split_once('=')?;
                let names = ["STORAGE_EMULATOR_HOST", "AWS_ENDPOINT_URL_S3", "AIS_ENDPOINT"];
                names.contains(&name).then(|| endpoint.to_owned())
            })
            .expect("the emulator says where it is");
        Emulator { process, endpoint }
    }

    pub fn client(&self) -> Client {
        Client::builder().emulator(&self.endpoint).build().unwrap()
    }

    pub fn bucket(&self) -> Bucket {
        self.client().bucket(BUCKET)
    }

    /// A request of its control interface.
    pub fn ask(&self, method: &str, target: &str, body: &str) -> String {
        let host = self.endpoint.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).unwrap();
        let length = body.len();
        let kind = match body.starts_with('{') {
            true => "application/json",
            false => "application/x-www-form-urlencoded",
        };
        write!(
            stream,
            "{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
             Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        assert!(reply.starts_with("HTTP/1.1 2"), "{method} {target}: {reply}");
        reply
    }

    /// What goes wrong from here on.
    pub fn fault(&self, rule: &str) {
        self.ask("POST", "/_emulator/faults", rule);
    }

    pub fn no_faults(&self) {
        self.ask("DELETE", "/_emulator/faults", "");
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub const STALL: &str = r#"{"verb": "objects.media", "action": "stall", "where": "before_reply", "ms": 600000, "count": 0}"#;

pub fn pattern(size: usize) -> Vec<u8> {
    (0..size).map(|place| (place % 251) as u8).collect()
}

/// Objects o/000, o/001, ...; each has its number's bytes.
pub fn fill(bucket: &Bucket, count: usize) -> Vec<String> {
    let names: Vec<String> = (0..count).map(|number| format!("o/{number:03}")).collect();
    let puts: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(number, name)| bucket.put(name, pattern(number)).begin().unwrap())
        .collect();
    puts.into_iter().for_each(|put| drop(put.wait().unwrap()));
    names
}
