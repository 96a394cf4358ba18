//! Columns of a JSON line, appended one by one. Knows nothing of what they mean.

use crate::words::prose::push_number;

/// What columns are appended to.
pub(crate) trait Sink {
    /// Appends `text`.
    fn put(&mut self, text: &[u8]);

    /// Appends a number in decimal digits.
    fn put_number(&mut self, value: u64);
}

impl Sink for Vec<u8> {
    #[inline(always)]
    fn put(&mut self, text: &[u8]) {
        self.extend_from_slice(text);
    }

    #[inline(always)]
    fn put_number(&mut self, value: u64) {
        push_number(self, value);
    }
}

/// Appends `,"name":value`.
#[inline(always)]
pub(crate) fn number(line: &mut impl Sink, name: &str, value: u64) {
    key(line, name);
    line.put_number(value);
}

/// Appends `,"name":true` or `,"name":false`.
#[inline(always)]
pub(crate) fn truth(line: &mut impl Sink, name: &str, value: bool) {
    key(line, name);
    if value { line.put(b"true") } else { line.put(b"false") }
}

/// Appends `,"name":"text"`; `text` is such that it needs no escapes, or has them.
#[inline(always)]
pub(crate) fn string(line: &mut impl Sink, name: &str, text: &str) {
    key(line, name);
    line.put(b"\"");
    line.put(text.as_bytes());
    line.put(b"\"");
}

#[inline(always)]
pub(crate) fn key(line: &mut impl Sink, name: &str) {
    line.put(b",\"");
    line.put(name.as_bytes());
    line.put(b"\":");
}

/// Whether a line that ethbus wrote is of this layer.
pub(crate) fn is_of_layer(line: &[u8], layer: &str) -> bool {
    let Some(line) = line.strip_prefix(b"{\"t\":") else { return false };
    let digits = line.iter().take_while(|octet| octet.is_ascii_digit()).count();
    let layer = line[digits..].strip_prefix(b",\"layer\":\"").and_then(|line| line.strip_prefix(layer.as_bytes()));
    layer.is_some_and(|rest| rest.starts_with(b"\","))
}
