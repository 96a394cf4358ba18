//! A capture file, pcap or pcapng.
#![no_main]

use sim::traffic::Capture;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|data: &[u8]| {
    if let Ok(replay) = Capture::read(Path::new("capture"), data) {
        assert!(replay.frames().is_sorted_by_key(|frame| frame.at));
    }
});
