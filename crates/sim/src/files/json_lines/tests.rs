//! Lines that are written whole or not at all, and lines that are read.

use super::*;

fn write(lines: &mut LineWriter, text: &str) -> Result<(), WriteError> {
    lines.line(|buffer| buffer.extend_from_slice(text.as_bytes()))
}

#[test]
fn a_full_disk_is_told_with_what_is_kept() {
    let mut lines = LineWriter::create(Path::new("/dev/full"), "events").expect("every Linux has it");
    write(&mut lines, "header").expect("buffered");
    let error = lines.flush().expect_err("full");
    let text = "cannot write /dev/full: no events are in it";
    assert_eq!(error.to_string(), text);
    let WriteError::Write { source, .. } = error else { panic!("{error:?}") };
    assert_eq!(source.kind(), io::ErrorKind::StorageFull);
    assert!(lines.flush().is_err(), "once failed, always failed");
}

#[test]
fn a_closed_pipe_is_told_with_what_was_written() {
    let (reader, writer) = io::pipe().expect("a pipe");
    let mut lines = LineWriter::new(File::from(std::os::fd::OwnedFd::from(writer)), "the pipe".to_owned(), "events");
    for line in ["header", "one", "two"] {
        write(&mut lines, line).expect("buffered");
    }
    lines.flush().expect("the pipe is open");
    drop(reader);
    write(&mut lines, "three").expect("buffered");
    let error = lines.flush().expect_err("closed");
    assert_eq!(error.to_string(), "cannot write the pipe any further; the first 2 events are in it, whole");
}

#[test]
fn what_is_dropped_is_written() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let mut lines = LineWriter::create(file.path(), "events").expect("a file");
    write(&mut lines, "header").expect("buffered");
    drop(lines);
    assert_eq!(std::fs::read(file.path()).expect("a file"), b"header\n");
}

#[test]
fn a_line_without_end_is_where_the_file_was_cut() {
    let mut lines = LineReader::new(&b"1\n2\n[3,"[..], "x".to_owned());
    assert!(lines.advance().expect("a line") && lines.advance().expect("a line"));
    let error = lines.advance().expect_err("no end");
    assert_eq!(error.to_string(), "x, line 3: the file was cut short here; 2 whole lines are before it");
}

#[test]
fn a_line_that_is_no_json_is_told_with_its_column() {
    let mut lines = LineReader::new(&b"1\n[2,\n"[..], "x".to_owned());
    assert!(lines.advance().expect("a line") && lines.advance().expect("a line"));
    let error = lines.json::<Vec<u64>>().expect_err("half a list");
    assert_eq!(
        error.to_string(),
        "x, line 2: the line ends too early for JSON (at column 3): the file was changed after it was written"
    );
    let zeros = vec![b'0'; LONGEST as usize + 1];
    let error = LineReader::new(&zeros[..], "x".to_owned()).advance().expect_err("endless").to_string();
    assert!(error.contains("line 1: a line of more than 1048576 octets"), "{error}");
}
