//! Lump 18 ↔ `GridPointsSH.json`.

use crate::format::json::emit::Emitter;
use crate::format::json::error::Fault;
use crate::format::json::parse::{NAN_BITS, Parser};
use crate::format::reader::Record;

const HEAD_BYTES: usize = 40;
const POINT_BYTES: usize = 108;
/// Coefficients of a point, each RGB.
const COEFFICIENTS: usize = 9;

/// Writes a lump whose head the reader has found sound.
pub(super) fn emit(lump: &[u8], out: &mut Emitter<'_>) {
    let (head, points) = lump.split_at_checked(HEAD_BYTES).unwrap_or_default();
    let mut head = Record::new(head);
    out.begin_object();
    out.key("header");
    out.begin_object();
    for key in ["gridMins", "gridSize"] {
        out.key(key);
        out.begin_array();
        for _ in 0..3 {
            out.float(head.f32());
        }
        out.end();
    }
    out.key("gridBounds");
    out.begin_array();
    for _ in 0..3 {
        out.integer(head.i32().into());
    }
    out.end();
    out.end();
    out.key("points");
    out.begin_array();
    for point in points.chunks_exact(POINT_BYTES) {
        let mut point = Record::new(point);
        out.begin_array();
        for _ in 0..COEFFICIENTS {
            out.begin_array();
            for _ in 0..3 {
                out.float(point.f32());
            }
            out.end();
        }
        out.end();
        if out.has_failed() {
            break;
        }
    }
    out.end();
    out.end();
}

/// What [`parse`] makes from what [`emit`] writes: every NaN becomes the same one.
pub(super) fn normalised(lump: &[u8]) -> Vec<u8> {
    let mut lump = lump.to_vec();
    let points = lump.get_mut(HEAD_BYTES..).unwrap_or_default();
    for number in points.as_chunks_mut::<4>().0 {
        if f32::from_le_bytes(*number).is_nan() {
            *number = NAN_BITS.to_le_bytes();
        }
    }
    lump
}

/// The lump; empty when there are no points.
pub(super) fn parse(parser: &mut Parser<'_>) -> Result<Vec<u8>, Fault> {
    let mut placement = None;
    let mut points = Vec::new();
    let mut has_points = false;
    parser.object(|parser, key| match key {
        b"header" => {
            placement = Some(parse_header(parser)?);
            Ok(())
        }
        b"points" => {
            has_points = true;
            parse_points(parser, &mut points)
        }
        _ => parser.skip_value(),
    })?;
    if !has_points || points.is_empty() {
        return Ok(Vec::new());
    }
    let Some((floats, counts)) = placement else {
        return parser.fault("member “header” is missing");
    };
    let found = (points.len() / POINT_BYTES) as u64;
    let expected = counts.iter().try_fold(1_u64, |product, count| {
        product.checked_mul(u64::from(*count))
    });
    let (Some(true), Ok(number)) = (
        expected.map(|expected| expected == found),
        i32::try_from(found),
    ) else {
        let [x, y, z] = counts;
        return parser.fault(format!(
            "{found} points, gridBounds {x}×{y}×{z} need another number"
        ));
    };
    let mut lump = Vec::with_capacity(HEAD_BYTES + points.len());
    lump.extend(floats.into_iter().flat_map(f32::to_le_bytes));
    lump.extend(counts.into_iter().flat_map(u32::to_le_bytes));
    lump.extend(number.to_le_bytes());
    lump.append(&mut points);
    Ok(lump)
}

fn parse_header(parser: &mut Parser<'_>) -> Result<([f32; 6], [u32; 3]), Fault> {
    let mut floats = [0.0; 6];
    let mut counts = [0; 3];
    let mut seen = [false; 3];
    parser.object(|parser, key| {
        let member = [b"gridMins".as_slice(), b"gridSize", b"gridBounds"];
        let Some(part) = member.iter().position(|name| *name == key) else {
            return parser.skip_value();
        };
        if let Some(seen) = seen.get_mut(part) {
            *seen = true;
        }
        parser.array_of(3, |parser, axis| {
            if let Some(count) = counts.get_mut(axis)
                && part == 2
            {
                let value = parser.integer(1, i32::MAX.into())?;
                *count = u32::try_from(value).unwrap_or_default();
            } else if let Some(float) = floats.get_mut(part * 3 + axis) {
                *float = parser.float()?;
                let usable = float.is_finite() && (part == 0 || *float > 0.0);
                if !usable {
                    return parser.fault(format!("{float} is no usable placement"));
                }
            }
            Ok(())
        })
    })?;
    if seen != [true; 3] {
        return parser.fault("“gridMins”, “gridSize” or “gridBounds” is missing");
    }
    Ok((floats, counts))
}

fn parse_points(parser: &mut Parser<'_>, points: &mut Vec<u8>) -> Result<(), Fault> {
    parser.array(|parser, _| {
        parser.array_of(COEFFICIENTS, |parser, _| {
            parser.array_of(3, |parser, _| {
                points.extend_from_slice(&parser.float()?.to_le_bytes());
                Ok(())
            })
        })
    })
}
