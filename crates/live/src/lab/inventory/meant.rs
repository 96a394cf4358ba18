//! Which labs a command without a name may mean.

/// The labs of a person, or else root's own: systemd's and Docker's. A user's folder has the user's labs alone.
pub fn meant(labs: Vec<(String, Option<u32>)>, person: Option<u32>) -> Vec<String> {
    let of = |whose| labs.iter().filter(|(_, of)| *of == whose).map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let own = of(person);
    if own.is_empty() { of(None) } else { own }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_of_somebody_else_is_never_meant() {
        let lab = |name: &str, person| (name.to_owned(), person);
        let labs = || vec![lab("cable", Some(1000)), lab("hers", Some(1001)), lab("docker", None)];
        assert_eq!(meant(labs(), Some(1000)), ["cable"]);
        assert_eq!(meant(labs(), None), ["docker"]);
        assert_eq!(meant(labs(), Some(1002)), ["docker"], "root's own, since this person has none");
        assert!(meant(vec![lab("hers", Some(1001))], Some(1000)).is_empty());
    }
}
