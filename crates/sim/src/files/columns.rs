//! Columns of a JSON line, appended one by one. Knows nothing of what they mean.

/// Appends `,"name":value`.
#[inline(always)]
pub(crate) fn number(line: &mut Vec<u8>, name: &str, value: u64) {
    key(line, name);
    line.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends `,"name":true` or `,"name":false`.
#[inline(always)]
pub(crate) fn truth(line: &mut Vec<u8>, name: &str, value: bool) {
    key(line, name);
    line.extend_from_slice(if value { b"true" } else { b"false" });
}

/// Appends `,"name":"text"`; `text` is such that it needs no escapes, or has them.
#[inline(always)]
pub(crate) fn string(line: &mut Vec<u8>, name: &str, text: &str) {
    key(line, name);
    line.push(b'"');
    line.extend_from_slice(text.as_bytes());
    line.push(b'"');
}

#[inline(always)]
pub(crate) fn key(line: &mut Vec<u8>, name: &str) {
    line.extend_from_slice(b",\"");
    line.extend_from_slice(name.as_bytes());
    line.extend_from_slice(b"\":");
}
