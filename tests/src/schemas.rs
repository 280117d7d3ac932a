//! JSON Schema, as far as the schemas in docs/reference/json use it: each test of an output checks the output against its schema.

use crate::stage;
use serde_json::Value;

/// The schema of this name in docs/reference/json.
pub fn schema(name: &str) -> Value {
    let path = stage::project().join(format!("docs/reference/json/{name}.schema.json"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("a schema")).expect("JSON")
}

/// The parts of a value that break a schema. It knows the words of JSON Schema that our schemas use.
fn faults(at: &str, value: &Value, schema: &Value, out: &mut Vec<String>) {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other} is no type"),
    };
    match &schema["type"] {
        Value::String(name) if !is(name) => return out.push(format!("{at}: {value} is no {name}")),
        Value::Array(names) if !names.iter().any(|name| is(name.as_str().expect("a type"))) => {
            return out.push(format!("{at}: {value} is none of {names:?}"));
        }
        _ => {}
    }
    if let Some(choices) = schema["enum"].as_array()
        && !choices.contains(value)
    {
        out.push(format!("{at}: {value} is none of {choices:?}"));
    }
    if let Some(least) = schema["minimum"].as_f64()
        && value.as_f64().is_some_and(|value| value < least)
    {
        out.push(format!("{at}: {value} is below {least}"));
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        assert_eq!(pattern, "^t[0-9a-f]+$", "the only pattern");
        let word = value.as_str().unwrap_or_default();
        let fits = word
            .strip_prefix('t')
            .is_some_and(|id| !id.is_empty() && id.chars().all(|c| "0123456789abcdef".contains(c)));
        if !fits {
            out.push(format!("{at}: {value} is no task id"));
        }
    }
    if let Some(all) = value.as_array() {
        for (number, one) in all.iter().enumerate() {
            faults(&format!("{at}[{number}]"), one, &schema["items"], out);
        }
    }
    if let Some(all) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !all.contains_key(name) {
                out.push(format!("{at}: {name} is missing"));
            }
        }
        for (name, one) in all {
            let known = &schema["properties"][name];
            let rest = if known.is_null() { &schema["additionalProperties"] } else { known };
            // A name without a schema was added without a schema.
            match rest.is_null() && schema["properties"].is_object() {
                true => out.push(format!("{at}: the schema has no {name}")),
                false => faults(&format!("{at}.{name}"), one, rest, out),
            }
        }
    }
}

/// Reads the JSON text, which must fit the schema of this name.
pub fn fits(name: &str, said: &str) -> Value {
    let value: Value = serde_json::from_str(said).unwrap_or_else(|why| panic!("{name}: {why}: {said}"));
    let mut out = Vec::new();
    faults(name, &value, &schema(name), &mut out);
    assert_eq!(out, Vec::<String>::new());
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn validator_refuses_what_does_not_fit() {
        let mut out = Vec::new();
        let task = json!([{ "tid": "x", "pid": "7", "state": "dancing" }]);
        faults("ps", &task, &schema("ps"), &mut out);
        for word in ["is no task id", "\"7\" is no integer", "\"dancing\" is none of", "rank is missing"] {
            assert!(out.iter().any(|line| line.contains(word)), "{word}: {out:?}");
        }
    }
}
