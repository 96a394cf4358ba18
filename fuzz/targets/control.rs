//! What somebody writes to a lab's control socket.
#![no_main]

use ethbus::live::control::Control;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = Control::read_from(data);
});
