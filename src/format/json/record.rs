//! A record's bytes ↔ its JSON member, by the tables of [`super::schema`].

use crate::format::json::emit::Emitter;
use crate::format::json::error::Fault;
use crate::format::json::parse::{NAN_BITS, Parser};
use crate::format::json::schema::{
    Element, Field, Form, LumpFile, Members, NAME_BYTES, Storage, Styles,
};
use crate::format::reader::Record;

/// Numbers of one member at most.
const NUMBERS: usize = 16;
/// Unnamed bits of a flags member.
const UNKNOWN_FLAG: &str = "?";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Int(i64),
    Float(f32),
}

type Numbers = [Number; NUMBERS];

/// Bytes as text: UTF-8 where they are, else every byte the character of the same number.
pub(super) fn text_of(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => crate::format::tokens::latin1(bytes),
    }
}

/// What a record keeps when it goes through JSON: bytes behind a name's NUL become zero, every NaN the same one.
pub(super) fn normalise(record: &mut [u8], lump: &LumpFile, styles: Styles) {
    let mut rest = record;
    for field in lump.fields() {
        let Some((bytes, behind)) = rest.split_at_mut_checked(field.bytes(styles)) else {
            return;
        };
        rest = behind;
        match (field.form, field.element) {
            (Form::Name, _) => {
                let kept = name_text(bytes);
                bytes.fill(0);
                for (byte, new) in bytes.iter_mut().zip(kept.bytes()) {
                    *byte = new;
                }
            }
            (_, Element::Float) => {
                for number in bytes.as_chunks_mut::<4>().0 {
                    if f32::from_le_bytes(*number).is_nan() {
                        *number = NAN_BITS.to_le_bytes();
                    }
                }
            }
            _ => {}
        }
    }
}

/// A name as JSON has it: up to its NUL, and no more than fits with one.
fn name_text(field: &[u8]) -> String {
    let name = field.split(|byte| *byte == 0).next().unwrap_or_default();
    let mut text = text_of(name);
    while text.len() >= NAME_BYTES {
        text.pop();
    }
    text
}

/// Writes one record as a value.
pub(super) fn emit(record: &[u8], lump: &LumpFile, styles: Styles, out: &mut Emitter<'_>) {
    let mut record = Record::new(record);
    match lump.members {
        Members::Bare(field) => emit_field(&mut record, &field, styles, out),
        Members::Object(fields) => {
            out.begin_object();
            for field in fields {
                out.key(field.key);
                emit_field(&mut record, field, styles, out);
            }
            out.end();
        }
    }
}

fn emit_field(record: &mut Record<'_>, field: &Field, styles: Styles, out: &mut Emitter<'_>) {
    if field.form == Form::Name {
        let bytes: [u8; NAME_BYTES] = record.array();
        return out.string(&name_text(&bytes));
    }
    let numbers = load(record, field, styles);
    let numbers = numbers.get(..field.form.count()).unwrap_or_default();
    match field.form {
        Form::Scalar => emit_number(numbers.first(), out),
        Form::List(_) => emit_list(numbers, out),
        Form::Rows(_, columns) => {
            out.begin_array();
            for row in numbers.chunks(columns) {
                emit_list(row, out);
            }
            out.end();
        }
        Form::MinMax => {
            out.begin_object();
            for (key, part) in ["mins", "maxs"].into_iter().zip(numbers.chunks(3)) {
                out.key(key);
                emit_list(part, out);
            }
            out.end();
        }
        Form::Flags(names) => {
            let names = if styles == Styles::One { names } else { &[] };
            emit_flags(numbers.first(), names, out);
        }
        Form::Name => {}
    }
}

/// The numbers of a member: those stored, and what stands for the others.
fn load(record: &mut Record<'_>, field: &Field, styles: Styles) -> Numbers {
    let mut numbers = [Number::Int(0); NUMBERS];
    let stored = field.stored(styles);
    for number in numbers.iter_mut().take(stored) {
        *number = match field.element {
            Element::Int => Number::Int(i64::from(record.i32())),
            Element::Byte => Number::Int(i64::from(record.u8())),
            Element::Float => Number::Float(record.f32()),
        };
    }
    let first = numbers;
    let rest = numbers.iter_mut().enumerate().skip(stored);
    for (place, number) in rest.take(field.form.count() - stored) {
        *number = match field.storage {
            Storage::Slots(other) => integer_as(other, field.element),
            Storage::SlotsCopied => {
                let copied = first.get(place % stored.max(1));
                copied.copied().unwrap_or(Number::Int(0))
            }
            Storage::FourOnly(values) => {
                Number::Int(values.get(place).copied().unwrap_or_default())
            }
            Storage::Whole => Number::Int(0),
        };
    }
    numbers
}

fn integer_as(value: i64, element: Element) -> Number {
    match element {
        // The table has only zero for floats.
        Element::Float => Number::Float(0.0),
        Element::Int | Element::Byte => Number::Int(value),
    }
}

fn emit_number(number: Option<&Number>, out: &mut Emitter<'_>) {
    match number {
        Some(Number::Int(value)) => out.integer(*value),
        Some(Number::Float(value)) => out.float(*value),
        None => {}
    }
}

fn emit_list(numbers: &[Number], out: &mut Emitter<'_>) {
    out.begin_array();
    for number in numbers {
        emit_number(Some(number), out);
    }
    out.end();
}

fn emit_flags(number: Option<&Number>, names: &[(u32, &str)], out: &mut Emitter<'_>) {
    let Some(Number::Int(value)) = number else {
        return;
    };
    out.begin_object();
    for bit in 0..32 {
        let flag = 1_u32 << bit;
        if value & i64::from(flag) != 0 {
            let known = names.iter().find(|(named, _)| *named == flag);
            out.key(known.map_or(UNKNOWN_FLAG, |(_, name)| name));
            out.string(&format!("0x{flag:08x}"));
        }
    }
    out.end();
}

/// Reads one value and puts its record behind `into`.
pub(super) fn parse(
    parser: &mut Parser<'_>,
    lump: &LumpFile,
    styles: Styles,
    into: &mut Vec<u8>,
) -> Result<(), Fault> {
    let start = into.len();
    into.resize(start + lump.record_bytes(styles), 0);
    let record = into.get_mut(start..).unwrap_or_default();
    let fields = match lump.members {
        Members::Bare(field) => return parse_field(parser, &field, styles, record),
        Members::Object(fields) => fields,
    };
    // Members come in the order of the table; any other order costs a search.
    let mut seen = 0_u32;
    let mut expected = 0;
    parser.object(|parser, key| {
        let is_key = |place: &usize| fields.get(*place).is_some_and(|f| f.key.as_bytes() == key);
        let place = Some(expected)
            .filter(is_key)
            .or_else(|| (0..fields.len()).find(is_key));
        let Some((place, field)) = place.and_then(|place| Some((place, fields.get(place)?))) else {
            return parser.skip_value();
        };
        // Of a member that is there twice the first counts, as for the reference compiler.
        if seen & (1 << place) != 0 {
            return parser.skip_value();
        }
        seen |= 1 << place;
        expected = place + 1;
        let before: usize = fields.iter().take(place).map(|f| f.bytes(styles)).sum();
        let bytes = record.get_mut(before..before + field.bytes(styles));
        parse_field(parser, field, styles, bytes.unwrap_or_default())
    })?;
    let mut rest = into.get_mut(start..).unwrap_or_default();
    for (place, field) in fields.iter().enumerate() {
        let Some((bytes, behind)) = rest.split_at_mut_checked(field.bytes(styles)) else {
            break;
        };
        rest = behind;
        if seen & (1 << place) != 0 {
            continue;
        }
        // What a map of one style does not store may be left out.
        let Storage::FourOnly(values) = field.storage else {
            return parser.fault(format!("member “{}” is missing", field.key));
        };
        let numbers = values.iter().map(|value| Number::Int(*value));
        store(numbers, field.element, bytes);
    }
    Ok(())
}

/// The record of a map of one style: of the members that have a part for each style the first.
pub(super) fn narrow(wide: &[u8], lump: &LumpFile, into: &mut Vec<u8>) {
    let mut rest = wide;
    for field in lump.fields() {
        let (bytes, behind) = rest
            .split_at_checked(field.bytes(Styles::Four))
            .unwrap_or_default();
        rest = behind;
        into.extend_from_slice(bytes.get(..field.bytes(Styles::One)).unwrap_or_default());
    }
}

/// Whether a record holds what only a map of four styles does: a style behind the first, or the surface of a brush side.
pub(super) fn has_styles(wide: &[u8], lump: &LumpFile) -> bool {
    let mut record = Record::new(wide);
    lump.fields().iter().any(|field| {
        let numbers = load(&mut record, field, Styles::Four);
        let Storage::FourOnly(values) = field.storage else {
            return false;
        };
        // Of styles the first may be anything.
        let skipped = usize::from(values.len() > 1);
        let mut pairs = numbers.iter().zip(values).skip(skipped);
        pairs.any(|(number, plain)| *number != Number::Int(*plain))
    })
}

/// Puts numbers into exactly their bytes.
fn store(numbers: impl Iterator<Item = Number>, element: Element, bytes: &mut [u8]) {
    for (number, bytes) in numbers.zip(bytes.chunks_mut(element.bytes())) {
        let encoded = match number {
            Number::Float(value) => value.to_le_bytes(),
            // The parser has checked the range; flags use all 32 bits.
            Number::Int(value) => {
                let [a, b, c, d, ..] = value.to_le_bytes();
                [a, b, c, d]
            }
        };
        for (byte, new) in bytes.iter_mut().zip(encoded) {
            *byte = new;
        }
    }
}

/// Reads a value into exactly its bytes.
fn parse_field(
    parser: &mut Parser<'_>,
    field: &Field,
    styles: Styles,
    bytes: &mut [u8],
) -> Result<(), Fault> {
    let mut numbers = [Number::Int(0); NUMBERS];
    let mut put = |place: usize, number: Number| {
        if let Some(slot) = numbers.get_mut(place) {
            *slot = number;
        }
    };
    let element = field.element;
    match field.form {
        Form::Name => return parse_name(parser, bytes),
        Form::Flags(_) => put(0, Number::Int(parse_flags(parser)?)),
        Form::Scalar => put(0, parse_number(parser, element)?),
        Form::List(count) => parser.array_of(count, |parser, place| {
            put(place, parse_number(parser, element)?);
            Ok(())
        })?,
        Form::Rows(rows, columns) => parser.array_of(rows, |parser, row| {
            parser.array_of(columns, |parser, column| {
                put(row * columns + column, parse_number(parser, element)?);
                Ok(())
            })
        })?,
        Form::MinMax => parse_min_max(parser, element, &mut put)?,
    }
    let stored = numbers.into_iter().take(field.stored(styles));
    store(stored, element, bytes);
    Ok(())
}

fn parse_number(parser: &mut Parser<'_>, element: Element) -> Result<Number, Fault> {
    Ok(match element {
        Element::Float => Number::Float(parser.float()?),
        Element::Byte => Number::Int(parser.integer(0, 255)?),
        Element::Int => Number::Int(parser.integer(i32::MIN.into(), i32::MAX.into())?),
    })
}

fn parse_name(parser: &mut Parser<'_>, bytes: &mut [u8]) -> Result<(), Fault> {
    let text = parser.string()?;
    if text.len() >= NAME_BYTES || text.contains(&0) {
        let length = text.len();
        return parser.fault(format!(
            "a name of {length} bytes, at most {} without a NUL fit",
            NAME_BYTES - 1
        ));
    }
    for (byte, new) in bytes.iter_mut().zip(text) {
        *byte = new;
    }
    Ok(())
}

fn parse_min_max(
    parser: &mut Parser<'_>,
    element: Element,
    put: &mut impl FnMut(usize, Number),
) -> Result<(), Fault> {
    let mut seen = [false; 2];
    parser.object(|parser, key| {
        let place = match key {
            b"mins" => 0,
            b"maxs" => 1,
            _ => return parser.skip_value(),
        };
        if let Some(seen) = seen.get_mut(place) {
            *seen = true;
        }
        parser.array_of(3, |parser, axis| {
            put(place * 3 + axis, parse_number(parser, element)?);
            Ok(())
        })
    })?;
    if seen == [true; 2] {
        Ok(())
    } else {
        parser.fault("“mins” or “maxs” is missing")
    }
}

/// An object of named bits: the strings' values are combined, the names do not count.
fn parse_flags(parser: &mut Parser<'_>) -> Result<i64, Fault> {
    let mut flags = 0;
    parser.object(|parser, _| {
        let text = String::from_utf8_lossy(&parser.string()?).into_owned();
        let (digits, radix) = match text.get(..2) {
            Some("0x" | "0X") => (text.get(2..).unwrap_or_default(), 16),
            _ if text.len() > 1 && text.starts_with('0') => (text.as_str(), 8),
            _ => (text.as_str(), 10),
        };
        let Ok(value) = u32::from_str_radix(digits, radix) else {
            return parser.fault(format!("“{text}” is no 32-bit number"));
        };
        flags |= i64::from(value);
        Ok(())
    })?;
    Ok(flags)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::json::schema::RECORD_FILES;

    #[test]
    fn record_sizes_are_those_of_the_format() {
        let sizes = |styles| RECORD_FILES.map(|lump| lump.record_bytes(styles));
        assert_eq!(
            sizes(Styles::One),
            [72, 40, 16, 48, 36, 4, 4, 12, 8, 44, 104, 4, 72, 8, 1, 1]
        );
        assert_eq!(
            sizes(Styles::Four),
            [72, 40, 16, 48, 36, 4, 4, 12, 12, 80, 148, 4, 72, 30, 1, 1]
        );
        let wide = RECORD_FILES.iter().flat_map(LumpFile::fields);
        assert!(wide.into_iter().all(|field| field.form.count() <= NUMBERS));
        assert!(RECORD_FILES.iter().all(|lump| lump.fields().len() <= 32));
    }

    #[test]
    fn every_record_survives_as_normalised_in_both_kinds() {
        for lump in RECORD_FILES {
            for styles in [Styles::One, Styles::Four] {
                let size = lump.record_bytes(styles);
                for seed in 0..40_u32 {
                    let byte = |at: usize| (seed.wrapping_mul(2_654_435_761) >> (at % 24)) as u8;
                    let mut record: Vec<u8> = (0..size)
                        .map(|at| byte(at).wrapping_mul(at as u8 | 1))
                        .collect();
                    let mut json = Vec::new();
                    let mut out = Emitter::new(&mut json);
                    emit(&record, &lump, styles, &mut out);
                    out.finish().unwrap();
                    let mut back = Vec::new();
                    let mut source = json.as_slice();
                    parse(&mut Parser::new(&mut source), &lump, styles, &mut back)
                        .map_err(|fault| fault.in_file(lump.file))
                        .unwrap();
                    normalise(&mut record, &lump, styles);
                    assert_eq!(
                        back,
                        record,
                        "{} {}",
                        lump.file,
                        String::from_utf8_lossy(&json)
                    );
                }
            }
        }
    }
}
