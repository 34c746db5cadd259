//! A pull parser for the JSON dialect of q3map2: comments, trailing commas, `NaN` and `Infinity`, duplicate members kept in
//! order. It streams: memory is bounded by the longest string.

use std::io::Read;

use crate::format::json::error::Fault;

/// Objects and arrays inside each other at most.
const DEPTH_LIMIT: usize = 16;
/// Bytes read at once.
const BUFFER_BYTES: usize = 8 * 1024;
/// Bytes of a number at most.
const NUMBER_BYTES: usize = 64;
/// The NaN that `NaN` stands for.
pub(super) const NAN_BITS: u32 = 0x7FC0_0000;

type Parsed<T> = Result<T, Fault>;

pub(super) struct Parser<'a> {
    source: &'a mut dyn Read,
    buffer: Vec<u8>,
    at: usize,
    line: u64,
    depth: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(source: &'a mut dyn Read) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            at: 0,
            line: 1,
            depth: 0,
        }
    }

    /// A fault at the present place.
    pub(super) fn fault<T>(&self, what: impl Into<String>) -> Parsed<T> {
        Err(Fault::new(self.line, what))
    }

    fn peek(&mut self) -> Parsed<Option<u8>> {
        if self.at == self.buffer.len() {
            self.buffer.resize(BUFFER_BYTES, 0);
            let count = loop {
                match self.source.read(&mut self.buffer) {
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    other => break other.map_err(Fault::io)?,
                }
            };
            self.buffer.truncate(count);
            self.at = 0;
        }
        Ok(self.buffer.get(self.at).copied())
    }

    fn bump(&mut self) {
        if self.buffer.get(self.at) == Some(&b'\n') {
            self.line += 1;
        }
        self.at += 1;
    }

    fn next(&mut self) -> Parsed<Option<u8>> {
        let byte = self.peek()?;
        if byte.is_some() {
            self.bump();
        }
        Ok(byte)
    }

    /// Skips white space and comments.
    fn skip_blank(&mut self) -> Parsed<()> {
        while let Some(byte) = self.peek()? {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => self.bump(),
                b'/' => {
                    self.bump();
                    self.skip_comment()?;
                }
                _ => break,
            }
        }
        Ok(())
    }

    /// The rest of a comment behind its first slash.
    fn skip_comment(&mut self) -> Parsed<()> {
        match self.next()? {
            Some(b'/') => {
                while !matches!(self.peek()?, None | Some(b'\n')) {
                    self.bump();
                }
                Ok(())
            }
            Some(b'*') => {
                let mut last = 0;
                loop {
                    match self.next()? {
                        Some(b'/') if last == b'*' => return Ok(()),
                        Some(byte) => last = byte,
                        None => return self.fault("a comment is not closed"),
                    }
                }
            }
            _ => self.fault("“/” starts no comment"),
        }
    }

    /// The next byte that is neither blank nor comment, without taking it.
    fn peek_token(&mut self) -> Parsed<Option<u8>> {
        self.skip_blank()?;
        self.peek()
    }

    fn expect(&mut self, wanted: u8) -> Parsed<()> {
        let found = self.peek_token()?;
        if found == Some(wanted) {
            self.bump();
            return Ok(());
        }
        let wanted = char::from(wanted);
        self.fault(format!("expected “{wanted}”, found {}", spell(found)))
    }

    fn enter(&mut self, open: u8) -> Parsed<()> {
        self.expect(open)?;
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return self.fault(format!("nested deeper than {DEPTH_LIMIT}"));
        }
        Ok(())
    }

    /// Whether another member or element follows: takes a comma or the closing byte.
    fn more(&mut self, close: u8, first: bool) -> Parsed<bool> {
        let mut token = self.peek_token()?;
        if !first && token == Some(b',') {
            self.bump();
            token = self.peek_token()?;
        } else if !first && token != Some(close) {
            let close = char::from(close);
            return self.fault(format!("expected “,” or “{close}”, found {}", spell(token)));
        }
        if token == Some(close) {
            self.bump();
            self.depth -= 1;
            return Ok(false);
        }
        Ok(true)
    }

    /// Members in order, duplicates included; `each` takes the value.
    pub(super) fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, &[u8]) -> Parsed<()>,
    ) -> Parsed<()> {
        self.enter(b'{')?;
        let mut first = true;
        while self.more(b'}', first)? {
            first = false;
            let key = self.string()?;
            self.expect(b':')?;
            each(self, &key).map_err(|fault| fault.within(&String::from_utf8_lossy(&key)))?;
        }
        Ok(())
    }

    /// Elements in order; `each` takes the value and is told its place.
    pub(super) fn array(
        &mut self,
        mut each: impl FnMut(&mut Self, usize) -> Parsed<()>,
    ) -> Parsed<()> {
        self.enter(b'[')?;
        let mut place = 0;
        while self.more(b']', place == 0)? {
            each(self, place).map_err(|fault| fault.within(&format!("[{place}]")))?;
            place += 1;
        }
        Ok(())
    }

    /// An array of exactly `count` elements.
    pub(super) fn array_of(
        &mut self,
        count: usize,
        mut each: impl FnMut(&mut Self, usize) -> Parsed<()>,
    ) -> Parsed<()> {
        let mut found = 0;
        self.array(|parser, place| {
            found = place + 1;
            if found > count {
                return parser.fault(format!("more than {count} elements"));
            }
            each(parser, place)
        })?;
        if found < count {
            return self.fault(format!("{found} elements, expected {count}"));
        }
        Ok(())
    }

    /// A whole number from `min` to `max`.
    pub(super) fn integer(&mut self, min: i64, max: i64) -> Parsed<i64> {
        let text = self.number_text()?;
        match text.parse::<i64>() {
            Ok(value) if (min..=max).contains(&value) => Ok(value),
            _ => self.fault(format!("{text} is no whole number from {min} to {max}")),
        }
    }

    /// A number as 32-bit float; `NaN` and the infinities are legal.
    pub(super) fn float(&mut self) -> Parsed<f32> {
        let text = self.number_text()?;
        let value = match text.as_str() {
            "NaN" => return Ok(f32::from_bits(NAN_BITS)),
            "Infinity" | "Inf" => return Ok(f32::INFINITY),
            "-Infinity" | "-Inf" => return Ok(f32::NEG_INFINITY),
            _ => text.parse::<f64>().unwrap_or(f64::NAN),
        };
        #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
        let narrow = value as f32;
        if narrow.is_finite() {
            Ok(narrow)
        } else {
            self.fault(format!("{text} is too large for a 32-bit float"))
        }
    }

    /// A number or one of the literals for numbers; checked to be well formed.
    fn number_text(&mut self) -> Parsed<String> {
        let found = self.peek_token()?;
        let mut text = String::new();
        while let Some(byte) = self.peek()? {
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')) {
                break;
            }
            if text.len() == NUMBER_BYTES {
                return self.fault("a number is too long");
            }
            text.push(char::from(byte));
            self.bump();
        }
        let literal = text.strip_prefix('-').unwrap_or(&text);
        match literal {
            "" => self.fault(format!("expected a number, found {}", spell(found))),
            "NaN" if text == literal => Ok(text),
            "Infinity" | "Inf" => Ok(text),
            _ if is_number(literal) => Ok(text),
            _ => self.fault(format!("“{text}” is no number")),
        }
    }

    /// The bytes of a string; escapes become UTF-8, everything else stays as it is.
    pub(super) fn string(&mut self) -> Parsed<Vec<u8>> {
        let found = self.peek_token()?;
        if found != Some(b'"') {
            return self.fault(format!("expected a string, found {}", spell(found)));
        }
        self.bump();
        let mut text = Vec::new();
        loop {
            match self.next()? {
                Some(b'"') => return Ok(text),
                Some(b'\\') => {
                    let character = self.escape()?;
                    let mut utf8 = [0; 4];
                    text.extend_from_slice(character.encode_utf8(&mut utf8).as_bytes());
                }
                Some(byte) => text.push(byte),
                None => return self.fault("a string is not closed"),
            }
        }
    }

    fn escape(&mut self) -> Parsed<char> {
        let byte = self.next()?;
        Ok(match byte {
            Some(b'"' | b'\\' | b'/') => char::from(byte.unwrap_or_default()),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let high = self.hex4()?;
                if let Some(character) = char::from_u32(high) {
                    return Ok(character);
                }
                let pair = (self.next()?, self.next()?);
                let low = if pair == (Some(b'\\'), Some(b'u')) {
                    self.hex4()?
                } else {
                    0
                };
                let joined = if (0xD800..0xDC00).contains(&high) && (0xDC00..0xE000).contains(&low)
                {
                    char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00))
                } else {
                    None
                };
                match joined {
                    Some(character) => character,
                    None => return self.fault("half a surrogate pair"),
                }
            }
            _ => return self.fault("unknown escape in a string"),
        })
    }

    fn hex4(&mut self) -> Parsed<u32> {
        let mut value = 0;
        for _ in 0..4 {
            let digit = self.next()?.and_then(|byte| char::from(byte).to_digit(16));
            match digit {
                Some(digit) => value = value * 16 + digit,
                None => return self.fault("“\\u” needs four hexadecimal digits"),
            }
        }
        Ok(value)
    }

    /// Takes any value.
    pub(super) fn skip_value(&mut self) -> Parsed<()> {
        match self.peek_token()? {
            Some(b'{') => self.object(|parser, _| parser.skip_value()),
            Some(b'[') => self.array(|parser, _| parser.skip_value()),
            Some(b'"') => self.string().map(drop),
            _ => self.skip_word(),
        }
    }

    fn skip_word(&mut self) -> Parsed<()> {
        for word in [b"true".as_slice(), b"false", b"null"] {
            if self.peek()? == word.first().copied() {
                for byte in word {
                    if self.next()? != Some(*byte) {
                        return self.fault("unknown word");
                    }
                }
                return Ok(());
            }
        }
        self.number_text().map(drop)
    }

    /// The end of the file: only blanks and comments may follow.
    pub(super) fn finish(&mut self) -> Parsed<()> {
        match self.peek_token()? {
            None => Ok(()),
            found => self.fault(format!("{} behind the end", spell(found))),
        }
    }
}

fn spell(byte: Option<u8>) -> String {
    match byte {
        None => "the end of the file".to_owned(),
        Some(byte) => format!("“{}”", byte.escape_ascii()),
    }
}

/// Whether `text` is a JSON number without its sign.
fn is_number(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent
            .is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `take` makes of the whole `text`; the text lives on, so that methods can be named for `take`.
    fn with<T>(
        text: &str,
        take: impl FnOnce(&mut Parser<'static>) -> Parsed<T>,
    ) -> Result<T, String> {
        let text: &'static [u8] = Vec::leak(text.as_bytes().to_vec());
        let mut parser = Parser::new(Box::leak(Box::new(text)));
        let value = take(&mut parser).and_then(|value| parser.finish().map(|()| value));
        value.map_err(|fault| fault.in_file("x").to_string())
    }

    #[test]
    fn comments_trailing_commas_and_duplicates_are_read_in_order() {
        let text = "// a\n{ \"k\": 1, /* b **/ \"k\": -2, }\n";
        let mut found = Vec::new();
        with(text, |parser| {
            parser.object(|parser, key| {
                found.push((key.to_vec(), parser.integer(-9, 9)?));
                Ok(())
            })
        })
        .unwrap();
        assert_eq!(found, [(b"k".to_vec(), 1), (b"k".to_vec(), -2)]);
    }

    #[test]
    fn numbers_are_strict_and_literals_are_numbers() {
        assert_eq!(with("0.10000000149011612", Parser::float), Ok(0.1));
        assert_eq!(
            with("-0.0", Parser::float).map(f32::to_bits),
            Ok(0x8000_0000)
        );
        assert_eq!(with("NaN", Parser::float).map(f32::to_bits), Ok(NAN_BITS));
        assert_eq!(with("-Infinity", Parser::float), Ok(f32::NEG_INFINITY));
        for wrong in [
            "01", "1.", ".5", "+1", "1e", "nan", "-NaN", "1e39", "\"1\"", "--1", "",
        ] {
            assert!(with(wrong, Parser::float).is_err(), "{wrong}");
        }
        for wrong in ["256", "-1", "1.0", "1e1", "99999999999999999999"] {
            assert!(with(wrong, |p| p.integer(0, 255)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn strings_keep_bytes_and_resolve_escapes() {
        assert_eq!(
            with(r#""a\"\\\n\u0001\u00e9\ud83d\ude00""#, Parser::string),
            Ok("a\"\\\n\u{1}é😀".as_bytes().to_vec())
        );
        for wrong in [r#""a"#, r#""\q""#, r#""\u12"#, r#""\ud800x""#] {
            assert!(with(wrong, Parser::string).is_err(), "{wrong}");
        }
    }

    #[test]
    fn depth_is_capped_and_faults_name_their_place() {
        let deep = "[".repeat(10_000);
        let fault = with(&deep, Parser::skip_value).unwrap_err();
        assert!(fault.ends_with("nested deeper than 16"), "{fault}");
        assert_eq!(
            with("{\"a\": [true, null, {\"b\": 1}]}", Parser::skip_value),
            Ok(())
        );
        let fault = with("{\n\"a\": [1,\nx]}", Parser::skip_value).unwrap_err();
        assert_eq!(fault, "x, line 3, a/[1]: “x” is no number");
        assert!(with("{\"a\" 1}", Parser::skip_value).is_err());
        assert!(with("[1 2]", Parser::skip_value).is_err());
        assert!(with("[1] 2", Parser::skip_value).is_err());
    }
}
