//! What the library says as JSON: summaries, metadata, reports.

use std::str::Chars;

use crate::error::{Code, Error, Result};

/// A value of JSON, as reports of the library have them. Members keep their order.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// null
    Null,
    /// true or false
    Bool(bool),
    /// As it was written, so that no digit is lost.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object.
    Object(Vec<(String, Json)>),
}

static NULL: Json = Json::Null;
const DEEPEST: u32 = 64;

impl Json {
    /// Reads one value, and nothing behind it.
    pub fn parse(text: &str) -> Result<Json> {
        let mut reader = Reader { rest: text.chars() };
        let value = reader.value(0).filter(|_| reader.peek().is_none());
        value.ok_or_else(|| Error::new(Code::Internal, format!("this is no JSON: {text:.200}")))
    }

    /// A member of an object; Null where there is none.
    pub fn get(&self, name: &str) -> &Json {
        match self {
            Json::Object(members) => {
                members.iter().find(|(key, _)| key == name).map_or(&NULL, |(_, value)| value)
            }
            _ => &NULL,
        }
    }

    /// A text, or a number as it is written.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::Text(text) | Json::Number(text) => Some(text),
            _ => None,
        }
    }

    /// A number; the service writes long ones as texts, which are read, too.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_str()?.parse().ok()
    }

    /// As [`Json::as_i64`].
    pub fn as_u64(&self) -> Option<u64> {
        self.as_str()?.parse().ok()
    }

    /// As [`Json::as_i64`].
    pub fn as_f64(&self) -> Option<f64> {
        self.as_str()?.parse().ok()
    }

    /// true or false.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The values of a list; none of another value.
    pub fn items(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }

    /// The members of an object; none of another value.
    pub fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }
}

struct Reader<'a> {
    rest: Chars<'a>,
}

impl Reader<'_> {
    /// The next character behind white space.
    fn peek(&mut self) -> Option<char> {
        loop {
            let next = self.rest.clone().next()?;
            if !matches!(next, ' ' | '\t' | '\n' | '\r') {
                return Some(next);
            }
            self.rest.next();
        }
    }

    fn eat(&mut self, wanted: char) -> Option<()> {
        (self.peek()? == wanted).then(|| self.rest.next()).map(|_| ())
    }

    fn word(&mut self, word: &str, value: Json) -> Option<Json> {
        let rest = self.rest.as_str().strip_prefix(word)?;
        self.rest = rest.chars();
        Some(value)
    }

    fn value(&mut self, depth: u32) -> Option<Json> {
        if depth > DEEPEST {
            return None;
        }
        match self.peek()? {
            '{' => self.object(depth),
            '[' => self.list(depth),
            '"' => self.text().map(Json::Text),
            't' => self.word("true", Json::Bool(true)),
            'f' => self.word("false", Json::Bool(false)),
            'n' => self.word("null", Json::Null),
            _ => self.number(),
        }
    }

    fn number(&mut self) -> Option<Json> {
        let text = self.rest.as_str();
        let end = text.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
        let (number, rest) = text.split_at(end.unwrap_or(text.len()));
        number.parse::<f64>().ok()?;
        self.rest = rest.chars();
        Some(Json::Number(number.to_owned()))
    }

    fn list(&mut self, depth: u32) -> Option<Json> {
        self.eat('[')?;
        let mut items = Vec::new();
        if self.eat(']').is_some() {
            return Some(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.eat(']').is_some() {
                return Some(Json::List(items));
            }
            self.eat(',')?;
        }
    }

    fn object(&mut self, depth: u32) -> Option<Json> {
        self.eat('{')?;
        let mut members = Vec::new();
        if self.eat('}').is_some() {
            return Some(Json::Object(members));
        }
        loop {
            self.peek()?;
            let name = self.text()?;
            self.eat(':')?;
            members.push((name, self.value(depth + 1)?));
            if self.eat('}').is_some() {
                return Some(Json::Object(members));
            }
            self.eat(',')?;
        }
    }

    fn text(&mut self) -> Option<String> {
        self.eat('"')?;
        let mut text = String::new();
        loop {
            match self.rest.next()? {
                '"' => return Some(text),
                '\\' => text.push(self.escaped()?),
                plain if plain >= ' ' => text.push(plain),
                _ => return None,
            }
        }
    }

    fn escaped(&mut self) -> Option<char> {
        Some(match self.rest.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode(),
            same @ ('"' | '\\' | '/') => same,
            _ => return None,
        })
    }

    fn unicode(&mut self) -> Option<char> {
        let first = self.hex()?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first);
        }
        self.word("\\u", Json::Null)?;
        let second = self.hex()?.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
        char::from_u32(0x10000 + ((first - 0xD800) << 10) + second)
    }

    fn hex(&mut self) -> Option<u32> {
        let digits =
            self.rest.as_str().get(..4).filter(|d| d.bytes().all(|c| c.is_ascii_hexdigit()))?;
        self.rest = self.rest.as_str()[4..].chars();
        u32::from_str_radix(digits, 16).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn reads_what_is_written() {
        let value = Json::parse(
            r#" {"a": [1, -2.5e3, "x\u00e9\n\ud83d\ude00"], "n": null, "t": true, "big": "18446744073709551615"} "#,
        )
        .unwrap();
        assert_eq!(value.get("a").items()[0].as_u64(), Some(1));
        assert_eq!(value.get("a").items()[1].as_f64(), Some(-2500.0));
        assert_eq!(value.get("a").items()[2].as_str(), Some("x\u{e9}\n\u{1F600}"));
        assert_eq!(value.get("t").as_bool(), Some(true));
        assert_eq!(value.get("big").as_u64(), Some(u64::MAX));
        assert_eq!(value.get("nothing"), &Json::Null);
    }

    #[test]
    fn refuses_what_is_none() {
        let deep = "[".repeat(100_000);
        for text in
            ["", "{", "[1,]", "\"a", "{\"a\" 1}", "nul", "1 2", "\"\\ud800\"", "\"\\u00g0\"", &deep]
        {
            assert!(Json::parse(text).is_err(), "{text:.20}");
        }
    }
}
