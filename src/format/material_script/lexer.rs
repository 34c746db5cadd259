use crate::format::tokens::latin1;

/// Lines of words of a script: comments removed, quotes grouped, braces and parentheses as words of their own when they
/// stand alone.
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            line: 1,
        }
    }

    /// Line of the next byte, from 1.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Bytes read so far.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn advance(&mut self) {
        if self.byte(0) == Some(b'\n') {
            self.line += 1;
        }
        self.at += 1;
    }

    /// Skips white space and comments; with `same_line` stops at a line end and says whether it did.
    fn skip_blank(&mut self, same_line: bool) -> bool {
        loop {
            match (self.byte(0), self.byte(1)) {
                (Some(b'\n' | b'\r'), _) if same_line => return true,
                (Some(b), _) if b <= b' ' => self.advance(),
                (Some(b'/'), Some(b'/')) => {
                    while self.byte(0).is_some_and(|b| b != b'\n') {
                        self.at += 1;
                    }
                }
                (Some(b'/'), Some(b'*')) => {
                    self.at += 2;
                    while self.byte(0).is_some()
                        && (self.byte(0), self.byte(1)) != (Some(b'*'), Some(b'/'))
                    {
                        self.advance();
                    }
                    self.at += 2;
                }
                (None, _) => return same_line,
                _ => return false,
            }
        }
    }

    fn read_word(&mut self) -> Option<String> {
        if self.byte(0)? == b'"' {
            self.at += 1;
            let start = self.at;
            while self.byte(0).is_some_and(|b| b != b'"' && b != b'\n') {
                self.at += 1;
            }
            let word = latin1(self.bytes.get(start..self.at).unwrap_or_default());
            if self.byte(0) == Some(b'"') {
                self.at += 1;
            }
            return Some(word);
        }
        let start = self.at;
        while let Some(b) = self.byte(0) {
            let comment = b == b'/' && matches!(self.byte(1), Some(b'/' | b'*'));
            if b <= b' ' || comment {
                break;
            }
            self.at += 1;
        }
        Some(latin1(self.bytes.get(start..self.at).unwrap_or_default()))
    }

    /// The next word on any line.
    pub(super) fn word(&mut self) -> Option<String> {
        self.skip_blank(false);
        self.read_word()
    }

    /// The next word if it is on the present line.
    pub(super) fn word_on_line(&mut self) -> Option<String> {
        if self.skip_blank(true) {
            None
        } else {
            self.read_word()
        }
    }

    /// The remaining words of the present line; a lone `}` is left for the caller.
    pub(super) fn rest_of_line(&mut self) -> Vec<String> {
        let mut words = Vec::new();
        loop {
            let (at, line) = (self.at, self.line);
            match self.word_on_line() {
                Some(word) if word == "}" => {
                    (self.at, self.line) = (at, line);
                    return words;
                }
                Some(word) => words.push(word),
                None => return words,
            }
        }
    }
}
