//! Seeds from the operating system. The only place in this crate that asks for entropy.

use crate::Generator;

impl Generator {
    /// A generator that the operating system seeds: no two clients draw the same delays, and a run cannot be repeated.
    ///
    /// ```
    /// use backoff::{Generator, Policy};
    ///
    /// let generator = Generator::from_system().expect("the system has entropy");
    /// assert_eq!(Policy::AWS_STANDARD.delays(generator).count(), 2);
    /// ```
    ///
    /// # Errors
    /// The system has no source of entropy, or does not give of it: then take a number that no other client has.
    pub fn from_system() -> Result<Generator, getrandom::Error> {
        getrandom::u64().map(Generator::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two seeds of 64 bits that are equal would be an accident of one in 2^64.
    #[test]
    fn two_seeds_differ() {
        let seeds = [Generator::from_system(), Generator::from_system()].map(|seed| seed.expect("Linux has entropy"));
        assert_ne!(seeds[0].state(), seeds[1].state());
    }
}
