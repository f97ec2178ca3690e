//! The table of synonyms, read from its file when a line cannot be understood otherwise.

/// One way to type a command, and the words that stand for it.
pub(super) struct CommandEntry {
    /// Whether it simply works; else it is suggested.
    pub(super) works: bool,
    pub(super) typed: Vec<Token>,
    /// Whether no word but options may follow.
    pub(super) is_whole: bool,
    pub(super) command: Vec<String>,
}

/// One way to type an option of some commands, and the words that stand for it.
pub(super) struct OptionEntry {
    pub(super) works: bool,
    /// The commands it belongs to; `*` is every command.
    pub(super) commands: Vec<&'static str>,
    pub(super) typed: Vec<Token>,
    pub(super) option: Vec<String>,
}

/// A word of what is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Literal(&'static str),
    /// The number or id of a step.
    Step,
    /// Any word that is not an option.
    Text,
    /// The same, of several words.
    Words,
    /// A word that can follow the command.
    Verb,
    /// What follows an option.
    Value,
}

impl Token {
    fn read(word: &'static str) -> Self {
        match word {
            "STEP" => Self::Step,
            "TEXT" => Self::Text,
            "WORDS" => Self::Words,
            "VERB" => Self::Verb,
            "VALUE" => Self::Value,
            word => Self::Literal(word),
        }
    }

    /// The word that stands for it in the other column.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Step => "STEP",
            Self::Text => "TEXT",
            Self::Words => "WORDS",
            Self::Verb => "VERB",
            Self::Value => "VALUE",
            Self::Literal(word) => word,
        }
    }
}

/// The whole table.
#[derive(Default)]
pub(super) struct Table {
    pub(super) commands: Vec<CommandEntry>,
    pub(super) options: Vec<OptionEntry>,
}

impl Table {
    pub(super) fn read() -> Self {
        let mut table = Self::default();
        let mut of_options = false;
        for line in include_str!("table.txt").lines() {
            if line.starts_with('[') {
                of_options = line == "[options]";
            }
            let works = line.starts_with('=');
            let Some(line) = line.strip_prefix(['=', '?']) else { continue };
            let Some((typed, meant)) = line.split_once('→') else { continue };
            let meant = words(meant);
            let (commands, typed) = match typed.split_once(": ").filter(|_| of_options) {
                Some((commands, typed)) => (commands.split(',').map(str::trim).collect(), typed),
                None => (Vec::new(), typed),
            };
            for typed in typed.split(',') {
                let is_whole = typed.trim_end().ends_with(" END");
                let words = typed.split_whitespace().filter(|word| *word != "END");
                let typed = words.map(Token::read).collect();
                if of_options {
                    let (commands, option) = (commands.clone(), meant.clone());
                    table.options.push(OptionEntry { works, commands, typed, option });
                } else {
                    let command = meant.clone();
                    table.commands.push(CommandEntry { works, typed, is_whole, command });
                }
            }
        }
        table
    }

    /// Whether some entry has `verb` behind `command`.
    pub(super) fn has_verb(&self, command: &str, verb: &str) -> bool {
        let fits = |entry: &CommandEntry| match entry.typed.as_slice() {
            [Token::Literal(first), Token::Literal(second), ..] => {
                *first == command && second.eq_ignore_ascii_case(verb)
            }
            _ => false,
        };
        self.commands.iter().any(fits)
    }
}

/// Words, those in single quotes whole.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in text.split('\'').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}
