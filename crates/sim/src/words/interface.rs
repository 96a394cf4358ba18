//! Names of interfaces, by the rules of the Linux kernel, and of stations: a station's interface on the bus's side is called
//! as the station.
//!
//! The crate `link` checks names again before it calls the kernel; a test of the program holds both to the same answers.

use super::units::is_plain_name;

/// What a station's interface is known by on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Its MAC address.
    pub mac: [u8; 6],
    /// Its IPv4 address; all zeros if it has none.
    pub ipv4: [u8; 4],
}

/// Names that something else has: the loopback interface of each station, the bus's namespace, and the loopback in every file of
/// hosts.
const TAKEN: [&str; 3] = ["lo", "bus", "localhost"];

/// As the destination of frames: the station after the sender.
pub const NEXT: &str = "next";
/// All other stations.
pub const BROADCAST: &str = "broadcast";
/// Any other station.
pub const RANDOM: &str = "random";

/// Octets that an interface's name may have: the kernel's IFNAMSIZ without the final zero.
pub const OCTETS_MAX: usize = 15;

/// Checks that the kernel would take `name` as an interface's name.
///
/// # Errors
/// What is wrong with it, in words. Refused: no octet or more than 15, `/`, `:`, `%`, white space by the kernel's table (octet
/// 0xA0 counts as such, so `à` in UTF-8 is refused), and `.`, `..`, `all`, `default`.
pub fn interface_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("an interface's name cannot be empty".to_owned());
    }
    if name.len() > OCTETS_MAX {
        return Err(format!("`{name}` has {} octets; an interface's name has at most {OCTETS_MAX}", name.len()));
    }
    if let Some(character) = name.chars().find(|character| refused(*character)) {
        return Err(format!("`{name}` cannot name an interface: it has `{character}` in it"));
    }
    if matches!(name, "." | ".." | "all" | "default") {
        return Err(format!("`{name}` cannot name an interface: it is reserved"));
    }
    Ok(())
}

/// Checks that a station can be called `name`: as an interface, on a command line, as a destination, and as a host.
///
/// # Errors
/// What is wrong with it, and what would be right.
pub fn station_name(name: &str) -> Result<(), String> {
    const RIGHT: &str = "write up to 15 letters, digits, `-`, `_` or `.`, like `st1`";
    interface_name(name).map_err(|what| format!("{what}: {RIGHT}"))?;
    if TAKEN.contains(&name) {
        return Err(format!("`{name}` is taken: choose another name for the station"));
    }
    if [NEXT, BROADCAST, RANDOM].contains(&name) {
        return Err(format!("`{name}` is a word for destinations of frames: choose another name for the station"));
    }
    if !is_plain_name(name) {
        return Err(format!("`{name}` cannot name a station: {RIGHT}, not starting with `-` or `.`"));
    }
    if name.bytes().all(|octet| octet.is_ascii_digit() || octet == b'.') {
        return Err(format!(
            "`{name}` cannot name a station: programs read it as an address: add a letter, like `st1`"
        ));
    }
    Ok(())
}

/// Whether the kernel refuses a name with this character in it.
fn refused(character: char) -> bool {
    let mut octets = [0; 4];
    let octets = character.encode_utf8(&mut octets).bytes();
    octets.into_iter().any(|octet| matches!(octet, 0 | b'\t'..=b'\r' | b' ' | b'/' | b':' | b'%' | 0xa0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that the kernel takes for an interface and no command line, destination or host can have.
    #[test]
    fn a_station_has_a_name_that_works_everywhere() {
        for name in ["st1", "web.example", "eth0.100", "a_b-c", "0a", "Printer"] {
            assert_eq!(station_name(name), Ok(()), "{name}");
        }
        let wrong = [
            "localhost",
            "lo",
            "bus",
            "next",
            "broadcast",
            "random",
            "a#b",
            "*",
            "-x",
            ".x",
            "é",
            "$HOME",
            "7",
            "10.0.0.1",
        ];
        for name in wrong {
            assert!(interface_name(name).is_ok(), "{name}");
            let what = station_name(name).expect_err(name);
            assert!(what.contains(&format!("`{name}`")) && what.contains(": "), "{what}");
        }
    }
}
