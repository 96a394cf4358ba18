//! What somebody writes to a lab's control socket.
#![no_main]

use ethbus::live::control::request::Asked;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut lines = data;
    // An end of the stream, or a read error, is the last.
    while let Ok(Some(asked)) = Asked::read_from(&mut lines) {
        let Ok(request) = asked.request else { continue };
        let again = Asked::read_from(&mut request.line().as_bytes()).expect("a slice").expect("a line");
        assert_eq!(again.request.expect("a request"), request);
    }
});
