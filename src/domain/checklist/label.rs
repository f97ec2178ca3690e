//! The text after the box of a task: id, tags, title, dependencies, commit.

use super::Grammar;
use crate::text::display::one_line;

/// The parts of a task's first line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Label {
    /// The id as it names a step: `T001`, `1.2`, `17-01`, `phase-3`.
    pub id: Option<String>,
    /// The id as a number, if it is a whole number.
    pub number: Option<u32>,
    /// Whether it is a step inside a task: `Step 2`.
    pub is_inner: bool,
    /// What is to be done.
    pub title: String,
    /// Further fields, in order.
    pub fields: Vec<(String, String)>,
    /// The ids of the tasks that it depends on.
    pub depends_on: Vec<String>,
}

/// Words that make an id together with the number after them.
const WORDS: [&str; 8] = ["task", "step", "phase", "milestone", "story", "item", "stage", "part"];

/// The same words in other languages, each with ours.
const TRANSLATED: [(&str, &str); 26] = [
    ("阶段", "phase"),
    ("階段", "phase"),
    ("任务", "task"),
    ("任務", "task"),
    ("步骤", "step"),
    ("步驟", "step"),
    ("里程碑", "milestone"),
    ("フェーズ", "phase"),
    ("タスク", "task"),
    ("ステップ", "step"),
    ("단계", "phase"),
    ("작업", "task"),
    ("fase", "phase"),
    ("etapa", "phase"),
    ("étape", "phase"),
    ("этап", "phase"),
    ("tarea", "task"),
    ("tarefa", "task"),
    ("tâche", "task"),
    ("aufgabe", "task"),
    ("задача", "task"),
    ("paso", "step"),
    ("passo", "step"),
    ("schritt", "step"),
    ("шаг", "step"),
    ("hito", "milestone"),
];

/// Punctuation between an id and a title that is not followed by a space.
const WIDE: [char; 2] = ['：', '、'];

impl Label {
    /// Reads the text after a box.
    pub(super) fn parse(text: &str, grammar: &Grammar) -> Self {
        let mut label = Self::default();
        let mut rest = without_emphasis(text.trim());
        let mut text = rest.as_str();
        label.take_tags(&mut text);
        label.take_time(&mut text);
        if let Some(behind) = label.take_id(text, grammar) {
            text = behind;
        }
        label.take_tags(&mut text);
        rest = text.to_owned();
        label.take_dependencies(&mut rest);
        label.take_commit(&mut rest);
        label.take_requirements(&mut rest);
        label.title = one_line(&rest);
        label
    }

    /// The time at which it was ticked: `(2026-01-15 10:00Z)`, `[2026-01-15]`.
    fn take_time(&mut self, text: &mut &str) {
        let Some(inside) = text.strip_prefix(['(', '[']) else { return };
        let Some((time, rest)) = inside.split_once([')', ']']) else { return };
        let is_date = time.get(..10).is_some_and(|date| {
            let fits = |(at, byte): (usize, u8)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            };
            date.bytes().enumerate().all(fits)
        });
        if is_date && time.len() <= 40 && !rest.trim().is_empty() {
            self.fields.push(("time".to_owned(), time.to_owned()));
            *text = without_separator(rest.trim_start());
        }
    }

    /// `[P]`, `[US1]` and the like; `(P)`, too.
    fn take_tags(&mut self, text: &mut &str) {
        if let Some(rest) = text.strip_prefix("(P) ") {
            self.fields.push(("parallel".to_owned(), "yes".to_owned()));
            *text = rest.trim_start();
        }
        while let Some((tag, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            let is_tag = (1..=12).contains(&tag.len())
                && tag.starts_with(|c: char| c.is_ascii_alphabetic())
                && tag.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '?'))
                && (rest.is_empty() || rest.starts_with([' ', '\t', '[']));
            if !is_tag {
                return;
            }
            let is_story = tag.len() > 2
                && tag.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("us"))
                && tag[2..].bytes().all(|byte| byte.is_ascii_digit());
            match tag {
                "P" => self.fields.push(("parallel".to_owned(), "yes".to_owned())),
                tag if is_story => self.fields.push(("story".to_owned(), tag.to_owned())),
                tag => match self.fields.iter_mut().find(|(key, _)| key == "tags") {
                    Some((_, tags)) => tags.extend([", ", tag]),
                    None => self.fields.push(("tags".to_owned(), tag.to_owned())),
                },
            }
            *text = rest.trim_start();
        }
    }

    /// Reads the id at the beginning and returns what follows it.
    fn take_id<'t>(&mut self, text: &'t str, grammar: &Grammar) -> Option<&'t str> {
        let (first, behind) = word_of(text);
        let bare = first.trim_end_matches([':', '.', ')', ',']);
        let bare = bare.trim_matches(['`', '(', '[', ']', '#']);
        if grammar.is_id(bare) || (grammar.ids.is_empty() && is_usual_id(bare)) {
            self.id = as_id(bare);
            self.number = bare.parse().ok();
            if self.number.is_some() {
                self.id = Some(format!("task-{bare}"));
            }
            self.id.as_ref()?;
            return Some(without_separator(behind));
        }
        if bare.bytes().all(|byte| byte.is_ascii_digit())
            && (first.ends_with(['.', ')', ':']) || behind.starts_with(WIDE))
        {
            self.number = bare.parse().ok();
            self.number?;
            self.id = Some(format!("task-{bare}"));
            return Some(without_separator(behind));
        }
        let Some(word) = WORDS.iter().find(|word| first.eq_ignore_ascii_case(word)) else {
            let (word, number, behind) = translated(text)?;
            self.put_number(word, &number)?;
            return Some(without_separator(behind));
        };
        let (second, behind) = word_of(behind);
        let bare = second.trim_end_matches([':', '.', ')', ',']);
        let is_number = bare.starts_with(|c: char| c.is_ascii_digit())
            && bare.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
            && (bare.contains(['.', '-']) || bare.bytes().all(|byte| byte.is_ascii_digit()));
        if !is_number {
            return None;
        }
        self.put_number(word, bare)?;
        Some(without_separator(behind))
    }

    /// Makes an id of a word and the number after it.
    fn put_number(&mut self, word: &str, number: &str) -> Option<()> {
        self.number = number.parse().ok();
        self.is_inner = word == "step";
        self.id = match self.number {
            Some(_) => Some(format!("{word}-{number}")),
            None => as_id(number),
        };
        self.id.as_ref().map(|_| ())
    }

    /// `(depends on T001, T002)` at the end.
    fn take_dependencies(&mut self, text: &mut String) {
        if !text.contains('(') {
            return;
        }
        let lower = text.to_ascii_lowercase();
        let Some(at) = ["(depends on ", "(depends: ", "(after ", "(blocked by "]
            .iter()
            .find_map(|open| lower.find(open))
        else {
            return;
        };
        let Some(end) = text[at..].find(')').map(|end| at + end) else { return };
        let listed = text[at..end].split_once([' ', ':']).map_or("", |(_, list)| list);
        let ids: Vec<String> = listed
            .split([',', ' '])
            .map(|word| word.trim_matches(['`', '*', ':', '.']))
            .filter(|word| is_usual_id(word) && word.contains(|c: char| c.is_ascii_digit()))
            .filter_map(as_id)
            .collect();
        if !ids.is_empty() {
            self.depends_on = ids;
            text.replace_range(at..=end, "");
        }
    }

    /// The hash of a commit at the end: `[1a2b3c4]`, `(1a2b3c4)`, `` `1a2b3c4` ``.
    fn take_commit(&mut self, text: &mut String) {
        let trimmed = text.trim_end();
        let Some(word) = trimmed.rsplit(' ').next() else { return };
        let open = word.trim_start_matches(['[', '(', '`', '<']);
        let bare = open.trim_end_matches([']', ')', '`', '>']);
        let is_wrapped = open.len() < word.len() && bare.len() < open.len();
        let is_hash = (7..=40).contains(&bare.len())
            && bare.bytes().all(|byte| byte.is_ascii_hexdigit())
            && bare.bytes().any(|byte| byte.is_ascii_digit());
        // Without brackets, only usual lengths with letters: numbers and colours are not hashes.
        let is_plain = matches!(bare.len(), 7 | 9 | 10 | 40)
            && bare.len() == word.len()
            && bare.bytes().any(|byte| byte.is_ascii_lowercase())
            && !bare.bytes().any(|byte| byte.is_ascii_uppercase())
            && bare.len() < trimmed.len();
        if is_hash && (is_wrapped || is_plain) {
            self.fields.push(("commit".to_owned(), bare.to_owned()));
            let end = trimmed.len() - word.len();
            text.truncate(end);
        }
    }

    /// `_Requirements: 1.1, 2.3_` at the end.
    fn take_requirements(&mut self, text: &mut String) {
        if let Some((at, list)) = requirements(text) {
            self.fields.push(("requirements".to_owned(), list));
            text.truncate(at);
        }
    }
}

/// What `_Requirements: 1.1, 2.3_` lists, and where it begins.
pub(super) fn requirements(text: &str) -> Option<(usize, String)> {
    if !text.contains("equirement") {
        return None;
    }
    let at = ["_Requirements:", "*Requirements:", "_Requirement:", "_requirements:"]
        .iter()
        .find_map(|open| text.find(open))?;
    let list = text[at + 1..].split_once(':')?.1;
    let end = list.find(['_', '*', '\n', '\r']).unwrap_or(list.len());
    let list = list[..end].trim();
    (!list.is_empty()).then(|| (at, list.to_owned()))
}

/// Whether a word looks like an id by itself: `T001`, `AUTH-12`, `1.2`, `17-01`.
fn is_usual_id(word: &str) -> bool {
    if word.len() > 24 {
        return false;
    }
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    if (1..=10).contains(&letters) {
        let rest = word[letters..].strip_prefix(['-', '_']).unwrap_or(&word[letters..]);
        let mut parts = rest.split(['.', '-']);
        return parts.all(|part| {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            digits > 0
                && part.len() - digits <= 1
                && part.bytes().all(|b| b.is_ascii_alphanumeric())
        });
    }
    let is_part = |part: &str| {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        (1..=4).contains(&digits)
            && part.len() - digits <= 1
            && part[digits..].bytes().all(|byte| byte.is_ascii_lowercase())
    };
    let is_dotted = word.contains('.') && word.split('.').all(is_part);
    // A date is not an id.
    let is_dashed = word.matches('-').count() == 1 && word.split('-').all(is_part);
    is_dotted || is_dashed
}

/// The word, if its characters are allowed in a step's id.
fn as_id(word: &str) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    (!word.is_empty() && word.chars().all(fits)).then(|| word.to_owned())
}

/// The first word, and what follows it.
fn word_of(text: &str) -> (&str, &str) {
    let is_end = |c: char| c.is_whitespace() || WIDE.contains(&c);
    let end = text.find(is_end).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// `阶段 2：…`, `第二阶段`, `Fase 2: …`: our word for it, the number, and what follows.
fn translated(text: &str) -> Option<(&'static str, String, &str)> {
    let word_in = |text: &'_ str| -> Option<(&'static str, usize)> {
        TRANSLATED.iter().find_map(|(theirs, ours)| {
            let mut letters = text.chars();
            let is_same = theirs.chars().all(|letter| {
                letters.next().is_some_and(|found| found.to_lowercase().eq(letter.to_lowercase()))
            });
            is_same.then(|| (*ours, text.len() - letters.as_str().len()))
        })
    };
    let (word, number, rest) = match text.strip_prefix('第') {
        Some(rest) => {
            let (number, rest) = number_in(rest.trim_start())?;
            let rest = rest.trim_start();
            let (word, len) = word_in(rest)?;
            (word, number, &rest[len..])
        }
        None => {
            let (word, len) = word_in(text)?;
            let (number, rest) = number_in(text[len..].trim_start())?;
            (word, number, rest)
        }
    };
    let is_apart = rest.is_empty()
        || rest.starts_with(|c: char| c.is_whitespace() || WIDE.contains(&c))
        || rest.starts_with([':', '.', ')', ',', '-', '–', '—']);
    is_apart.then(|| (word, number, rest.trim_start_matches([')', ',']).trim_start()))
}

/// A number in digits, or up to 99 in Chinese numerals.
fn number_in(text: &str) -> Option<(String, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let digits = text[..end].trim_end_matches('.');
    if digits.starts_with(|c: char| c.is_ascii_digit()) {
        return Some((digits.to_owned(), &text[digits.len()..]));
    }
    const NUMERALS: &str = "一二三四五六七八九";
    let of = |c: char| NUMERALS.chars().position(|numeral| numeral == c).map(|at| at + 1);
    let end = text.find(|c: char| of(c).is_none() && c != '十').unwrap_or(text.len());
    let (written, rest) = text.split_at(end);
    let mut parts = written.split('十');
    let (tens, ones) = (parts.next()?, parts.next());
    let value = |part: &str| match part.chars().collect::<Vec<_>>().as_slice() {
        [] => Some(None),
        [one] => of(*one).map(Some),
        _ => None,
    };
    let number = match ones {
        None => value(tens)??,
        Some(ones) => value(tens)?.unwrap_or(1) * 10 + value(ones)?.unwrap_or(0),
    };
    parts.next().is_none().then(|| (number.to_string(), rest))
}

/// What follows the dash or colon between an id and a title.
fn without_separator(text: &str) -> &str {
    if let Some(rest) = text.strip_prefix(WIDE) {
        return rest.trim_start();
    }
    let rest = text.trim_start_matches([':', '-', '–', '—', '.', '|']);
    let is_apart =
        rest.len() == text.len() || rest.is_empty() || rest.starts_with(char::is_whitespace);
    if is_apart { rest.trim_start() } else { text }
}

/// The text without the emphasis that it begins with: `**T001** x`, `**Step 1: x**`, `~~x~~`.
fn without_emphasis(text: &str) -> String {
    for mark in ["**", "__", "~~"] {
        if let Some(rest) = text.strip_prefix(mark)
            && let Some(end) = rest.find(mark).filter(|end| *end > 0)
        {
            return format!("{}{}", &rest[..end], &rest[end + mark.len()..]);
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(text: &str) -> Label {
        Label::parse(text, &Grammar::default())
    }

    fn id_and_title(text: &str) -> (Option<String>, String) {
        let found = label(text);
        (found.id, found.title)
    }

    #[test]
    fn ids_of_many_kinds_are_told_from_titles() {
        for (text, id, title) in [
            ("T001 Create the project", "T001", "Create the project"),
            ("T012a Split it", "T012a", "Split it"),
            ("**T001** Create", "T001", "Create"),
            ("`T001`: Create", "T001", "Create"),
            ("1.2 Add a table", "1.2", "Add a table"),
            ("1.2. Add a table", "1.2", "Add a table"),
            ("2.1.3 – Add", "2.1.3", "Add"),
            ("17-01 Read the file", "17-01", "Read the file"),
            ("AUTH-12: Log in", "AUTH-12", "Log in"),
            ("Task 3.2: Wire it", "3.2", "Wire it"),
            ("1. Set up", "task-1", "Set up"),
            ("12) Set up", "task-12", "Set up"),
            ("Phase 1: Research", "phase-1", "Research"),
            ("**Step 2: Run it to see it fail**", "step-2", "Run it to see it fail"),
            ("阶段 2：读取文件", "phase-2", "读取文件"),
            ("阶段3: 写入", "phase-3", "写入"),
            ("第 4 阶段：检查", "phase-4", "检查"),
            ("第十二阶段", "phase-12", ""),
            ("第二十阶段：发布", "phase-20", "发布"),
            ("任务 3.2：连接", "3.2", "连接"),
            ("T001：创建项目", "T001", "创建项目"),
            ("1、安装", "task-1", "安装"),
            ("Fase 2: Preparar los datos", "phase-2", "Preparar los datos"),
            ("ЭТАП 1. Чтение", "phase-1", "Чтение"),
        ] {
            assert_eq!(id_and_title(text), (Some(id.to_owned()), title.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_only_begins_like_an_id_is_a_title() {
        for text in [
            "Create 3.2 MB of noise",
            "3 tests pass",
            "2026-01-15 10:00 it began",
            "HTTP is on",
            "Task: write it",
            "e.g. this",
            "Ärger vermeiden",
            "阶段计划",
            "第三方登录",
            "任务：写测试",
            "第一次发布",
            "Fases 2 y 3",
            "十月之前完成",
        ] {
            assert_eq!(id_and_title(text), (None, text.to_owned()), "{text}");
        }
    }

    #[test]
    fn tags_commits_requirements_and_dependencies_are_fields() {
        let found = label("T014 [P] [US2] Build `src/a.rs` (depends on T012, T013) [1a2b3c4]");
        let field = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(found.title, "Build `src/a.rs`");
        assert_eq!(found.depends_on, ["T012", "T013"]);
        assert_eq!(
            found.fields,
            [field("parallel", "yes"), field("story", "US2"), field("commit", "1a2b3c4")]
        );
        let found = label("1.1 Check it _Requirements: 1.1, 2.3_");
        assert_eq!(
            (found.title.as_str(), &found.fields[0]),
            ("Check it", &field("requirements", "1.1, 2.3"))
        );
        let found = label("(2026-01-15 10:00Z) Read the code.");
        assert_eq!(
            (found.title.as_str(), &found.fields[0]),
            ("Read the code.", &field("time", "2026-01-15 10:00Z"))
        );
        let found = label("1.1 (P) Model");
        assert_eq!((found.title.as_str(), &found.fields[0]), ("Model", &field("parallel", "yes")));
        assert_eq!(label("(P)ersist it").title, "(P)ersist it");
        assert_eq!(label("(2026-01-15)").title, "(2026-01-15)");
        assert_eq!(label("Link [docs](x)").title, "Link [docs](x)");
        assert_eq!(label("Defaced (facade1)").title, "Defaced");
        assert_eq!(label("Stays (defaced)").title, "Stays (defaced)");
        let found = label("Task: Prove that it fails. 5ee1892");
        assert_eq!(
            (found.title.as_str(), &found.fields[0]),
            ("Task: Prove that it fails.", &field("commit", "5ee1892"))
        );
        for text in ["Call 5551234", "Use ff00ff80", "5ee1892", "Wait for effaced", "Print 5EE1892"]
        {
            assert_eq!(label(text).title, text);
        }
    }
}
