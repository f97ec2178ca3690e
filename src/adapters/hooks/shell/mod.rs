//! A shell command line taken apart: words, redirections, here-documents, subshells and commands
//! within commands. It does not run or expand anything.

mod git;
pub(super) mod guard;
pub(super) mod programs;
mod words;
mod wrappers;

/// How deep commands are looked for within commands.
const MOST_DEPTH: usize = 8;

/// Stands on both sides of a variable's name in the text of a word.
pub(super) const VARIABLE: char = '\0';

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Its text without quotes; a variable is its name between two [`VARIABLE`]s.
    pub text: String,
    /// Whether it has an expansion of which nothing is known, written as `$`.
    pub dynamic: bool,
    /// Whether it has a pattern outside of quotes.
    pub glob: bool,
    /// Whether it has a brace outside of quotes.
    pub braces: bool,
}

impl Word {
    /// The same word with another text.
    pub(super) fn with(&self, text: &str) -> Self {
        Self { text: text.to_owned(), ..self.clone() }
    }
}

/// One command with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    /// The words in order, redirections taken out.
    pub words: Vec<Word>,
    /// Files that a redirection writes.
    pub writes: Vec<Word>,
    /// The texts of here-documents and here-strings.
    pub inputs: Vec<String>,
    /// Whether it reads what the command before it prints.
    pub piped: bool,
}

/// A part of a command line, in the order in which the parts run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ShellPart {
    /// A subshell or a substitution begins.
    Open,
    /// It ends, and with it the directory and the variables it had.
    Close,
    /// A command runs.
    Run(Simple),
}

/// All commands of a line, those in substitutions too.
pub(super) fn commands(source: &str) -> Vec<ShellPart> {
    read(source, 0)
}

fn read(source: &str, depth: usize) -> Vec<ShellPart> {
    let chars = source.chars().filter(|c| *c != VARIABLE).collect();
    let mut reader = Reader { chars, depth, ..Reader::default() };
    reader.run();
    reader.found
}

#[derive(Default)]
struct Reader {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    word: Option<Word>,
    simple: Simple,
    /// What the next word is for.
    role: Role,
    /// Here-documents whose text begins at the next line.
    heredocs: Vec<Heredoc>,
    /// Whether the next command reads from a pipe.
    piped: bool,
    found: Vec<ShellPart>,
}

/// A here-document that was announced.
struct Heredoc {
    /// The line that ends it.
    end: String,
    /// Whether tabs before its lines do not count.
    tabs: bool,
    /// The step that reads it, once that is complete.
    step: Option<usize>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Role {
    #[default]
    Argument,
    Written,
    Read,
    Text,
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
                    self.nest(&inner);
                }
                '$' => self.dollar(),
                '#' if self.word.is_none() => self.skip_line(),
                '\n' => {
                    self.end_command();
                    self.read_heredocs();
                }
                ' ' | '\t' | '\r' => self.end_word(),
                '&' if self.peek(0) == Some('>') => {
                    self.end_word();
                    self.at += 1;
                    self.redirect_out();
                }
                '|' => {
                    self.end_command();
                    self.piped = self.peek(0) != Some('|');
                    self.at += usize::from(matches!(self.peek(0), Some('|' | '&')));
                }
                ';' | '&' => self.end_command(),
                '(' | ')' => {
                    self.end_command();
                    self.found.push(if c == '(' { ShellPart::Open } else { ShellPart::Close });
                }
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
                    self.nest(&inner);
                }
                '$' => self.dollar(),
                c => self.push(c),
            }
        }
    }

    fn dollar(&mut self) {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match self.peek(0) {
            Some('(') => {
                self.at += 1;
                let inner = self.until_paren();
                match inner.trim() {
                    "pwd" => self.variable("PWD"),
                    _ => self.nest(&inner),
                }
            }
            Some('{') => {
                let rest = self.chars.get(self.at + 1..).unwrap_or_default();
                let inner: String = rest.iter().take_while(|c| **c != '}').collect();
                self.at += inner.chars().count() + 2;
                match !inner.is_empty() && inner.chars().all(is_name) {
                    true => self.variable(&inner),
                    false => self.unknown(),
                }
            }
            Some(c) if is_name(c) => {
                let rest = self.chars.get(self.at..).unwrap_or_default();
                let name: String = rest.iter().take_while(|c| is_name(**c)).collect();
                self.at += name.len();
                self.variable(&name);
            }
            Some('\'') => {}
            _ => self.unknown(),
        }
    }

    fn variable(&mut self, name: &str) {
        self.current().text.extend([VARIABLE].into_iter().chain(name.chars()).chain([VARIABLE]));
    }

    fn unknown(&mut self) {
        self.current().dynamic = true;
        self.push('$');
    }

    fn nest(&mut self, inner: &str) {
        self.unknown();
        if self.depth < MOST_DEPTH {
            self.found.push(ShellPart::Open);
            self.found.extend(read(inner, self.depth + 1));
            self.found.push(ShellPart::Close);
        }
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
            Some('(') => return self.dollar(),
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
                Role::Text
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
            (Some('('), _) => return self.dollar(),
            _ => Role::Read,
        };
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match std::mem::take(&mut self.role) {
            Role::Argument => self.simple.words.push(word),
            Role::Written => self.simple.writes.push(word),
            Role::Read => {}
            Role::Text => self.simple.inputs.push(word.text),
            Role::Heredoc { tabs } => {
                self.heredocs.push(Heredoc { end: word.text, tabs, step: None });
            }
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.role = Role::Argument;
        let simple = std::mem::take(&mut self.simple);
        let pending = self.heredocs.iter_mut().filter(|heredoc| heredoc.step.is_none());
        let announced = pending.map(|heredoc| heredoc.step = Some(self.found.len())).count();
        if simple != Simple::default() || announced > 0 {
            let piped = std::mem::take(&mut self.piped);
            self.found.push(ShellPart::Run(Simple { piped, ..simple }));
        }
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn read_heredocs(&mut self) {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let mut text = String::new();
            while self.peek(0).is_some() {
                let start = self.at;
                self.skip_line();
                let line: String =
                    self.chars.get(start..self.at).unwrap_or_default().iter().collect();
                self.at += 1;
                let line = if heredoc.tabs { line.trim_start_matches('\t') } else { &line };
                if line == heredoc.end {
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            let step = heredoc.step.and_then(|step| self.found.get_mut(step));
            if let Some(ShellPart::Run(simple)) = step {
                simple.inputs.push(text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str) -> Vec<String> {
        let texts = |words: &[Word]| -> Vec<String> {
            words.iter().map(|word| word.text.replace(VARIABLE, "%")).collect()
        };
        let show = |step: &ShellPart| match step {
            ShellPart::Open => "(".to_owned(),
            ShellPart::Close => ")".to_owned(),
            ShellPart::Run(simple) => {
                let writes: String =
                    texts(&simple.writes).iter().map(|text| format!(" >{text}")).collect();
                let inputs: String =
                    simple.inputs.iter().map(|text| format!(" <{}", text.trim())).collect();
                let pipe = if simple.piped { "| " } else { "" };
                format!("{pipe}{}{writes}{inputs}", texts(&simple.words).join(" "))
            }
        };
        commands(source).iter().map(show).collect()
    }

    #[test]
    fn words_redirections_and_commands_are_told_apart() {
        assert_eq!(shown("cat a.md > b.md 2>&1; ls"), ["cat a.md >b.md", "ls"]);
        assert_eq!(shown("echo 'a > b' \"c > d\" \\> e"), ["echo a > b c > d > e"]);
        assert_eq!(shown("a&&b||c|d&e |\n f"), ["a", "b", "c", "| d", "e", "| f"]);
        assert_eq!(shown("x >>f 2>err &>all >|g <in 1<>rw"), ["x >f >err >all >g >rw"]);
        assert_eq!(shown("ls # rm x"), ["ls"]);
        assert_eq!(shown("echo a#b"), ["echo a#b"]);
    }

    #[test]
    fn commands_within_commands_run_before_them_in_a_place_of_their_own() {
        assert_eq!(shown("echo $(rm x) `rm y`"), ["(", "rm x", ")", "(", "rm y", ")", "echo $ $"]);
        assert_eq!(shown("echo \"$(tee z)\""), ["(", "tee z", ")", "echo $"]);
        assert_eq!(shown("tee >(cat > f)"), ["(", "cat >f", ")", "tee $"]);
        assert_eq!(shown("diff <(sort a) b"), ["(", "sort a", ")", "diff $ b"]);
        assert_eq!(shown("(cd a; ls); b"), ["(", "cd a", "ls", ")", "b"]);
    }

    #[test]
    fn here_documents_belong_to_their_command() {
        assert_eq!(shown("cat <<EOF > out\nrm x > y\nEOF\nls"), ["cat >out <rm x > y", "ls"]);
        assert_eq!(shown("cat <<-E | sh\n\ta\n\tE\nb"), ["cat <a", "| sh", "b"]);
        assert_eq!(shown("sh <<<'rm x'"), ["sh <rm x"]);
    }

    #[test]
    fn variables_keep_their_names() {
        assert_eq!(shown("rm \"$PWD/a\" ${B}c '$D'"), ["rm %PWD%/a %B%c $D"]);
        assert_eq!(shown("rm ${X:-a}b $(pwd)/c $? $1"), ["rm $b %PWD%/c $? %1%"]);
    }

    #[test]
    fn unfinished_lines_are_no_reason_to_stop() {
        for source in [
            "'", "\"", "$(", "`", "\\", ">", "<<", "<<EOF\n", "a $((1+2", "\"$(", "&>", "${", "<(",
            ")",
        ] {
            commands(source);
        }
    }
}
