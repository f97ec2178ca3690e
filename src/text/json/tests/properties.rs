//! Random documents and random changes, against the same changes of plain values.

use crate::text::apply_splices;
use crate::text::json::patch::merge_value;
use crate::text::json::{JsonDocument, JsonEdit, JsonError, Path};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        r#"[a-c"\\\n/\[\]{},: é😀\u{1}]{0,6}"#.prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-c]", 1 => "[0-2]", 1 => r#"[."\\/~é\n ]{0,2}"#]
}

/// Writes a value with whitespace and escapes wherever JSON allows them.
struct Scribe {
    seed: u64,
    out: String,
}

impl Scribe {
    fn source(value: &Value, seed: u64) -> String {
        let mut scribe = Self { seed, out: String::new() };
        scribe.space();
        scribe.value(value);
        scribe.space();
        scribe.out
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.seed >> 33) % sides
    }

    fn space(&mut self) {
        const SPACES: [&str; 8] = ["", "", "", " ", "\n  ", "\r\n\t", "\n\n", "  "];
        let chosen = self.roll(8) as usize;
        self.out.push_str(SPACES[chosen]);
    }

    fn separated(
        &mut self,
        open: char,
        close: char,
        count: usize,
        mut one: impl FnMut(&mut Self, usize),
    ) {
        self.out.push(open);
        for i in 0..count {
            if i > 0 {
                self.out.push(',');
            }
            self.space();
            one(self, i);
            self.space();
        }
        if count == 0 {
            self.space();
        }
        self.out.push(close);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Array(items) => {
                self.separated('[', ']', items.len(), |scribe, i| scribe.value(&items[i]))
            }
            Value::Object(members) => {
                let members: Vec<_> = members.iter().collect();
                self.separated('{', '}', members.len(), |scribe, i| {
                    scribe.string(members[i].0);
                    scribe.space();
                    scribe.out.push(':');
                    scribe.space();
                    scribe.value(members[i].1);
                });
            }
            Value::String(text) => self.string(text),
            scalar => self.out.push_str(&scalar.to_string()),
        }
    }

    fn string(&mut self, text: &str) {
        if self.roll(3) > 0 {
            self.out.push_str(&json!(text).to_string());
            return;
        }
        let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        self.out.push_str(&format!("\"{units}\""));
    }
}

#[derive(Clone, Debug)]
enum Op {
    Set(Path, Value),
    Remove(Path),
    Append(Path, Value),
    Insert(Path, Value),
    Merge(Value),
    Move(Path, Path),
    Copy(Path, Path),
}

fn any_path() -> impl Strategy<Value = Path> {
    let segment = prop_oneof![4 => key(), 2 => "[0-3]", 1 => Just("-".to_owned())];
    prop::collection::vec(segment, 0..4).prop_map(Path::from_iter)
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (any_path(), value()).prop_map(|(path, value)| Op::Set(path, value)),
        any_path().prop_map(Op::Remove),
        (any_path(), value()).prop_map(|(path, value)| Op::Append(path, value)),
        (any_path(), value()).prop_map(|(path, value)| Op::Insert(path, value)),
        value().prop_map(Op::Merge),
        (any_path(), any_path()).prop_map(|(from, path)| Op::Move(from, path)),
        (any_path(), any_path()).prop_map(|(from, path)| Op::Copy(from, path)),
    ]
}

/// What `op` makes of a plain value; none if it is to be refused.
fn model(before: &Value, op: &Op) -> Option<Value> {
    let mut after = before.clone();
    match op {
        Op::Set(path, value) => *entry(&mut after, path.segments())? = value.clone(),
        Op::Remove(path) => drop(take(&mut after, path)?),
        Op::Append(path, value) => match after.pointer_mut(&path.to_pointer()) {
            Some(array) => array.as_array_mut()?.push(value.clone()),
            None => *entry(&mut after, path.segments())? = json!([value]),
        },
        Op::Insert(path, value) => add(&mut after, path, value.clone())?,
        Op::Merge(patch) => merge_value(&mut after, patch),
        Op::Move(from, path) => {
            after.pointer(&from.to_pointer())?;
            if from != path {
                if path.to_pointer().starts_with(&format!("{}/", from.to_pointer())) {
                    return None;
                }
                let moved = take(&mut after, from)?;
                add(&mut after, path, moved)?;
            }
        }
        Op::Copy(from, path) => {
            let copy = after.pointer(&from.to_pointer())?.clone();
            add(&mut after, path, copy)?;
        }
    }
    Some(after)
}

fn entry<'v>(value: &'v mut Value, segments: &[String]) -> Option<&'v mut Value> {
    let Some((first, rest)) = segments.split_first() else {
        return Some(value);
    };
    let next = match value {
        Value::Object(members) => members.entry(first).or_insert_with(|| Value::Object(Map::new())),
        Value::Array(items) => {
            let index = if first == "-" { items.len() } else { first.parse().ok()? };
            if index == items.len() {
                items.push(Value::Object(Map::new()));
            }
            items.get_mut(index)?
        }
        _ => return None,
    };
    entry(next, rest)
}

fn take(value: &mut Value, path: &Path) -> Option<Value> {
    let last = path.last()?;
    match value.pointer_mut(&path.parent()?.to_pointer())? {
        Value::Object(members) => members.shift_remove(last),
        Value::Array(items) => {
            let index = last.parse().ok().filter(|index| *index < items.len())?;
            Some(items.remove(index))
        }
        _ => None,
    }
}

fn add(value: &mut Value, path: &Path, new: Value) -> Option<()> {
    let Some(last) = path.last() else {
        *value = new;
        return Some(());
    };
    match value.pointer_mut(&path.parent()?.to_pointer())? {
        Value::Object(members) => drop(members.insert(last.to_owned(), new)),
        Value::Array(items) => {
            let index = if last == "-" { items.len() } else { last.parse().ok()? };
            if index > items.len() {
                return None;
            }
            items.insert(index, new);
        }
        _ => return None,
    }
    Some(())
}

fn apply(edit: &mut JsonEdit, op: &Op) -> Result<(), JsonError> {
    let relocate = |op, from: &Path, path: &Path| json!([{"op": op, "from": from.to_pointer(), "path": path.to_pointer()}]);
    match op {
        Op::Set(path, value) => edit.set(path, value),
        Op::Remove(path) => edit.remove(path).map(drop),
        Op::Append(path, value) => edit.append(path, value),
        Op::Insert(path, value) => edit.insert(path, value),
        Op::Merge(patch) => edit.merge_patch(patch),
        Op::Move(from, path) => edit.patch(&relocate("move", from, path)),
        Op::Copy(from, path) => edit.patch(&relocate("copy", from, path)),
    }
}

/// All paths in `value` that lead through objects only.
fn member_paths(value: &Value, here: Path, found: &mut Vec<Path>) {
    for (key, member) in value.as_object().into_iter().flatten() {
        member_paths(member, here.join(key), found);
    }
    found.push(here);
}

fn overlaps(a: &Path, b: &Path) -> bool {
    a.segments().iter().zip(b.segments()).all(|(a, b)| a == b)
}

proptest! {
    #![proptest_config(crate::text::cases(400))]

    #[test]
    fn what_is_read_is_what_was_written(value in value(), seed: u64) {
        let source = Scribe::source(&value, seed);
        let document = JsonDocument::from_bytes(source.clone().into_bytes()).unwrap();
        prop_assert_eq!(document.to_value(), value);
        prop_assert_eq!(document.into_source(), source);
    }

    #[test]
    fn any_text_is_read_or_refused_as_serde_json_does(text in r#"([\[\]{},:"]|"a"|"b"|\\u00e9|\\ud83d|\\|[0-9eE.+-]|true|null| |\n|é){0,12}"#) {
        match (JsonDocument::parse(text.clone()), serde_json::from_str::<Value>(&text)) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours.to_value(), theirs),
            (Err(JsonError::DuplicateKey { .. }), Ok(_)) => {}
            (Err(error), theirs) => {
                prop_assert!(theirs.is_err(), "{}", error);
                prop_assert!(error.place().is_some() && error.offset().is_some_and(|offset| offset <= text.len()));
            }
            (Ok(_), Err(error)) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn a_damaged_document_is_read_or_refused(value in value(), seed: u64, at: prop::sample::Index, byte: u8) {
        let mut bytes = Scribe::source(&value, seed).into_bytes();
        bytes.push(b' ');
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let theirs = serde_json::from_slice::<Value>(&bytes);
        match JsonDocument::from_bytes(bytes) {
            Err(JsonError::DuplicateKey { .. }) => {}
            ours => prop_assert_eq!(ours.is_ok(), theirs.is_ok()),
        }
    }

    #[test]
    fn an_edit_does_to_text_what_it_does_to_values(before in value(), seed: u64, ops in prop::collection::vec(op(), 1..5)) {
        let source = Scribe::source(&before, seed);
        let mut edit = JsonDocument::parse(source.clone()).unwrap().edit();
        let mut expected = before;
        for op in &ops {
            match (apply(&mut edit, op), model(&expected, op)) {
                (Ok(()), Some(after)) => expected = after,
                (Err(JsonError::Unproven), _) => prop_assert!(false, "unproven: {:?}", op),
                (Err(_), None) => {}
                (outcome, after) => prop_assert!(false, "{:?}: {:?} but {:?}", op, outcome, after),
            }
            prop_assert_eq!(edit.document().to_value(), expected.clone());
        }
        let mut edited = edit.finish();
        prop_assert!(edited.splices.windows(2).all(|pair| pair[0].at.end <= pair[1].at.start));
        prop_assert_eq!(apply_splices(&source, &mut edited.splices).unwrap(), edited.document.source());
    }

    #[test]
    fn members_that_are_not_meant_keep_their_text(before in value(), seed: u64, target in any_path(), new in value()) {
        let document = JsonDocument::parse(Scribe::source(&before, seed)).unwrap();
        let mut paths = Vec::new();
        member_paths(&before, Path::root(), &mut paths);
        for op in [Op::Set(target.clone(), new), Op::Remove(target.clone())] {
            let mut edit = document.edit();
            if apply(&mut edit, &op).is_ok() {
                let after = edit.finish().document;
                for path in paths.iter().filter(|path| !overlaps(path, &target)) {
                    prop_assert_eq!(document.raw(path), after.raw(path));
                }
            }
        }
    }

    #[test]
    fn undoing_a_new_member_restores_every_byte(before in value(), seed: u64, key in "[x-z]{3}", new in value()) {
        let source = Scribe::source(&before, seed);
        let mut edit = JsonDocument::parse(source.clone()).unwrap().edit();
        let path: Path = [key].into_iter().collect();
        if edit.set(&path, &new).is_ok() && before.is_object() {
            edit.remove(&path).unwrap();
            prop_assert_eq!(edit.finish().document.into_source(), source);
        }
    }
}
