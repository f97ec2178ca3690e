//! Parses a shell command line into words, redirections, here-documents, subshells and command
//! substitutions. Nothing is run or expanded.

/// How deep substitutions within substitutions are parsed.
const MOST_DEPTH: usize = 8;

/// Delimits the name of a variable in the text of a word.
pub(super) const VARIABLE: char = '\0';

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::adapters::hooks) struct ShellWord {
    /// Without quotes; a variable is its name between two [`VARIABLE`]s.
    pub text: String,
    /// Whether it has an expansion with an unknown result, written as `$`.
    pub dynamic: bool,
    /// Whether it has a glob outside of quotes.
    pub glob: bool,
    /// Whether it has a brace outside of quotes.
    pub braces: bool,
}

impl ShellWord {
    pub(super) fn new(text: &str) -> Self {
        Self::default().with(text)
    }

    /// The same word with another text.
    pub(super) fn with(&self, text: &str) -> Self {
        Self { text: text.to_owned(), ..self.clone() }
    }
}

/// One command with its arguments, as POSIX uses the term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    /// The words in order, without redirections.
    pub words: Vec<ShellWord>,
    /// Files that a redirection writes.
    pub writes: Vec<ShellWord>,
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
    Run(SimpleCommand),
}

/// All commands of a line, also those in substitutions.
pub(super) fn parse(source: &str) -> Vec<ShellPart> {
    parse_at_depth(source, 0)
}

fn parse_at_depth(source: &str, depth: usize) -> Vec<ShellPart> {
    let chars = source.chars().filter(|c| *c != VARIABLE).collect();
    let mut parser = ShellParser { chars, depth, ..ShellParser::default() };
    parser.parse();
    parser.parts
}

#[derive(Default)]
struct ShellParser {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    word: Option<ShellWord>,
    command: SimpleCommand,
    /// What the next word is for.
    role: WordRole,
    /// Here-documents whose text begins at the next line.
    heredocs: Vec<Heredoc>,
    /// Whether the next command reads from a pipe.
    piped: bool,
    parts: Vec<ShellPart>,
}

/// A here-document that was announced.
struct Heredoc {
    /// The line that ends it.
    end: String,
    /// Whether leading tabs are stripped.
    strips_tabs: bool,
    /// Which part reads it, once that is complete.
    part: Option<usize>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum WordRole {
    #[default]
    Argument,
    WrittenFile,
    ReadFile,
    HereString,
    HeredocEnd {
        strips_tabs: bool,
    },
}

impl ShellParser {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn parse(&mut self) {
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
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '`' => {
                    let inner = self.until_backtick();
                    self.substitution(&inner);
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
                    self.parts.push(if c == '(' { ShellPart::Open } else { ShellPart::Close });
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

    fn current(&mut self) -> &mut ShellWord {
        self.word.get_or_insert_default()
    }

    fn push(&mut self, c: char) {
        self.current().text.push(c);
    }

    fn single_quoted(&mut self) {
        self.current();
        while let Some(c) = self.peek(0) {
            self.at += 1;
            if c == '\'' {
                return;
            }
            self.push(c);
        }
    }

    fn double_quoted(&mut self) {
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
                    self.substitution(&inner);
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
                    _ => self.substitution(&inner),
                }
            }
            Some('{') => {
                let rest = self.chars.get(self.at + 1..).unwrap_or_default();
                let inner: String = rest.iter().take_while(|c| **c != '}').collect();
                self.at += inner.chars().count() + 2;
                match !inner.is_empty() && inner.chars().all(is_name) {
                    true => self.variable(&inner),
                    false => self.unknown_expansion(),
                }
            }
            Some(c) if is_name(c) => {
                let rest = self.chars.get(self.at..).unwrap_or_default();
                let name: String = rest.iter().take_while(|c| is_name(**c)).collect();
                self.at += name.len();
                self.variable(&name);
            }
            Some('\'') => {}
            _ => self.unknown_expansion(),
        }
    }

    fn variable(&mut self, name: &str) {
        self.current().text.extend([VARIABLE].into_iter().chain(name.chars()).chain([VARIABLE]));
    }

    fn unknown_expansion(&mut self) {
        self.current().dynamic = true;
        self.push('$');
    }

    fn substitution(&mut self, inner: &str) {
        self.unknown_expansion();
        if self.depth < MOST_DEPTH {
            self.parts.push(ShellPart::Open);
            self.parts.extend(parse_at_depth(inner, self.depth + 1));
            self.parts.push(ShellPart::Close);
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

    /// The text up to the closing parenthesis; quotes hide parentheses.
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
        let is_number = |word: &ShellWord| word.text.bytes().all(|byte| byte.is_ascii_digit());
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
                    self.role = WordRole::ReadFile;
                    return;
                }
            }
            _ => {}
        }
        self.role = WordRole::WrittenFile;
    }

    fn redirect_in(&mut self) {
        self.role = match (self.peek(0), self.peek(1)) {
            (Some('<'), Some('<')) => {
                self.at += 2;
                WordRole::HereString
            }
            (Some('<'), next) => {
                let strips_tabs = next == Some('-');
                self.at += 1 + usize::from(strips_tabs);
                WordRole::HeredocEnd { strips_tabs }
            }
            (Some('>'), _) => {
                self.at += 1;
                WordRole::WrittenFile
            }
            (Some('('), _) => return self.dollar(),
            _ => WordRole::ReadFile,
        };
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match std::mem::take(&mut self.role) {
            WordRole::Argument => self.command.words.push(word),
            WordRole::WrittenFile => self.command.writes.push(word),
            WordRole::ReadFile => {}
            WordRole::HereString => self.command.inputs.push(word.text),
            WordRole::HeredocEnd { strips_tabs } => {
                self.heredocs.push(Heredoc { end: word.text, strips_tabs, part: None });
            }
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.role = WordRole::Argument;
        let command = std::mem::take(&mut self.command);
        let pending = self.heredocs.iter_mut().filter(|heredoc| heredoc.part.is_none());
        let announced = pending.map(|heredoc| heredoc.part = Some(self.parts.len())).count();
        if command != SimpleCommand::default() || announced > 0 {
            let piped = std::mem::take(&mut self.piped);
            self.parts.push(ShellPart::Run(SimpleCommand { piped, ..command }));
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
                let line = if heredoc.strips_tabs { line.trim_start_matches('\t') } else { &line };
                if line == heredoc.end {
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            let part = heredoc.part.and_then(|part| self.parts.get_mut(part));
            if let Some(ShellPart::Run(command)) = part {
                command.inputs.push(text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str) -> Vec<String> {
        let texts = |words: &[ShellWord]| -> Vec<String> {
            words.iter().map(|word| word.text.replace(VARIABLE, "%")).collect()
        };
        let show = |part: &ShellPart| match part {
            ShellPart::Open => "(".to_owned(),
            ShellPart::Close => ")".to_owned(),
            ShellPart::Run(command) => {
                let writes: String =
                    texts(&command.writes).iter().map(|text| format!(" >{text}")).collect();
                let inputs: String =
                    command.inputs.iter().map(|text| format!(" <{}", text.trim())).collect();
                let pipe = if command.piped { "| " } else { "" };
                format!("{pipe}{}{writes}{inputs}", texts(&command.words).join(" "))
            }
        };
        parse(source).iter().map(show).collect()
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
            parse(source);
        }
    }
}
