//! The tokeniser that entity text, `.map` and `.srf` files share.

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// `{` on its own.
    Open,
    /// `}` on its own.
    Close,
    /// Anything else up to white space.
    Word(String),
    /// Between quotes; no escapes.
    Quoted(String),
}

/// What some editors put before UTF-8 text; no part of the text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Splits bytes up to the first NUL into tokens: white space is any byte ≤ 32, `//` and `/* */` are comments.
pub(crate) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
    start: usize,
    hash_comments: bool,
    unterminated: bool,
}

impl<'a> Tokens<'a> {
    /// `hash_comments`: whether `;` and `#` at a token's start begin a comment, as in `.map` files.
    pub(crate) fn new(bytes: &'a [u8], hash_comments: bool) -> Self {
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
        Self {
            bytes: bytes.get(..end).unwrap_or_default(),
            at: if bytes.starts_with(BYTE_ORDER_MARK) {
                BYTE_ORDER_MARK.len()
            } else {
                0
            },
            start: 0,
            hash_comments,
            unterminated: false,
        }
    }

    /// Byte offset behind the last token.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Byte offset of the last token's first byte, its quote included.
    pub(crate) fn token_start(&self) -> usize {
        self.start
    }

    /// Line of the last token, from 1.
    pub(crate) fn line(&self) -> usize {
        let before = self.bytes.get(..self.start).unwrap_or_default();
        before.split(|byte| *byte == b'\n').count()
    }

    /// Whether the text ended inside a quote.
    pub(crate) fn unterminated_quote(&self) -> bool {
        self.unterminated
    }

    /// Whether the text begins with a byte order mark, which is skipped.
    pub(crate) fn has_byte_order_mark(&self) -> bool {
        self.bytes.starts_with(BYTE_ORDER_MARK)
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn skip_to_line_end(&mut self) {
        while self.byte(self.at).is_some_and(|b| b != b'\n') {
            self.at += 1;
        }
    }

    fn skip_blank(&mut self) {
        loop {
            match (self.byte(self.at), self.byte(self.at + 1)) {
                (Some(b), _) if b <= b' ' => self.at += 1,
                (Some(b'/'), Some(b'/')) => self.skip_to_line_end(),
                (Some(b'#' | b';'), _) if self.hash_comments => self.skip_to_line_end(),
                (Some(b'/'), Some(b'*')) => {
                    let rest = self.bytes.get(self.at + 2..).unwrap_or_default();
                    let close = rest.windows(2).position(|pair| pair == b"*/");
                    self.at = close.map_or(self.bytes.len(), |offset| self.at + 4 + offset);
                }
                _ => return,
            }
        }
    }

    /// The next token, or `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Token> {
        self.skip_blank();
        self.start = self.at;
        if self.byte(self.at)? == b'"' {
            self.at += 1;
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let length = rest.iter().position(|b| *b == b'"').unwrap_or_else(|| {
                self.unterminated = true;
                rest.len()
            });
            let text = latin1(rest.get(..length).unwrap_or_default());
            self.at = (self.at + length + 1).min(self.bytes.len());
            return Some(Token::Quoted(text));
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|b| *b <= b' ' || *b == b'"')
            .unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        self.at += length;
        Some(match word {
            b"{" => Token::Open,
            b"}" => Token::Close,
            _ => Token::Word(latin1(word)),
        })
    }
}

/// Decodes bytes as Latin-1: every byte is the character of the same number, so nothing is lost.
pub(crate) fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|b| char::from(*b)).collect()
}
