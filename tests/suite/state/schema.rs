//! The part of JSON Schema that the schema of the state uses.

use serde_json::Value;

/// The first place where `value` does not fit the schema.
pub fn violation(schema: &Value, value: &Value) -> Option<String> {
    check(schema, schema, value, "$").err()
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    for (keyword, rule) in schema.as_object().unwrap() {
        let fail = |what: &str| Err(format!("{at}: {what}: {value}"));
        match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" | "required" => {}
            "$ref" => {
                let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                check(root, root.pointer(pointer).unwrap(), value, at)?;
            }
            "type" => {
                let types: Vec<&Value> =
                    rule.as_array().map_or(vec![rule], |all| all.iter().collect());
                if !types.iter().any(|name| is(value, name.as_str().unwrap())) {
                    return fail(&format!("is not {rule}"));
                }
            }
            "const" if value != rule => return fail("is another value"),
            "enum" if !rule.as_array().unwrap().contains(value) => return fail("is not listed"),
            "const" | "enum" => {}
            "anyOf" => {
                let fits = |one: &Value| check(root, one, value, at).is_ok();
                if !rule.as_array().unwrap().iter().any(fits) {
                    return fail("fits none");
                }
            }
            "minimum" if value.as_f64().is_some_and(|n| n < rule.as_f64().unwrap()) => {
                return fail("is too small");
            }
            "maximum" if value.as_f64().is_some_and(|n| n > rule.as_f64().unwrap()) => {
                return fail("is too large");
            }
            "minItems" if value.as_array().unwrap().len() < rule.as_u64().unwrap() as usize => {
                return fail("is too short");
            }
            "maxItems" if value.as_array().unwrap().len() > rule.as_u64().unwrap() as usize => {
                return fail("is too long");
            }
            "minimum" | "maximum" | "minItems" | "maxItems" => {}
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{at}[{index}]"))?;
                }
            }
            "properties" => members(root, schema, value, at)?,
            "additionalProperties" => {
                let known = schema["properties"].as_object();
                for (key, member) in value.as_object().into_iter().flatten() {
                    if known.is_some_and(|known| known.contains_key(key)) {
                        continue;
                    }
                    match rule {
                        Value::Bool(false) => return fail(&format!("has `{key}`")),
                        rule => check(root, rule, member, &format!("{at}.{key}"))?,
                    }
                }
            }
            other => panic!("the schema uses `{other}`, which this test does not know"),
        }
    }
    Ok(())
}

fn members(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    let Some(members) = value.as_object() else { return Ok(()) };
    for key in schema["required"].as_array().into_iter().flatten() {
        if !members.contains_key(key.as_str().unwrap()) {
            return Err(format!("{at}: has no {key}"));
        }
    }
    for (key, rule) in schema["properties"].as_object().unwrap() {
        if let Some(member) = members.get(key) {
            check(root, rule, member, &format!("{at}.{key}"))?;
        }
    }
    Ok(())
}

fn is(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("unknown type `{other}`"),
    }
}
