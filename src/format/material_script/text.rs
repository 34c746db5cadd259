use crate::format::material_script::lexer::Lexer;
use crate::format::tokens::latin1;

/// Longest text that [`definition_text`] returns, bytes; a definition that goes on is cut there.
const TEXT_LIMIT: usize = 64 * 1024;

/// The text of the definition whose name stands on `line` (from 1) of a script, from the name to the closing brace, comments
/// and line ends included. Empty when there is no such line; to the end of the file when the brace is missing.
pub fn definition_text(bytes: &[u8], line: usize) -> String {
    let is_end = |(_, byte): &(usize, &u8)| **byte == b'\n';
    let line_start = match line.checked_sub(2) {
        None => Some(0),
        Some(before) => {
            let end = bytes.iter().enumerate().filter(is_end).nth(before);
            end.map(|(at, _)| at + 1)
        }
    };
    let Some(rest) = line_start.and_then(|start| bytes.get(start..)) else {
        return String::new();
    };
    let mut lexer = Lexer::new(rest);
    let (mut depth, mut name_end) = (0_usize, None);
    while let Some(word) = lexer.word() {
        match word.as_str() {
            "{" => depth += 1,
            // The end of the definition before, on the same line.
            "}" if depth == 0 => name_end = Some(lexer.offset()),
            "}" => depth -= 1,
            _ => continue,
        }
        if depth == 0 && word == "}" && name_end != Some(lexer.offset()) {
            break;
        }
    }
    let text = rest.get(name_end.unwrap_or(0)..lexer.offset().min(rest.len()));
    let text = text.unwrap_or_default();
    latin1(text.get(..TEXT_LIMIT).unwrap_or(text))
        .trim()
        .replace("\r\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_ends_at_its_own_brace() {
        let script = b"// a } comment\nfirst { { map a.tga } } second // {\n{\r\n\t// why }\n\t{ map \"b}.tga\" }\n}\nthird\n{\n";
        assert_eq!(definition_text(script, 2), "first { { map a.tga } }");
        assert_eq!(definition_text(script, 7), "third\n{");
        assert_eq!(definition_text(script, 90), "");
        let second = b"x {\n} second // {\n{\r\n\t// why }\n\t{ map \"b}.tga\" }\n}\n";
        assert_eq!(
            definition_text(second, 2),
            "second // {\n{\n\t// why }\n\t{ map \"b}.tga\" }\n}"
        );
    }
}
