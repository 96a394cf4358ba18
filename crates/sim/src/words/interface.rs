//! Names of interfaces, by the rules of the Linux kernel: a station's interface on the bus's side is called as the station.
//!
//! The crate `link` checks names again before it calls the kernel; a test of the program holds both to the same answers.

/// Octets that an interface's name may have: the kernel's IFNAMSIZ without the final zero.
const OCTETS_MAX: usize = 15;

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
        return Err(format!("{name} has {} octets; an interface's name has at most {OCTETS_MAX}", name.len()));
    }
    if let Some(character) = name.chars().find(|character| refused(*character)) {
        return Err(format!("{name:?} cannot name an interface: it has {character:?} in it"));
    }
    if matches!(name, "." | ".." | "all" | "default") {
        return Err(format!("{name} cannot name an interface: it is reserved"));
    }
    Ok(())
}

/// Whether the kernel refuses a name with this character in it.
fn refused(character: char) -> bool {
    let mut octets = [0; 4];
    let octets = character.encode_utf8(&mut octets).bytes();
    octets.into_iter().any(|octet| matches!(octet, 0 | b'\t'..=b'\r' | b' ' | b'/' | b':' | b'%' | 0xa0))
}
