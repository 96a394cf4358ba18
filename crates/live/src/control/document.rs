//! The document that clients read, docs/api.json: the lab checks parameters by the same text.
//!
//! ```text
//!   {"name":"step","params":[{"name":"bit_times","schema":{"type":"integer","minimum":1,"maximum":1000000000}}], …}
//! ```

use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::LazyLock;

static DOCUMENT: LazyLock<Document> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../api.json")).expect("docs/api.json is OpenRPC"));

/// The longest value that a refusal repeats, in characters.
const LONGEST_VALUE: usize = 60;

#[derive(Deserialize)]
struct Document {
    methods: Vec<Method>,
    components: Components,
}

#[derive(Deserialize)]
struct Components {
    schemas: Map<String, Value>,
}

/// A method, as the document has it.
#[derive(Deserialize)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// Its parameters, in the order of a request that leaves their names out.
    params: Vec<Param>,
}

#[derive(Deserialize)]
struct Param {
    name: String,
    #[serde(default)]
    required: bool,
    schema: Value,
}

/// The names of all methods.
pub fn names() -> impl Iterator<Item = &'static str> {
    DOCUMENT.methods.iter().map(|method| method.name.as_str())
}

/// The method of this name.
pub fn method(name: &str) -> Option<&'static Method> {
    DOCUMENT.methods.iter().find(|method| method.name == name)
}

impl Method {
    /// The parameters by name, of a request that gives them by name or in order.
    ///
    /// # Errors
    /// More than there are; one that is missing, unknown or wrong.
    pub fn read(&self, params: Value) -> Result<Map<String, Value>, String> {
        let given = match params {
            Value::Object(named) => named,
            Value::Array(values) if values.len() > self.params.len() => {
                return Err(format!("{} parameters are given: {}", values.len(), self.known()));
            }
            Value::Array(values) => self.params.iter().map(|param| param.name.clone()).zip(values).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Map::new(),
        };
        if let Some(missing) = self.params.iter().find(|param| param.required && !given.contains_key(&param.name)) {
            return Err(format!("`{}` is missing", missing.name));
        }
        for (name, value) in &given {
            let Some(param) = self.params.iter().find(|param| param.name == *name) else {
                return Err(format!("`{name}` is no parameter of it: {}", self.known()));
            };
            // The values of a section are checked as those of a scenario are, which has the better words.
            if !["add", "set"].contains(&self.name.as_str()) {
                check(name, value, &param.schema)?;
            }
        }
        Ok(given)
    }

    /// Whether the method has parameters, required or not.
    pub fn has_parameters(&self) -> bool {
        !self.params.is_empty()
    }

    fn known(&self) -> String {
        match self.params.iter().map(|param| param.name.as_str()).collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => "it has no parameters".to_owned(),
            known => format!("its parameters are {known}"),
        }
    }
}

/// Checks what is called `name` against the part of JSON Schema that the document uses.
fn check(name: &str, value: &Value, schema: &Value) -> Result<(), String> {
    let reference = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    let schema = reference.map_or(schema, |known| &DOCUMENT.components.schemas[known]);
    let wrong = |right: String| Err(format!("`{name}` is {}: it is {right}", shown(value)));
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return wrong(words.iter().map(Value::to_string).collect::<Vec<_>>().join(" or "));
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is(kind, value)) {
        return wrong(kinds.iter().map(|kind| called(kind)).collect::<Vec<_>>().join(" or "));
    }
    let (least, most) = (&schema["minimum"], &schema["maximum"]);
    let number = value.as_f64().unwrap_or_default();
    if least.as_f64().is_some_and(|least| number < least) || most.as_f64().is_some_and(|most| number > most) {
        return wrong(if most.is_null() { format!("at least {least}") } else { format!("from {least} to {most}") });
    }
    let items = value.as_array().into_iter().flatten();
    items.enumerate().try_for_each(|(place, item)| check(&format!("{name}[{place}]"), item, &schema["items"]))?;
    value.as_object().map_or(Ok(()), |members| check_members(name, members, schema))
}

fn check_members(name: &str, members: &Map<String, Value>, schema: &Value) -> Result<(), String> {
    let mut required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.find(|key| !members.contains_key(*key)) {
        return Err(format!("`{name}.{missing}` is missing"));
    }
    members.iter().try_for_each(|(key, value)| match schema["properties"].get(key) {
        Some(schema) => check(&format!("{name}.{key}"), value, schema),
        None => {
            let known = schema["properties"].as_object().into_iter().flat_map(Map::keys);
            let known = known.map(String::as_str).collect::<Vec<_>>().join(", ");
            Err(format!("`{key}` is no member of `{name}`: its members are {known}"))
        }
    })
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => value.is_null(),
    }
}

fn called(kind: &str) -> &str {
    match kind {
        "string" => "a text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        other => other,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let text = value.to_string();
            let short: String = text.chars().take(LONGEST_VALUE).collect();
            if short == text { text } else { format!("{short}…") }
        }
    }
}
