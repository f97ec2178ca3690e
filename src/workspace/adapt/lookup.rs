//! Looks up the variables that rules refer to; many variables of one object are read together.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{
    domain::{FactValue, Facts, Variables},
    text::json::Path,
};

/// The prefix of variables in rules.
const PREFIX: &str = "variables.";

/// Fewer names in one object are looked up one by one.
const FEW: usize = 4;

/// An object with more bytes than this for each name is not read as a whole.
const BYTES_FOR_A_NAME: usize = 256;

/// Adds the variables `names`, such as `variables.a.b`, that exist.
pub(super) fn add(variables: &Variables, names: &[&str], facts: &mut Facts) {
    let mut by_parent: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for name in names {
        let Some(path) = name.strip_prefix(PREFIX) else { continue };
        let (parent, key) = path.rsplit_once('.').unwrap_or(("", path));
        by_parent.entry(parent).or_default().push((name, key));
    }
    for (parent, members) in by_parent {
        let siblings = Siblings::of(variables, parent, members.len());
        for (name, key) in members {
            let value = match &siblings {
                Siblings::Absent => None,
                Siblings::Object(object) => object.get(key).map(FactValue::from_json),
                Siblings::OneByOne => {
                    variables.get(&name[PREFIX.len()..]).map(|value| FactValue::from_json(&value))
                }
            };
            if let Some(value) = value {
                facts.insert(name, value);
            }
        }
    }
}

/// Copies the variables from facts about the same variables.
pub(super) fn copy(from: &Facts, to: &mut Facts) {
    for (name, value) in from.iter().filter(|(name, _)| name.starts_with(PREFIX)) {
        to.insert(name, value.clone());
    }
}

/// How the variables below one parent are read.
enum Siblings {
    /// They do not exist.
    Absent,
    /// From this object.
    Object(Map<String, Value>),
    /// One by one.
    OneByOne,
}

impl Siblings {
    fn of(variables: &Variables, parent: &str, count: usize) -> Self {
        // Keys in brackets, with escapes, and pointers have a way of their own to be read.
        if count < FEW || parent.contains(['[', '\\', '/']) {
            return Self::OneByOne;
        }
        let path = match parent {
            "" => Path::root(),
            parent => match Path::parse(parent) {
                Ok(path) => path,
                Err(_) => return Self::OneByOne,
            },
        };
        match variables.document.raw(&path) {
            None => Self::Absent,
            Some(raw) if raw.len() > count.saturating_mul(BYTES_FOR_A_NAME) => Self::OneByOne,
            Some(_) => match variables.document.get(&path) {
                Some(Value::Object(object)) => Self::Object(object),
                _ => Self::OneByOne,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> Variables {
        Variables::parse(text.as_bytes().to_vec()).unwrap()
    }

    /// Every name looked up by itself.
    fn one_by_one(variables: &Variables, names: &[&str]) -> Facts {
        let mut facts = Facts::new();
        for name in names {
            if let Some(value) = variables.get(&name[PREFIX.len()..]) {
                facts.insert(*name, FactValue::from_json(&value));
            }
        }
        facts
    }

    #[test]
    fn a_large_object_is_not_read_out_for_a_few_names() {
        let large = "x".repeat(10_000);
        let variables = parsed(&format!(r#"{{"a":{{"0":1,"1":2,"2":3,"3":"{large}"}}}}"#));
        assert!(matches!(Siblings::of(&variables, "a", 4), Siblings::OneByOne));
        assert!(matches!(Siblings::of(&variables, "a", 100), Siblings::Object(_)));
        assert!(matches!(Siblings::of(&variables, "b", 100), Siblings::Absent));
        assert!(matches!(Siblings::of(&variables, "a", 3), Siblings::OneByOne));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn many_names_are_found_as_each_one_is(
            paths in prop::collection::btree_set("[abc](\\.[ab01]){0,2}(/x|-y)?", 0..40),
            text in prop::sample::select(vec![
                r#"{}"#,
                r#"{"a":{"a":1,"b":{"a":"x","0":true,"1":null}},"b":[1,[2,3]],"c":7}"#,
                r#"{"a":{"a":[1,2],"b":[{"a":1}],"0":"5","b/x":1,"a-y":2},"b/x":1,"c-y":{"a":1}}"#,
                r#"{"a":1,"b":{"a":{"a":1,"b":2,"0":3,"1":4},"b":{}},"\u0063":{"a":1,"\u0062":2}}"#,
            ]),
        ) {
            let variables = parsed(text);
            let names: Vec<String> = paths.iter().map(|path| format!("{PREFIX}{path}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut facts = Facts::new();
            add(&variables, &names, &mut facts);
            prop_assert_eq!(&facts, &one_by_one(&variables, &names));
            let mut again = Facts::new();
            copy(&facts, &mut again);
            prop_assert_eq!(again, facts);
        }
    }
}
