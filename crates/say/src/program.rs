//! What to type to run this program again: by its own path if the shell would not find it, with sudo for those who need it.

use std::path::PathBuf;

/// `ethbus`, or the path that it was started by if that is not what the shell would find.
pub fn program() -> String {
    let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let own = std::env::current_exe().ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("ethbus")).find(|file| file.is_file());
    let is_found = found.and_then(|file| file.canonicalize().ok()) == own && own.is_some();
    match (is_found, own) {
        (false, Some(own)) if !called.to_string_lossy().contains('/') => quoted(&own.to_string_lossy()),
        // What the user has typed works again in the same folder; the background starts itself by another name.
        (false, Some(own)) if called.starts_with("/proc") => quoted(&own.to_string_lossy()),
        (false, _) => quoted(&called.to_string_lossy()),
        (true, _) => "ethbus".to_owned(),
    }
}

/// The command that this process is, as a shell takes it. The program has no path.
pub fn typed() -> String {
    let words = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("ethbus".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// The same as root: with `sudo` for a user who used sudo, without for root's own shell.
pub fn as_root() -> String {
    let by_sudo = std::env::var_os("SUDO_USER").is_some();
    if by_sudo { format!("sudo {}", program()) } else { program() }
}

/// A word as a shell takes it. A `=` needs no quotes after an option or a `/`, which every word here has.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_a_space_can_be_pasted() {
        assert_eq!(quoted("/a b/it's"), r"'/a b/it'\''s'");
        assert_eq!(quoted("target/release/ethbus"), "target/release/ethbus");
    }
}
