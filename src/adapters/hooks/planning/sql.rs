//! Copilot CLI keeps its list in a table `todos` that the agent changes with SQL. Statements that name
//! their rows are understood, and the rows that a SELECT returns; everything else is ignored.

use super::role_of;
use crate::{
    domain::StepRole as Role,
    workspace::{ClientTask, TaskChange, TaskEvent},
};

/// The longest query that is read.
const LONGEST: usize = 256 << 10;

/// How many lines of an answer are read.
const MOST_ROWS: usize = 2_000;

#[derive(Clone, Debug, PartialEq, Eq)]
enum SqlToken {
    Word(String),
    Text(String),
    Symbol(char),
}

/// What a query does to the table `todos`, and what it answers about it.
pub(super) fn task_events(query: &str, answer: &str) -> Vec<TaskEvent> {
    if query.len() > LONGEST || !query.to_ascii_lowercase().contains("todos") {
        return Vec::new();
    }
    let tokens = tokens(query);
    let statements = tokens.split(|token| *token == SqlToken::Symbol(';'));
    let statements: Vec<&[SqlToken]> =
        statements.filter(|statement| !statement.is_empty()).collect();
    match statements.as_slice() {
        [one] if is_select(one) => {
            let tasks = tasks_in_table(answer);
            if tasks.is_empty() { Vec::new() } else { vec![TaskEvent::Added(tasks)] }
        }
        all => all.iter().filter_map(|rest| StatementParser { rest }.statement()).collect(),
    }
}

/// Whether a statement reads rows of this table alone, as they are.
fn is_select(tokens: &[SqlToken]) -> bool {
    let is = |token: &SqlToken, word: &str| match token {
        SqlToken::Word(found) => found.eq_ignore_ascii_case(word),
        _ => false,
    };
    let has = |word: &str| tokens.iter().any(|token| is(token, word));
    let from = tokens.windows(2).any(|pair| is(&pair[0], "from") && is(&pair[1], "todos"));
    tokens.first().is_some_and(|first| is(first, "select")) && from && !has("join") && !has("as")
}

/// The tasks in an answer, a table in markdown: its rows with id, title and status.
fn tasks_in_table(answer: &str) -> Vec<ClientTask> {
    let cells = |line: &str| -> Option<Vec<String>> {
        let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
        Some(inner.split('|').map(|cell| cell.trim().to_owned()).collect())
    };
    let mut rows = answer.lines().take(MOST_ROWS).filter_map(cells);
    let Some(columns) = rows.next() else { return Vec::new() };
    let task = |row: Vec<String>| {
        // A `|` within a value shifts the others.
        (row.len() == columns.len()).then_some(())?;
        let value = |name: &str| {
            let at = columns.iter().position(|column| column.eq_ignore_ascii_case(name))?;
            row.get(at).filter(|value| !value.is_empty()).cloned()
        };
        let (key, text, role) = (value("id")?, value("title")?, role_of(&value("status")?)?);
        Some(ClientTask { key: Some(key), text, role })
    };
    rows.filter_map(task).collect()
}

fn tokens(query: &str) -> Vec<SqlToken> {
    let mut found = Vec::new();
    let mut chars = query.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' | '`' => {
                let mut text = String::new();
                while let Some(next) = chars.next() {
                    if next != c {
                        text.push(next);
                    } else if chars.peek() == Some(&c) {
                        chars.next();
                        text.push(c);
                    } else {
                        break;
                    }
                }
                // Names may be quoted, too; texts stand between single quotes.
                found.push(if c == '\'' { SqlToken::Text(text) } else { SqlToken::Word(text) });
            }
            '-' if chars.peek() == Some(&'-') => while chars.next_if(|c| *c != '\n').is_some() {},
            c if c.is_alphanumeric() || c == '_' || c == '.' => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
                {
                    word.push(c);
                }
                found.push(SqlToken::Word(word));
            }
            c if c.is_whitespace() => {}
            c => found.push(SqlToken::Symbol(c)),
        }
    }
    found
}

struct StatementParser<'t> {
    rest: &'t [SqlToken],
}

impl<'t> StatementParser<'t> {
    fn statement(&mut self) -> Option<TaskEvent> {
        if self.word("insert") {
            if self.word("or") {
                self.next()?;
            }
            return self.expect(&["into", "todos"]).and_then(|()| self.insert());
        }
        if self.word("replace") {
            return self.expect(&["into", "todos"]).and_then(|()| self.insert());
        }
        if self.word("update") {
            return self.expect(&["todos", "set"]).and_then(|()| self.update());
        }
        if self.word("delete") {
            self.expect(&["from", "todos"])?;
            let change = |key| TaskChange { key, text: None, role: Some(Role::Skipped) };
            return Some(TaskEvent::Changed(self.keys()?.into_iter().map(change).collect()));
        }
        None
    }

    /// `(id, title, status) VALUES ('a', 'Do a', 'pending'), …`
    fn insert(&mut self) -> Option<TaskEvent> {
        let columns: Vec<String> =
            self.list()?.into_iter().map(|column| column.to_ascii_lowercase()).collect();
        self.expect(&["values"])?;
        let mut tasks = Vec::new();
        loop {
            let values = self.list()?;
            let value = |name: &str| {
                let at = columns.iter().position(|column| column == name)?;
                values.get(at).cloned()
            };
            let text = value("title").or_else(|| value("content")).or_else(|| value("description"));
            let role = value("status").and_then(|status| role_of(&status)).unwrap_or(Role::Open);
            tasks.push(ClientTask { key: value("id"), text: text?, role });
            if !self.symbol(',') {
                return Some(TaskEvent::Added(tasks));
            }
        }
    }

    /// `status = 'done', title = 'x' WHERE id = 'a'`
    fn update(&mut self) -> Option<TaskEvent> {
        let (mut text, mut status) = (None, None);
        loop {
            let column = self.value()?.to_ascii_lowercase();
            self.symbol('=').then_some(())?;
            let value = self.value()?;
            // A value that is worked out, such as CURRENT_TIMESTAMP or datetime('now'), is skipped.
            if self.rest.first() == Some(&SqlToken::Symbol('(')) {
                self.list()?;
            }
            match column.as_str() {
                "status" => status = Some(role_of(&value)?),
                "title" | "content" => text = Some(value),
                _ => {}
            }
            if !self.symbol(',') {
                break;
            }
        }
        let change = |key| TaskChange { key, text: text.clone(), role: status };
        Some(TaskEvent::Changed(self.keys()?.into_iter().map(change).collect()))
    }

    /// `WHERE id = 'a'` or `WHERE id IN ('a', 'b')`, and nothing behind it.
    fn keys(&mut self) -> Option<Vec<String>> {
        self.expect(&["where", "id"])?;
        let keys = if self.word("in") {
            self.list()?
        } else {
            self.symbol('=').then_some(())?;
            vec![self.value()?]
        };
        self.rest.is_empty().then_some(keys)
    }

    /// `(a, 'b', 3)`
    fn list(&mut self) -> Option<Vec<String>> {
        self.symbol('(').then_some(())?;
        let mut values = Vec::new();
        while !self.symbol(')') {
            if !self.symbol(',') {
                values.push(self.value()?);
            }
        }
        Some(values)
    }

    fn value(&mut self) -> Option<String> {
        match self.next()? {
            SqlToken::Word(text) | SqlToken::Text(text) => Some(text.clone()),
            SqlToken::Symbol(_) => None,
        }
    }

    fn next(&mut self) -> Option<&'t SqlToken> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn word(&mut self, wanted: &str) -> bool {
        let is = matches!(self.rest.first(), Some(SqlToken::Word(word)) if word.eq_ignore_ascii_case(wanted));
        if is {
            self.rest = &self.rest[1..];
        }
        is
    }

    fn symbol(&mut self, wanted: char) -> bool {
        let is = self.rest.first() == Some(&SqlToken::Symbol(wanted));
        if is {
            self.rest = &self.rest[1..];
        }
        is
    }

    fn expect(&mut self, words: &[&str]) -> Option<()> {
        words.iter().all(|word| self.word(word)).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_that_are_named_are_understood() {
        let query = "-- plan\nINSERT INTO todos (id, title, status) VALUES ('a', 'It''s A', 'pending'),\n\
                     ('b', 'B', 'in_progress'); UPDATE todos SET status = 'done', updated_at = datetime('now') \
                     WHERE id = 'a'; delete from todos where id in ('b','c')";
        let events = task_events(query, "");
        let TaskEvent::Added(tasks) = &events[0] else { panic!("{events:?}") };
        assert_eq!((tasks[0].key.as_deref(), tasks[0].text.as_str()), (Some("a"), "It's A"));
        assert_eq!(tasks[1].role, Role::Active);
        let change =
            |key: &str, role| TaskChange { key: key.to_owned(), text: None, role: Some(role) };
        assert_eq!(events[1], TaskEvent::Changed(vec![change("a", Role::Done)]));
        let dropped = vec![change("b", Role::Skipped), change("c", Role::Skipped)];
        assert_eq!(events[2], TaskEvent::Changed(dropped));
    }

    #[test]
    fn what_names_no_rows_says_nothing() {
        for query in [
            "SELECT * FROM todos",
            "UPDATE todos SET status = 'done'",
            "UPDATE todos SET status = 'done' WHERE status = 'pending'",
            "UPDATE todos SET status = 'done' WHERE id = 'a' OR 1 = 1",
            "INSERT INTO notes (id, title) VALUES ('todos', 'x')",
            "INSERT INTO todos (id) VALUES ('a')",
            "INSERT INTO todos (id, title",
        ] {
            assert_eq!(task_events(query, "3 row(s) inserted."), [], "{query}");
        }
    }

    #[test]
    fn a_look_at_the_table_tells_its_rows() {
        let answer = "3 row(s) returned:\n\n| id | title | status |\n| --- | --- | --- |\n\
                      | a | Do a | done |\n| b | one | two | pending |\n| c | | pending |\n";
        let task =
            ClientTask { key: Some("a".to_owned()), text: "Do a".to_owned(), role: Role::Done };
        let look = |query: &str| task_events(query, answer);
        assert_eq!(look("SELECT id, title, status FROM todos;"), [TaskEvent::Added(vec![task])]);
        for other in [
            "SELECT id, title, status FROM notes WHERE x = 'todos'",
            "SELECT t.id, n.title, t.status FROM todos t JOIN notes n",
            "SELECT id, owner AS title, status FROM todos",
            "SELECT * FROM todos; DROP TABLE todos",
        ] {
            assert_eq!(look(other), [], "{other}");
        }
        assert_eq!(
            task_events("SELECT * FROM todos", "| id | title |\n| --- | --- |\n| a | b |"),
            []
        );
    }

    proptest! {
        #[test]
        fn any_query_is_read_to_its_end(query in "(SELECT|FROM|INSERT|UPDATE|todos|SET|WHERE|id|[ |\n'\"(),;=é-]){0,30}") {
            let _ = task_events(&query, &query);
        }
    }
}
