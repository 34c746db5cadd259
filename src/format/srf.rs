//! `.srf`: what the compiler's BSP stage tells its light stage about each surface.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::Vec3;

use crate::format::entities::leading_number;
use crate::format::tokens::{Token, Tokens};

/// Extras of one surface.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceExtra {
    /// Original material name; `None` means the BSP's.
    pub material: Option<Arc<str>>,
    /// Surface this one is a sky-portal clone of.
    pub parent: Option<u32>,
    /// Number of the entity it belongs to.
    pub entity: u32,
    /// Shadow group that it casts in; 0 casts none.
    pub cast_shadows: i32,
    /// Shadow group that it receives.
    pub receive_shadows: i32,
    /// Luxel size, game units.
    pub sample_size: i32,
    /// Ambient light of the surface, byte units.
    pub ambient: Vec3,
    /// Longest curve of a patch, game units.
    pub longest_curve: f32,
    /// Axis that the lightmap is projected along; zero for none.
    pub lightmap_axis: Vec3,
}

impl Default for SurfaceExtra {
    fn default() -> Self {
        Self {
            material: None,
            parent: None,
            entity: 0,
            cast_shadows: 1,
            receive_shadows: 1,
            sample_size: 16,
            ambient: Vec3::ZERO,
            longest_curve: 0.0,
            lightmap_axis: Vec3::ZERO,
        }
    }
}

/// A parsed `.srf` file. Numbers are those of the BSP before its light stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceExtras {
    default: SurfaceExtra,
    surfaces: BTreeMap<u32, SurfaceExtra>,
}

impl SurfaceExtras {
    /// Parses the text. Unknown keys and stray words are ignored, as the reference compiler does.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut extras = Self::default();
        let mut tokens = Tokens::new(bytes, false);
        let mut name: Option<String> = None;
        while let Some(token) = tokens.next() {
            match token {
                Token::Open => {
                    let block: Option<u32> = match name.take() {
                        Some(word) if word == "default" => None,
                        Some(word) => word.parse().ok(),
                        None => None,
                    };
                    let mut extra = match block {
                        Some(number) => extras
                            .surfaces
                            .get(&number)
                            .unwrap_or(&extras.default)
                            .clone(),
                        None => extras.default.clone(),
                    };
                    read_block(&mut tokens, &mut extra);
                    match block {
                        Some(number) => {
                            extras.surfaces.insert(number, extra);
                        }
                        None => extras.default = extra,
                    }
                }
                Token::Close => {}
                Token::Word(word) | Token::Quoted(word) => name = Some(word),
            }
        }
        extras
    }

    /// Extras of surface `number`; the file's defaults when it is not listed.
    pub fn get(&self, number: u32) -> &SurfaceExtra {
        self.surfaces.get(&number).unwrap_or(&self.default)
    }
}

fn read_block(tokens: &mut Tokens<'_>, extra: &mut SurfaceExtra) {
    while let Some(token) = tokens.next() {
        let (Token::Word(key) | Token::Quoted(key)) = token else {
            return;
        };
        let mut number = |fallback: f32| match tokens.next() {
            Some(Token::Word(word) | Token::Quoted(word)) => {
                leading_number(&word).unwrap_or(fallback)
            }
            _ => fallback,
        };
        match key.to_ascii_lowercase().as_str() {
            "shader" => {
                if let Some(Token::Word(word) | Token::Quoted(word)) = tokens.next() {
                    extra.material = Some(word.into());
                }
            }
            "parent" => extra.parent = whole(number(-1.0)),
            "entity" => extra.entity = whole(number(0.0)).unwrap_or(0),
            "castshadows" => extra.cast_shadows = signed(number(1.0)),
            "receiveshadows" => extra.receive_shadows = signed(number(1.0)),
            "samplesize" => extra.sample_size = signed(number(16.0)),
            "longestcurve" => extra.longest_curve = number(0.0),
            "ambientcolor" => extra.ambient = vector(tokens),
            "lightmapaxis" => extra.lightmap_axis = vector(tokens),
            _ => {}
        }
    }
}

/// `( x y z )`.
fn vector(tokens: &mut Tokens<'_>) -> Vec3 {
    let mut values = [0.0_f32; 3];
    let mut filled = 0;
    while let Some(Token::Word(word) | Token::Quoted(word)) = tokens.next() {
        match word.as_str() {
            "(" => {}
            ")" => break,
            _ => {
                if let Some(slot) = values.get_mut(filled) {
                    *slot = leading_number(&word).unwrap_or(0.0);
                    filled += 1;
                }
            }
        }
    }
    Vec3::from(values)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "float to integer casts saturate"
)]
fn signed(value: f32) -> i32 {
    value as i32
}

fn whole(value: f32) -> Option<u32> {
    u32::try_from(signed(value)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_inherit_the_default_known_by_then() {
        let text = b"default\n{\n\tcastShadows 1\n\tsampleSize 8\n\tambientColor ( 3 3.5 5 )\n}\n\n0 // note V: 9\n{\n\tshader textures/a\n\tlongestCurve 542.7\n\tlightmapAxis ( 0 0 1 )\n}\n7\n{\n\tcastShadows 0\n\tparent 3\n\tunknown\n}\n";
        let extras = SurfaceExtras::parse(text);
        assert_eq!(extras.get(0).material.as_deref(), Some("textures/a"));
        assert_eq!(extras.get(0).lightmap_axis, Vec3::Z);
        assert_eq!(extras.get(0).sample_size, 8);
        assert_eq!(extras.get(7).cast_shadows, 0);
        assert_eq!(extras.get(7).parent, Some(3));
        assert_eq!(extras.get(99).ambient, Vec3::new(3.0, 3.5, 5.0));
    }
}
