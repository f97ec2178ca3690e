//! JSON in which an object has the same key twice, only one of which would be kept.

use std::{collections::HashSet, fmt};

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// What the message of a refusal begins with.
const DUPLICATE: &str = "duplicate key";

/// Any JSON that has no key twice in one object; nothing of it is kept.
struct Unique;

/// The first key that stands twice in an object of `json`, which may be several values.
///
/// Text that is not JSON has none: whoever reads it says what is wrong with it.
pub(super) fn doubled(json: &str) -> Option<serde_json::Error> {
    if !json.contains('{') {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Unique>();
    let error = values.find_map(Result::err)?;
    error.to_string().starts_with(DUPLICATE).then_some(error)
}

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Unique)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Unique, A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = members.next_key::<String>()? {
            if seen.contains(&key) {
                return Err(A::Error::custom(format!("{DUPLICATE} `{key}`")));
            }
            seen.insert(key);
            members.next_value::<Unique>()?;
        }
        Ok(Unique)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
        while items.next_element::<Unique>()?.is_some() {}
        Ok(Unique)
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_str<E>(self, _: &str) -> Result<Unique, E> {
        Ok(Unique)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_found_with_its_place() {
        for (json, line, column) in [
            (r#"{"a":1,"a":2}"#, 1, 10),
            ("[{\"b\": {\"a\": null,\n \"\\u0061\": true}}]", 2, 9),
            ("{\"a\":1}\n{\"a\":1.5,\"a\":-1}", 2, 12),
        ] {
            let error = doubled(json).unwrap();
            assert!(error.to_string().starts_with("duplicate key `a`"), "{error}");
            assert_eq!((error.line(), error.column()), (line, column), "{json}");
        }
    }

    #[test]
    fn the_same_key_in_two_objects_is_not_a_doubled_key() {
        for json in [r#"{"a":{"a":1},"b":[{"a":1},{"a":2}],"A":"x"}"#, "{\"a\":", "a { b", "7"] {
            assert!(doubled(json).is_none(), "{json}");
        }
    }
}
