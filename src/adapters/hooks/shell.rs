//! A shell command taken apart as far as is needed to see what it writes: words, redirections,
//! commands within commands. It does not run or expand anything.

/// How deep commands are looked for within commands.
const MOST_DEPTH: usize = 8;

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Its text without quotes.
    pub text: String,
    /// Whether it has an expansion that is not known here.
    pub dynamic: bool,
    /// Whether it has a pattern outside of quotes.
    pub glob: bool,
    /// Whether it has a brace outside of quotes.
    pub braces: bool,
}

/// One command with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// The words in order, redirections taken out.
    pub words: Vec<Word>,
    /// Files that a redirection writes.
    pub writes: Vec<Word>,
}

/// All commands of a line, those in substitutions too.
pub fn commands(source: &str) -> Vec<Simple> {
    let mut found = Vec::new();
    parse(source, 0, &mut found);
    found
}

fn parse(source: &str, depth: usize, found: &mut Vec<Simple>) {
    let mut reader = Reader { chars: source.chars().collect(), ..Reader::default() };
    reader.run();
    found.append(&mut reader.found);
    if depth < MOST_DEPTH {
        for nested in reader.nested {
            parse(&nested, depth + 1, found);
        }
    }
}

#[derive(Default)]
struct Reader {
    chars: Vec<char>,
    at: usize,
    word: Option<Word>,
    simple: Simple,
    /// What the next word is for.
    role: Role,
    /// The ends of here-documents whose text begins at the next line.
    heredocs: Vec<(String, bool)>,
    found: Vec<Simple>,
    nested: Vec<String>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Role {
    #[default]
    Argument,
    Written,
    Read,
    Heredoc {
        tabs: bool,
    },
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn run(&mut self) {
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '\\' => {
                    if let Some(next) = self.peek(0) {
                        self.at += 1;
                        if next != '\n' {
                            self.push(next);
                        }
                    }
                }
                '\'' => self.single(),
                '"' => self.double(),
                '`' => {
                    let inner = self.until_backtick();
                    self.nest(inner);
                }
                '$' => self.dollar(),
                '#' if self.word.is_none() => self.skip_line(),
                '\n' => {
                    self.end_command();
                    self.skip_heredocs();
                }
                ' ' | '\t' | '\r' => self.end_word(),
                '&' if self.peek(0) == Some('>') => {
                    self.end_word();
                    self.at += 1;
                    self.redirect_out();
                }
                ';' | '|' | '&' | '(' | ')' => self.end_command(),
                '>' => {
                    self.drop_descriptor();
                    self.redirect_out();
                }
                '<' => {
                    self.drop_descriptor();
                    self.redirect_in();
                }
                c => {
                    if matches!(c, '*' | '?' | '[') {
                        self.current().glob = true;
                    }
                    self.current().braces |= c == '{';
                    self.push(c);
                }
            }
        }
        self.end_command();
    }

    fn current(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn push(&mut self, c: char) {
        self.current().text.push(c);
    }

    fn single(&mut self) {
        self.current();
        while let Some(c) = self.peek(0) {
            self.at += 1;
            if c == '\'' {
                return;
            }
            self.push(c);
        }
    }

    fn double(&mut self) {
        self.current();
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '"' => return,
                '\\' if matches!(self.peek(0), Some('$' | '`' | '"' | '\\' | '\n')) => {
                    if let Some(next) = self.peek(0).filter(|next| *next != '\n') {
                        self.push(next);
                    }
                    self.at += 1;
                }
                '`' => {
                    let inner = self.until_backtick();
                    self.nest(inner);
                }
                '$' => self.dollar(),
                c => self.push(c),
            }
        }
    }

    fn dollar(&mut self) {
        match self.peek(0) {
            Some('(') => {
                self.at += 1;
                let inner = self.until_paren();
                self.nest(inner);
            }
            Some('\'') if self.word.is_none() => {}
            _ => {
                self.current().dynamic = true;
                self.push('$');
            }
        }
    }

    fn nest(&mut self, inner: String) {
        self.current().dynamic = true;
        self.push('$');
        self.nested.push(inner);
    }

    fn until_backtick(&mut self) -> String {
        let mut inner = String::new();
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '`' => break,
                '\\' => inner.extend(self.peek(0).inspect(|_| self.at += 1)),
                c => inner.push(c),
            }
        }
        inner
    }

    /// What stands up to the closing parenthesis; quotes hide parentheses.
    fn until_paren(&mut self) -> String {
        let (mut depth, mut quote) = (1, None);
        let start = self.at;
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match (quote, c) {
                (Some('\''), '\'') | (Some('"'), '"') => quote = None,
                (Some('\''), _) => {}
                (_, '\\') => self.at += 1,
                (Some(_), _) => {}
                (None, '\'' | '"') => quote = Some(c),
                (None, '(') => depth += 1,
                (None, ')') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        let end = self.at.min(self.chars.len());
        let text = self.chars.get(start..end).unwrap_or_default();
        let text = if depth == 0 { &text[..text.len().saturating_sub(1)] } else { text };
        text.iter().collect()
    }

    /// Digits right before a redirection name a descriptor.
    fn drop_descriptor(&mut self) {
        let is_number = |word: &Word| word.text.bytes().all(|byte| byte.is_ascii_digit());
        if self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
        self.end_word();
    }

    fn redirect_out(&mut self) {
        match self.peek(0) {
            Some('>' | '|') => self.at += 1,
            Some('(') => return,
            Some('&') => {
                self.at += 1;
                if self.peek(0).is_some_and(|c| c.is_ascii_digit() || c == '-') {
                    self.role = Role::Read;
                    return;
                }
            }
            _ => {}
        }
        self.role = Role::Written;
    }

    fn redirect_in(&mut self) {
        self.role = match (self.peek(0), self.peek(1)) {
            (Some('<'), Some('<')) => {
                self.at += 2;
                Role::Read
            }
            (Some('<'), next) => {
                let tabs = next == Some('-');
                self.at += 1 + usize::from(tabs);
                Role::Heredoc { tabs }
            }
            (Some('>'), _) => {
                self.at += 1;
                Role::Written
            }
            (Some('('), _) => return,
            _ => Role::Read,
        };
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match std::mem::take(&mut self.role) {
            Role::Argument => self.simple.words.push(word),
            Role::Written => self.simple.writes.push(word),
            Role::Read => {}
            Role::Heredoc { tabs } => self.heredocs.push((word.text, tabs)),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.role = Role::Argument;
        let simple = std::mem::take(&mut self.simple);
        if !simple.words.is_empty() || !simple.writes.is_empty() {
            self.found.push(simple);
        }
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn skip_heredocs(&mut self) {
        for (end, tabs) in std::mem::take(&mut self.heredocs) {
            while self.peek(0).is_some() {
                let start = self.at;
                self.skip_line();
                let line: String =
                    self.chars.get(start..self.at).unwrap_or_default().iter().collect();
                self.at += 1;
                let line = if tabs { line.trim_start_matches('\t') } else { &line };
                if line == end {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str) -> Vec<String> {
        let texts = |words: &[Word]| -> Vec<String> {
            words.iter().map(|word| word.text.clone()).collect()
        };
        commands(source)
            .iter()
            .map(|simple| {
                let writes: String =
                    simple.writes.iter().map(|word| format!(" >{}", word.text)).collect();
                format!("{}{writes}", texts(&simple.words).join(" "))
            })
            .collect()
    }

    #[test]
    fn words_redirections_and_commands_are_told_apart() {
        assert_eq!(shown("cat a.md > b.md 2>&1; ls"), ["cat a.md >b.md", "ls"]);
        assert_eq!(shown("echo 'a > b' \"c > d\" \\> e"), ["echo a > b c > d > e"]);
        assert_eq!(shown("a&&b||c|d&e"), ["a", "b", "c", "d", "e"]);
        assert_eq!(shown("x >>f 2>err &>all >|g <in 1<>rw"), ["x >f >err >all >g >rw"]);
        assert_eq!(shown("ls # rm x"), ["ls"]);
        assert_eq!(shown("echo a#b"), ["echo a#b"]);
        assert_eq!(shown("echo $(rm x) `rm y`"), ["echo $ $", "rm x", "rm y"]);
        assert_eq!(shown("echo \"$(tee z)\""), ["echo $", "tee z"]);
        assert_eq!(shown("cat <<EOF > out\nrm x > y\nEOF\nls"), ["cat >out", "ls"]);
        assert_eq!(shown("cat <<<'rm x'"), ["cat"]);
        assert_eq!(shown("tee >(cat > f)"), ["tee", "cat >f"]);
    }

    #[test]
    fn unfinished_lines_are_no_reason_to_stop() {
        for source in ["'", "\"", "$(", "`", "\\", ">", "<<", "<<EOF\n", "a $((1+2", "\"$(", "&>"] {
            commands(source);
        }
    }
}
