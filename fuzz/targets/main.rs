//! All targets in one program, since a program for each would link the whole of ethbus each time.
//! The environment's `TARGET` names the one that runs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::env;
use std::sync::LazyLock;

macro_rules! targets {
    ($($name:ident)*) => {
        $(mod $name;)*

        /// What `TARGET` names.
        fn named(target: &str) -> Option<fn(&[u8])> {
            match target {
                $(stringify!($name) => Some($name::run),)*
                _ => None,
            }
        }
    };
}

targets!(capture cni control docker flat frames image kernel manifest messages messages_table netlink scenario texts trace windows);

static CHOSEN: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let target = env::var("TARGET").unwrap_or_default();
    named(&target).unwrap_or_else(|| panic!("TARGET={target}: name a file of fuzz/targets"))
});

fuzz_target!(|octets: &[u8]| CHOSEN(octets));

/// As much of the input as is text.
fn text(octets: &[u8]) -> &str {
    octets.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}
