//! Which names the kernel lets an interface have.

/// Why an interface cannot have a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// It has no octet.
    #[error("an interface's name cannot be empty")]
    Empty,
    /// It has more than [`NAME_OCTETS_MAX`] octets.
    #[error("`{name}` has {} octets; an interface's name has at most {NAME_OCTETS_MAX}", .name.len())]
    TooLong {
        /// The name.
        name: String,
    },
    /// It has a character that the kernel refuses.
    #[error("`{name}` cannot name an interface: it has `{character}` in it")]
    Character {
        /// The name.
        name: String,
        /// The first character refused.
        character: char,
    },
    /// It has another meaning in folders that are named after interfaces.
    #[error("`{name}` cannot name an interface: it is reserved")]
    Reserved {
        /// The name.
        name: String,
    },
}

/// Octets that an interface's name may have: the kernel's IFNAMSIZ without the final zero.
pub const NAME_OCTETS_MAX: usize = libc::IFNAMSIZ - 1;

/// Checks that the kernel would take `name` as an interface's name.
///
/// Refused: more than 15 octets; `/`, `:`, and `%` (the kernel would fill it in); white space by the kernel's table,
/// which contains octet 0xA0 and so refuses `à` in UTF-8; and the names that `/proc/sys/net` uses itself: `.`, `..`,
/// `all`, `default`.
pub fn check_interface_name(name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    if name.len() > NAME_OCTETS_MAX {
        return Err(NameError::TooLong { name: name.to_owned() });
    }
    if let Some(character) = name.chars().find(|character| refused(*character)) {
        return Err(NameError::Character { name: name.to_owned(), character });
    }
    if matches!(name, "." | ".." | "all" | "default") {
        return Err(NameError::Reserved { name: name.to_owned() });
    }
    Ok(())
}

/// Whether the kernel refuses a name with this character in it.
fn refused(character: char) -> bool {
    let mut octets = [0; 4];
    character
        .encode_utf8(&mut octets)
        .bytes()
        .any(|octet| matches!(octet, 0 | b'\t'..=b'\r' | b' ' | b'/' | b':' | b'%' | 0xa0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_pass() {
        for name in ["a", "lo", "eth0.100", "bus-1_a", "fifteen-octets-", "é", "..."] {
            assert_eq!(check_interface_name(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn names_that_the_kernel_refuses_are_refused() {
        assert_eq!(check_interface_name(""), Err(NameError::Empty));
        let sixteen = "sixteen-octets--";
        assert!(matches!(check_interface_name(sixteen), Err(NameError::TooLong { .. })));
        for name in ["a/b", "a b", "a:b", "a%d", "a\tb", "à", "a\0b", "\u{b}"] {
            let refused = check_interface_name(name);
            assert!(matches!(refused, Err(NameError::Character { .. })), "{name:?}");
        }
        for name in [".", "..", "all", "default"] {
            let refused = check_interface_name(name);
            assert!(matches!(refused, Err(NameError::Reserved { .. })), "{name}");
        }
    }
}
