//! Bytes in JSON: a string when they are UTF-8, else `{"hex": "…"}`.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::store::log::hash::{hex, unhex};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Repr<'a> {
    Text(Cow<'a, str>),
    Hex { hex: Cow<'a, str> },
}

/// Writes bytes.
pub(in crate::store) fn serialize<S: Serializer>(
    bytes: &[u8],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => serializer.serialize_str(text),
        Err(_) => Repr::Hex { hex: hex(bytes).into() }.serialize(serializer),
    }
}

/// Reads bytes.
pub(in crate::store) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<u8>, D::Error> {
    match Repr::deserialize(deserializer)? {
        Repr::Text(text) => Ok(text.into_owned().into_bytes()),
        Repr::Hex { hex } => unhex(&hex).ok_or_else(|| serde::de::Error::custom("not hexadecimal")),
    }
}

/// The same for bytes that may be missing.
pub(in crate::store) mod option {
    use serde::{Deserialize as _, Deserializer, Serializer};

    #[derive(serde::Deserialize)]
    struct Present(#[serde(with = "super")] Vec<u8>);

    /// Writes bytes, or `null`.
    pub(crate) fn serialize<S: Serializer>(
        bytes: &Option<Vec<u8>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match bytes {
            Some(bytes) => super::serialize(bytes, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// Reads bytes, or `null`.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<u8>>, D::Error> {
        Ok(Option::<Present>::deserialize(deserializer)?.map(|present| present.0))
    }
}
