//! Entity text: `{ "key" "value" … }` blocks, as in lump 0, `.ent` and the outer level of `.map` files.

use glam::Vec3;

use crate::format::tokens::{Token, Tokens};

/// Keys that one entity holds at most before the rest is dropped with a warning; far above any engine's limit.
const PAIR_LIMIT: usize = 65_536;

/// One entity: its pairs in file order, duplicates kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entity {
    /// Keys and values as written. Bytes above 127 are decoded as Latin-1.
    pub pairs: Vec<(String, String)>,
    /// Byte offset of its `{` in the text.
    pub offset: usize,
}

/// All entities of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entities {
    /// In file order; the first is worldspawn, whatever its classname says.
    pub list: Vec<Entity>,
    /// What was mended, with byte offset and line.
    pub warnings: Vec<String>,
}

impl Entity {
    /// The first non-empty value under `key`, compared without case, trailing white space removed.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.pairs
            .iter()
            .filter(|(name, _)| name.trim_end().eq_ignore_ascii_case(key))
            .map(|(_, value)| value.trim_end())
            .find(|value| !value.is_empty())
    }

    /// The first of several alias keys with a non-empty value.
    pub fn get_any(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// `classname`, or an empty text.
    pub fn classname(&self) -> &str {
        self.get("classname").unwrap_or_default()
    }

    /// A finite number at the start of the value, as C's `atof` reads it; `None` when the key is absent or no number.
    pub fn number(&self, keys: &[&str]) -> Option<f32> {
        self.get_any(keys)
            .and_then(|text| leading_number(text.trim_start()))
    }

    /// Three finite numbers; `None` when fewer parse.
    pub fn vector(&self, keys: &[&str]) -> Option<Vec3> {
        let numbers = numbers(self.get_any(keys)?);
        match numbers.as_slice() {
            [x, y, z, ..] => Some(Vec3::new(*x, *y, *z)),
            _ => None,
        }
    }

    /// Whether the value begins with `1`.
    pub fn flag(&self, keys: &[&str]) -> bool {
        self.get_any(keys).is_some_and(|text| text.starts_with('1'))
    }

    /// Whether it is a light: its class begins with `light`, in any case.
    pub fn is_light(&self) -> bool {
        let start = self.classname().as_bytes().get(..5);
        start.is_some_and(|start| start.eq_ignore_ascii_case(b"light"))
    }

    /// `origin`, or zero.
    pub fn origin(&self) -> Vec3 {
        self.vector(&["origin"]).unwrap_or(Vec3::ZERO)
    }

    /// The inline model number of `model "*n"`, n ≥ 1.
    pub fn inline_model(&self) -> Option<usize> {
        self.get("model")?
            .strip_prefix('*')?
            .parse()
            .ok()
            .filter(|n| *n > 0)
    }
}

/// Leading finite numbers of a value, split at white space; stops at the first word that is none.
pub fn numbers(text: &str) -> Vec<f32> {
    text.split_ascii_whitespace()
        .map_while(leading_number)
        .collect()
}

/// Characters of a number at most.
const NUMBER_BYTES_MAX: usize = 128;

/// The longest prefix that is a finite decimal number, as `atof` takes it: `"64,64"` is 64.
pub fn leading_number(word: &str) -> Option<f32> {
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    let end = word.find(|c| !numeric(c)).unwrap_or(word.len());
    // Retried byte by byte below: without a limit a hostile value would cost its length squared.
    let mut prefix = word.get(..end.min(NUMBER_BYTES_MAX))?;
    while !prefix.is_empty() {
        if let Ok(value) = prefix.parse::<f32>() {
            return value.is_finite().then_some(value);
        }
        prefix = prefix.get(..prefix.len() - 1)?;
    }
    None
}

impl Entities {
    /// Parses `bytes` up to the first NUL. Never fails: what does not fit is mended and reported.
    pub fn parse(bytes: &[u8]) -> Self {
        parse(bytes, Depth::EntitiesOnly)
    }

    /// Parses the text of a `.map` file: pairs at brace depth 1, everything deeper (brushes, patches) is skipped.
    pub fn parse_map(bytes: &[u8]) -> Self {
        parse(bytes, Depth::SkipNested)
    }

    /// The first entity.
    pub fn worldspawn(&self) -> Option<&Entity> {
        self.list.first()
    }

    /// The first entity with this `targetname`, compared exactly.
    pub fn find_target(&self, name: &str) -> Option<&Entity> {
        self.list
            .iter()
            .find(|entity| entity.get("targetname") == Some(name))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    EntitiesOnly,
    SkipNested,
}

fn parse(bytes: &[u8], depth: Depth) -> Entities {
    let mut entities = Entities::default();
    let mut tokens = Tokens::new(bytes, depth == Depth::SkipNested);
    if tokens.has_byte_order_mark() {
        entities.warn(&tokens, "a byte order mark is skipped");
    }
    let mut open: Option<Entity> = None;
    let mut key: Option<String> = None;
    while let Some(token) = tokens.next() {
        match token {
            Token::Open if open.is_some() && depth == Depth::SkipNested => skip_nested(&mut tokens),
            Token::Open => {
                if let Some(entity) = open.take() {
                    entities.warn(&tokens, "“{” inside an entity closes the open one");
                    entities.list.push(entity);
                }
                key = None;
                open = Some(Entity {
                    pairs: Vec::new(),
                    offset: tokens.token_start(),
                });
            }
            Token::Close => match open.take() {
                Some(entity) => {
                    if key.take().is_some() {
                        entities.warn(&tokens, "key without a value");
                    }
                    entities.list.push(entity);
                }
                None => entities.warn(&tokens, "“}” outside an entity"),
            },
            Token::Word(text) | Token::Quoted(text) => match (&mut open, key.take()) {
                (Some(entity), Some(name)) if entity.pairs.len() < PAIR_LIMIT => {
                    entity.pairs.push((name, text));
                }
                (Some(_), Some(_)) => entities.warn(&tokens, "too many keys in one entity"),
                (Some(_), None) => key = Some(text),
                (None, _) => entities.warn(&tokens, "text outside an entity"),
            },
        }
    }
    if let Some(entity) = open {
        entities.warn(&tokens, "the last entity is not closed");
        entities.list.push(entity);
    }
    if tokens.unterminated_quote() {
        entities.warn(&tokens, "a quote is not closed");
    }
    entities
}

/// Skips to the `}` that closes the `{` just read.
fn skip_nested(tokens: &mut Tokens<'_>) {
    let mut depth = 1_usize;
    while depth > 0 {
        match tokens.next() {
            Some(Token::Open) => depth += 1,
            Some(Token::Close) => depth -= 1,
            Some(_) => {}
            None => return,
        }
    }
}

impl Entities {
    /// Warnings kept at most; a hostile text could hold millions.
    const WARNING_LIMIT: usize = 100;

    fn warn(&mut self, tokens: &Tokens<'_>, what: &str) {
        if self.warnings.len() < Self::WARNING_LIMIT {
            let (offset, line) = (tokens.token_start(), tokens.line());
            self.warnings
                .push(format!("entities, byte {offset}, line {line}: {what}"));
        }
    }
}

/// The text with `key` of the first entity set to `value`; every other byte stays.
///
/// A present key (compared without case) has its first value replaced, otherwise the pair is put right after the first
/// `{`. A text without entities is returned as it is.
pub fn with_worldspawn_key(text: &[u8], key: &str, value: &str) -> Vec<u8> {
    let mut tokens = Tokens::new(text, false);
    let mut insert_at = None;
    let mut name: Option<String> = None;
    let mut replace = None;
    while let Some(token) = tokens.next() {
        match token {
            Token::Open if insert_at.is_none() => insert_at = Some(tokens.position()),
            // Stray text before the first entity.
            _ if insert_at.is_none() => {}
            Token::Open | Token::Close => break,
            Token::Word(text) | Token::Quoted(text) => match name.take() {
                Some(name) if name.trim_end().eq_ignore_ascii_case(key) => {
                    replace = Some(tokens.token_start()..tokens.position());
                    break;
                }
                Some(_) => {}
                None => name = Some(text),
            },
        }
    }
    let Some(insert_at) = insert_at else {
        return text.to_vec();
    };
    let (range, new) = match replace {
        Some(range) => (range, format!("\"{value}\"")),
        None => (insert_at..insert_at, format!("\n\"{key}\" \"{value}\"")),
    };
    let mut edited = Vec::with_capacity(text.len() + new.len());
    edited.extend_from_slice(text.get(..range.start).unwrap_or_default());
    edited.extend_from_slice(new.as_bytes());
    edited.extend_from_slice(text.get(range.end..).unwrap_or_default());
    edited
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_duplicates_and_comments() {
        let text = b"// note\n{ \"classname\" \"worldspawn\" \"a\" \"1\" /* x */ \"A\" \"2 \" \"empty\" \"\" }\n{ classname light }\0junk{";
        let entities = Entities::parse(text);
        assert_eq!(entities.list.len(), 2);
        assert_eq!(entities.list[0].get("A"), Some("1"));
        assert_eq!(entities.list[0].pairs.len(), 4);
        assert_eq!(entities.list[1].classname(), "light");
        assert!(entities.warnings.is_empty(), "{:?}", entities.warnings);
    }

    #[test]
    fn broken_texts_are_mended_and_reported() {
        for (text, entities, warnings) in [
            (&b"}"[..], 0, 1),
            (b"{ \"a\" \"b\"", 1, 1),
            (b"{ \"a\" { \"c\" \"d\" }", 2, 1),
            (b"{ \"a\" }", 1, 1),
            (b"{ \"a\" \"b", 1, 2),
            (b"stray { }", 1, 1),
            (b"", 0, 0),
        ] {
            let parsed = Entities::parse(text);
            assert_eq!(
                (parsed.list.len(), parsed.warnings.len()),
                (entities, warnings),
                "{text:?} {:?}",
                parsed.warnings
            );
        }
    }

    #[test]
    fn map_brushes_are_skipped_and_quoted_braces_do_not_count() {
        let text = b"{ \"classname\" \"worldspawn\" { ( 0 0 0 ) ( 1 0 0 ) ( 0 1 0 ) tex 0 0 } { patchDef2 { a } } \"m\" \"{\" }\n{ \"classname\" \"light\" }";
        let entities = Entities::parse_map(text);
        assert_eq!(entities.list.len(), 2);
        assert_eq!(entities.list[0].get("m"), Some("{"));
    }

    #[test]
    fn numbers_are_read_as_the_engine_reads_them() {
        assert_eq!(numbers(" 64  64 128 x 9"), [64.0, 64.0, 128.0]);
        assert_eq!(leading_number("64,64"), Some(64.0));
        assert_eq!(leading_number("1e3"), Some(1000.0));
        assert_eq!(leading_number("nan"), None);
        assert_eq!(leading_number("1e99"), None);
        assert_eq!(leading_number("-"), None);
    }

    #[test]
    fn setting_a_key_changes_nothing_else() {
        let text =
            b"{\n\"classname\" \"worldspawn\"\n\"GridSize\" \"1 2 3\"\n}\n{ \"gridsize\" \"x\" }\0";
        let edited = with_worldspawn_key(text, "gridsize", "64 64 128");
        assert_eq!(
            edited,
            b"{\n\"classname\" \"worldspawn\"\n\"GridSize\" \"64 64 128\"\n}\n{ \"gridsize\" \"x\" }\0"
        );
        let added = with_worldspawn_key(b"{\n\"a\" \"b\"\n}\0", "k", "v");
        assert_eq!(added, b"{\n\"k\" \"v\"\n\"a\" \"b\"\n}\0");
        assert_eq!(with_worldspawn_key(b"", "k", "v"), b"");
        let stray = with_worldspawn_key(b"x } { \"a\" \"b\" }", "a", "v");
        assert_eq!(stray, b"x } { \"a\" \"v\" }");
    }
}
