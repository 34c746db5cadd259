//! Writes JSON as q3map2 does: 4-space indent, a member a line, arrays on one line, no line feed at the end.

use std::fmt::Write as _;
use std::io::Write;

/// Bytes gathered before they are handed on.
const FLUSH_BYTES: usize = 64 * 1024;

pub(super) struct Emitter<'a> {
    out: &'a mut dyn Write,
    text: String,
    /// Open objects and arrays: which, and how many members or elements so far.
    open: Vec<(Bracket, usize)>,
    failed: Option<std::io::Error>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Object,
    Array,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self {
            out,
            text: String::new(),
            open: Vec::new(),
            failed: None,
        }
    }

    /// Hands on what is left.
    pub(super) fn finish(mut self) -> std::io::Result<()> {
        self.flush();
        match self.failed {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }

    fn flush(&mut self) {
        if self.failed.is_none()
            && let Err(error) = self.out.write_all(self.text.as_bytes())
        {
            self.failed = Some(error);
        }
        self.text.clear();
    }

    /// Whether writing has failed: then there is no use in going on.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    fn indent(&mut self) {
        self.text.push('\n');
        for _ in 0..self.open.len() {
            self.text.push_str("    ");
        }
    }

    /// What stands between the last value and the next one of an array.
    fn separate(&mut self) {
        if let Some((Bracket::Array, count)) = self.open.last_mut() {
            if *count > 0 {
                self.text.push_str(", ");
            }
            *count += 1;
        }
        if self.text.len() >= FLUSH_BYTES {
            self.flush();
        }
    }

    fn enter(&mut self, bracket: Bracket) {
        self.separate();
        self.text
            .push(if bracket == Bracket::Object { '{' } else { '[' });
        self.open.push((bracket, 0));
    }

    pub(super) fn begin_object(&mut self) {
        self.enter(Bracket::Object);
    }

    pub(super) fn begin_array(&mut self) {
        self.enter(Bracket::Array);
    }

    /// Closes the innermost object or array.
    pub(super) fn end(&mut self) {
        match self.open.pop() {
            Some((Bracket::Object, count)) => {
                if count > 0 {
                    self.indent();
                }
                self.text.push('}');
            }
            _ => self.text.push(']'),
        }
    }

    /// Starts a member of the innermost object.
    pub(super) fn key(&mut self, name: &str) {
        self.begin_member();
        self.quote(name);
        self.text.push_str(": ");
    }

    /// Starts a member called `name#number`.
    pub(super) fn numbered_key(&mut self, name: &str, number: usize) {
        self.begin_member();
        // Writing to a String cannot fail.
        let _ = write!(self.text, "\"{name}#{number}\": ");
    }

    fn begin_member(&mut self) {
        if let Some((_, count)) = self.open.last_mut() {
            if *count > 0 {
                self.text.push(',');
            }
            *count += 1;
        }
        self.indent();
    }

    pub(super) fn integer(&mut self, value: i64) {
        self.separate();
        // Writing to a String cannot fail.
        let _ = write!(self.text, "{value}");
    }

    pub(super) fn float(&mut self, value: f32) {
        self.separate();
        push_float(&mut self.text, f64::from(value));
    }

    pub(super) fn string(&mut self, value: &str) {
        self.separate();
        self.quote(value);
    }

    fn quote(&mut self, value: &str) {
        self.text.push('"');
        for character in value.chars() {
            match character {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\u{8}' => self.text.push_str("\\b"),
                '\u{c}' => self.text.push_str("\\f"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                control if control < ' ' => {
                    let _ = write!(self.text, "\\u{:04X}", u32::from(control));
                }
                other => self.text.push(other),
            }
        }
        self.text.push('"');
    }
}

/// The shortest digits that give the same number back, laid out as the reference compiler lays them out: plain up to 10²¹ and
/// down to 10⁻⁶, always with a fraction; exponents beyond.
fn push_float(text: &mut String, value: f64) {
    if value.is_nan() {
        return text.push_str("NaN");
    }
    if value.is_sign_negative() {
        text.push('-');
    }
    if value.is_infinite() {
        return text.push_str("Infinity");
    }
    if value == 0.0 {
        return text.push_str("0.0");
    }
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    // Places of the decimal point from the first digit.
    let point = exponent.parse::<i32>().unwrap_or_default() + 1;
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let zeros = |text: &mut String, number: i32| {
        text.extend(std::iter::repeat_n(
            '0',
            usize::try_from(number).unwrap_or_default(),
        ));
    };
    match usize::try_from(point) {
        Ok(split) if point > 0 && point <= 21 => match digits.split_at_checked(split) {
            Some((whole, fraction)) if !fraction.is_empty() => {
                text.push_str(whole);
                text.push('.');
                text.push_str(fraction);
            }
            _ => {
                text.push_str(&digits);
                zeros(text, point - count);
                text.push_str(".0");
            }
        },
        _ if point <= 0 && point > -6 => {
            text.push_str("0.");
            zeros(text, -point);
            text.push_str(&digits);
        }
        _ => {
            let (head, tail) = digits.split_at_checked(1).unwrap_or((&digits, ""));
            text.push_str(head);
            if !tail.is_empty() {
                text.push('.');
                text.push_str(tail);
            }
            let _ = write!(text, "e{}", point - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_the_shortest_that_round_trip() {
        for (value, expected) in [
            (0.1_f32, "0.10000000149011612"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-64.5, "-64.5"),
            (131_072.0, "131072.0"),
            (1e20, "100000002004087730000.0"),
            (1e22, "9.999999778196308e21"),
            (1e-5, "0.000009999999747378752"),
            (1e-8, "9.99999993922529e-9"),
            (f32::NAN, "NaN"),
            (f32::NEG_INFINITY, "-Infinity"),
        ] {
            let mut text = String::new();
            push_float(&mut text, f64::from(value));
            assert_eq!(text, expected);
        }
        for bits in (0..u32::MAX).step_by(98_765_431 / 100) {
            let value = f32::from_bits(bits);
            if value.is_finite() {
                let mut text = String::new();
                push_float(&mut text, f64::from(value));
                assert_eq!((text.parse::<f64>().unwrap() as f32).to_bits(), bits);
            }
        }
    }

    #[test]
    fn layout_is_a_member_a_line_and_arrays_on_one_line() {
        let mut bytes = Vec::new();
        let mut out = Emitter::new(&mut bytes);
        out.begin_object();
        out.key("a#0");
        out.begin_object();
        out.key("n");
        out.begin_array();
        out.integer(1);
        out.begin_array();
        out.float(2.0);
        out.end();
        out.end();
        out.key("s");
        out.string("x\"\u{1}\n");
        out.end();
        out.key("e");
        out.begin_object();
        out.end();
        out.end();
        out.finish().unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "{\n    \"a#0\": {\n        \"n\": [1, [2.0]],\n        \"s\": \"x\\\"\\u0001\\n\"\n    },\n    \"e\": {}\n}"
        );
    }
}
