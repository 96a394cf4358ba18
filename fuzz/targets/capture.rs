//! A capture file, pcap or pcapng.
use sim::traffic::Capture;
use sim::windows::passing::Passing;
use std::path::Path;

pub fn run(data: &[u8]) {
    let mut passed = 0;
    let taken = Passing::default().take(data, |block| {
        passed += block.len();
        Ok(())
    });
    assert!(passed <= data.len() && taken.is_ok(), "a fuzzer's input is shorter than a block may be");
    if let Ok(replay) = Capture::read(Path::new("capture"), data) {
        assert!(replay.frames().is_sorted_by_key(|frame| frame.at));
    }
}
