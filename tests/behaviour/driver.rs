//! Plays calls of the table of behaviour (table.txt, which says what they are) by the crate
//! dataflux.
//!
//!     driver ENDPOINT TOKEN       calls from standard input, answers to standard output

use std::error::Error as _;
use std::io::{self, BufRead, Write};
use std::time::Duration;

use dataflux::{Bucket, Client, Code, Error, Object, Request, Token, Unfinished};

/// What follows "ok", or why the call failed.
type Answer = Result<String, Failure>;

enum Failure {
    Call(Error),
    /// What this language refuses by itself: a name that is no text.
    Refused(String),
    NoSuchCall,
}

impl From<Error> for Failure {
    fn from(why: Error) -> Self {
        Failure::Call(why)
    }
}

impl From<io::Error> for Failure {
    fn from(why: io::Error) -> Self {
        match why
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<Error>())
        {
            Some(inner) => Failure::Call(inner.clone()),
            None => Failure::Refused(format!("{why} {:?}", why.source())),
        }
    }
}

fn crc32c(data: &[u8]) -> u32 {
    let table: Vec<u32> = (0..256)
        .map(|byte| {
            (0..8).fold(byte, |row: u32, _| {
                row >> 1 ^ if row & 1 != 0 { 0x82F6_3B78 } else { 0 }
            })
        })
        .collect();
    !data.iter().fold(!0, |crc, &byte| {
        table[((crc ^ u32::from(byte)) & 255) as usize] ^ crc >> 8
    })
}

fn pattern(size: u64, offset: u64) -> Vec<u8> {
    (offset..offset + size)
        .map(|place| (place % 251) as u8)
        .collect()
}

fn known(data: &[u8]) -> String {
    format!("{} {:08x}", data.len(), crc32c(data))
}

fn of_object(object: &Object) -> String {
    format!("{} {:08x}", object.size(), object.crc32c().unwrap_or(0))
}

fn text(word: &str) -> Result<String, Failure> {
    if word == "\"\"" {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    let mut rest = word.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |of: Option<u8>| of.and_then(|c| char::from(c).to_digit(16)).unwrap_or(0);
        bytes.push((digit(rest.next()) * 16 + digit(rest.next())) as u8);
    }
    String::from_utf8(bytes).map_err(|why| Failure::Refused(why.to_string()))
}

fn coded(name: &str) -> String {
    let plain = |c: u8| c.is_ascii_alphanumeric() || b"-._~/".contains(&c);
    let code = |c: u8| {
        if plain(c) {
            char::from(c).to_string()
        } else {
            format!("%{c:02X}")
        }
    };
    name.bytes().map(code).collect()
}

fn number(word: &str) -> u64 {
    word.parse().unwrap_or(u64::MAX)
}

/// The bytes of a range, whose length may be "end".
fn range(offset: &str, length: &str) -> (std::ops::Bound<u64>, std::ops::Bound<u64>) {
    use std::ops::Bound::{Excluded, Included, Unbounded};
    let from = number(offset);
    let to = if length == "end" {
        Unbounded
    } else {
        Excluded(from.saturating_add(number(length)))
    };
    (Included(from), to)
}

fn sizes(word: &str) -> impl Iterator<Item = u64> {
    word.split(',').filter(|size| *size != "\"\"").map(number)
}

#[derive(Default)]
struct Options {
    generation_match: Option<i64>,
    generation: i64,
    timeout: Option<Duration>,
    stop: bool,
}

struct Call<'a> {
    bucket: Bucket,
    words: Vec<&'a str>,
    options: Options,
}

/// Sets the options of a call that has been built.
macro_rules! with {
    ($call:expr, $options:expr $(, $name:ident)*) => {{
        let mut call = $call;
        $(with!(@$name call, $options);)*
        call
    }};
    (@timeout $call:ident, $options:expr) => {
        if let Some(limit) = $options.timeout { $call = $call.timeout(limit); }
    };
    (@condition $call:ident, $options:expr) => {
        if let Some(generation) = $options.generation_match { $call = $call.if_generation_match(generation); }
    };
    (@generation $call:ident, $options:expr) => {
        if $options.generation != 0 { $call = $call.generation($options.generation); }
    };
}

impl Call<'_> {
    fn name(&self) -> Result<String, Failure> {
        text(self.words[0])
    }

    fn put(&self) -> Answer {
        let put = self
            .bucket
            .put(self.name()?, pattern(number(self.words[1]), 0));
        Ok(of_object(
            &with!(put, self.options, timeout, condition).wait()?,
        ))
    }

    fn get(&self) -> Answer {
        let get = self
            .bucket
            .get(self.name()?)
            .range(range(self.words[1], self.words[2]));
        Ok(known(
            &with!(get, self.options, timeout, generation).wait()?,
        ))
    }

    fn into(&self) -> Answer {
        let mut memory = vec![0; number(self.words[2]) as usize];
        let read = self
            .bucket
            .read_into(self.name()?, &mut memory)
            .offset(number(self.words[1]));
        with!(read, self.options, timeout, generation).wait()?;
        Ok(known(&memory))
    }

    fn ranges(&self) -> Answer {
        let open = with!(
            self.bucket.open(self.name()?),
            self.options,
            timeout,
            generation
        );
        let ranges = self.words[1]
            .split(',')
            .filter_map(|pair| pair.split_once(':'));
        let ranges = ranges.map(|(offset, size)| (number(offset), number(size) as usize));
        let came = open.wait()?.get_ranges(ranges).wait()?;
        Ok(came
            .iter()
            .map(|data| known(data))
            .collect::<Vec<_>>()
            .join(" "))
    }

    fn many(&self) -> Answer {
        let mut requests = Vec::new();
        for word in self.words[0].split(',') {
            let mut parts = word.split(':');
            let request = Request::new(text(parts.next().unwrap_or(""))?);
            requests.push(match (parts.next(), parts.next()) {
                (Some(offset), Some(length)) => request.range(range(offset, length)),
                _ => request,
            });
        }
        let mut many = with!(self.bucket.get_many(requests), self.options, timeout);
        if self.options.stop {
            many = many.stop_at_failure();
        }
        let mut said = Vec::new();
        for batch in many.start()? {
            said.extend(batch?.iter().map(|item| match item.bytes() {
                Ok(bytes) => known(bytes),
                Err(why) => format!("- {}", why.code()),
            }));
        }
        Ok(said.join(" "))
    }

    fn stat(&self) -> Answer {
        let stat = self.bucket.stat(self.name()?);
        Ok(of_object(
            &with!(stat, self.options, timeout, condition, generation).wait()?,
        ))
    }

    fn remove(&self) -> Answer {
        let remove = self.bucket.remove(self.name()?);
        with!(remove, self.options, timeout, condition, generation).wait()?;
        Ok(String::new())
    }

    fn copy(&self) -> Answer {
        let copy = self
            .bucket
            .copy(self.name()?, &self.bucket, text(self.words[1])?);
        Ok(of_object(
            &with!(copy, self.options, timeout, condition).wait()?,
        ))
    }

    fn rename(&self) -> Answer {
        let rename = self.bucket.rename(self.name()?, text(self.words[1])?);
        Ok(of_object(
            &with!(rename, self.options, timeout, condition).wait()?,
        ))
    }

    fn compose(&self) -> Answer {
        let sources = self.words[1]
            .split(',')
            .map(text)
            .collect::<Result<Vec<_>, _>>()?;
        let compose = self.bucket.compose(self.name()?, sources);
        Ok(of_object(
            &with!(compose, self.options, timeout, condition).wait()?,
        ))
    }

    fn list(&self) -> Answer {
        let listing = with!(self.bucket.list(self.name()?), self.options, timeout).wait()?;
        Ok(listing.names().map(coded).collect::<Vec<_>>().join(" "))
    }

    /// write, abandon and overtaken
    fn write(&self, verb: &str) -> Answer {
        let name = self.name()?;
        let open = self.bucket.writer(name.clone());
        let mut writer = with!(open, self.options, timeout, condition).wait()?;
        if verb == "overtaken" {
            self.bucket.put(name, b"\0").wait()?;
        }
        let mut at = 0;
        for size in sizes(self.words[1]) {
            writer.write_all(&pattern(size, at))?;
            at += size;
        }
        if verb == "abandon" {
            writer.abort().wait()?;
            return Ok(String::new());
        }
        Ok(of_object(&writer.commit().wait()?.object))
    }

    fn commit_set(&self) -> Answer {
        let set = self.bucket.checkpoint_set(self.name()?)?;
        set.begin(Unfinished::Refuse).wait()?;
        let mut records = Vec::new();
        for (name, size) in self.words[1]
            .split(',')
            .filter_map(|member| member.split_once(':'))
        {
            let mut writer = set.member(text(name)?).wait()?;
            writer.write_all(&pattern(number(size), 0))?;
            records.push(writer.commit().wait()?);
        }
        Ok(set.commit(records).wait()?.bytes.to_string())
    }

    fn open_set(&self) -> Answer {
        Ok(self
            .bucket
            .checkpoint_set(self.name()?)?
            .open()
            .wait()?
            .bytes()
            .to_string())
    }

    fn cancel(&self) -> Answer {
        let get = self.bucket.get(self.name()?).begin()?;
        get.cancel();
        Ok(known(&get.wait()?))
    }

    fn play(&self, verb: &str) -> Answer {
        match (verb, self.words.len()) {
            ("put", 2) => self.put(),
            ("get", 3) => self.get(),
            ("into", 3) => self.into(),
            ("ranges", 2) => self.ranges(),
            ("many", 1) => self.many(),
            ("stat", 1) => self.stat(),
            ("remove", 1) => self.remove(),
            ("copy", 2) => self.copy(),
            ("move", 2) => self.rename(),
            ("compose", 2) => self.compose(),
            ("list", 1) => self.list(),
            ("write" | "abandon" | "overtaken", 2) => self.write(verb),
            ("commit_set", 2) => self.commit_set(),
            ("open_set", 1) => self.open_set(),
            ("cancel", 1) => self.cancel(),
            _ => Err(Failure::NoSuchCall),
        }
    }
}

fn answer(client: &Client, line: &str) -> Answer {
    let mut words = line.split(' ');
    let bucket = client.bucket(text(words.next().unwrap_or(""))?);
    let verb = words.next().unwrap_or("");
    let mut call = Call {
        bucket,
        words: Vec::new(),
        options: Options::default(),
    };
    for word in words {
        match word.split_once('=') {
            Some(("if", value)) => call.options.generation_match = value.parse().ok(),
            Some(("gen", value)) => call.options.generation = value.parse().unwrap_or(0),
            Some(("ms", value)) => {
                call.options.timeout = Some(Duration::from_millis(number(value)))
            }
            _ if word == "stop" => call.options.stop = true,
            _ => call.words.push(word),
        }
    }
    call.play(verb)
}

fn said(answer: Answer) -> String {
    match answer {
        Ok(given) if given.is_empty() => "ok".into(),
        Ok(given) => format!("ok {given}"),
        Err(Failure::Call(why)) => {
            let maybe = if why.is_outcome_unknown() {
                " maybe"
            } else {
                ""
            };
            format!(
                "error {} {}{maybe} # {why}",
                why.code(),
                why.http_status().unwrap_or(0)
            )
        }
        Err(Failure::Refused(why)) => format!("error {} 0 # {why}", Code::InvalidArgument),
        Err(Failure::NoSuchCall) => "none".into(),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [endpoint, token] = &arguments[..] else {
        return Err("driver ENDPOINT TOKEN".into());
    };
    let token = token.clone();
    let client = Client::builder()
        .emulator(endpoint)
        .tokens_to_emulator()
        .token_limit(Duration::from_millis(100)) // nobody gives another one
        .tokens(move || Ok::<_, Error>(Token::new(token.clone())))
        .build()?;
    for line in io::stdin().lock().lines() {
        println!("{}", said(answer(&client, &line?)).replace('\n', " "));
        io::stdout().flush()?;
    }
    Ok(())
}
