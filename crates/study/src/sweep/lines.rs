//! Lines of CSV.

/// One line's fields; none if it is no CSV.
pub(super) fn record(line: &str) -> csv::StringRecord {
    let reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    reader.into_records().next().and_then(Result::ok).unwrap_or_default()
}

/// A line of CSV, without its end.
pub fn line<I: IntoIterator<Item: AsRef<[u8]>>>(fields: I) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(fields).expect("memory takes any text");
    let octets = writer.into_inner().expect("memory takes any text");
    String::from_utf8_lossy(&octets).trim_end_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_with_a_comma_is_quoted() {
        assert_eq!(line(["1", "64:7,594:4", "x"]), "1,\"64:7,594:4\",x");
    }
}
