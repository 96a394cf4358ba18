//! What kinds of files there are, and how each begins.

/// What a file is for, and how one can tell.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name, with an article.
    pub what: &'static str,
    /// How such files can begin; empty if the caller knows by other means that a file is its own.
    pub beginnings: &'static [&'static [u8]],
}

/// A trace.
pub const LINES: Kind = Kind { what: "a trace", beginnings: &[b"{\"format\":\"ethbus "] };
/// A capture.
pub const PCAPNG: Kind = Kind { what: "a capture in pcapng", beginnings: &[b"\x0a\x0d\x0d\x0a"] };
/// A capture in classic pcap with nanoseconds.
pub const PCAP: Kind = Kind { what: "a capture in pcap", beginnings: &[b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d"] };
/// A capture, compressed.
pub const PACKED_CAPTURE: Kind = Kind { what: "a capture compressed with zstd", beginnings: &[b"\x28\xb5\x2f\xfd"] };
/// A trace for Perfetto: its first packet is the track called ethbus. Older ones give their tracks no order.
pub const PERFETTO: Kind = Kind {
    what: "a trace for Perfetto",
    beginnings: &[b"\x0a\x0f\xe2\x03\x0c\x08\x01\x12\x06ethbus\x58\x03", b"\x0a\x0d\xe2\x03\x0a\x08\x01\x12\x06ethbus"],
};
/// Waveforms.
pub const VCD: Kind = Kind { what: "waveforms in VCD", beginnings: &[b"$comment ethbus"] };
/// Events as a table.
pub const EVENT_TABLE: Kind = Kind { what: "a table of events", beginnings: &[b"t,ns,layer,kind,"] };
/// The table of a sweep; the file beside it tells whose it is.
pub const TABLE: Kind = Kind { what: "a sweep's table", beginnings: &[] };
/// A page.
pub const HTML: Kind = Kind { what: "a page in HTML", beginnings: &[b"<!doctype html>\n<!-- written by ethbus -->\n"] };
/// A figure.
pub const SVG: Kind = Kind { what: "a figure in SVG", beginnings: &[b"<svg"] };
/// A figure.
pub const PNG: Kind = Kind { what: "a figure in PNG", beginnings: &[b"\x89PNG"] };
/// The frames of a run, or its metrics over time, as CSV or Parquet.
pub const ROWS: Kind =
    Kind { what: "a table of frames or metrics", beginnings: &[b"station,serial,", b"from_s,to_s,", b"PAR1"] };
/// A scenario; whether one may be replaced is the caller's to say.
pub const SCENARIO: Kind = Kind { what: "a scenario", beginnings: &[] };
/// A man page, the same.
pub const MAN_PAGE: Kind = Kind { what: "a man page", beginnings: &[] };
/// A table as an Arrow file.
pub const ARROW: Kind = Kind { what: "an Arrow file", beginnings: &[b"ARROW1"] };
/// A table in Parquet.
pub const PARQUET: Kind = Kind { what: "a Parquet file", beginnings: &[b"PAR1"] };
