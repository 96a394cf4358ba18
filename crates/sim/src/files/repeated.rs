//! What is made of the fields of events, to be used again: most events of a kind have the same fields as the one before.

use medium::Kind;

/// The latest event of each kind, and what was made of its fields.
#[derive(Debug)]
pub(crate) struct Repeated(Vec<(Option<Kind>, Vec<u8>)>);

impl Repeated {
    pub fn new() -> Repeated {
        Repeated(vec![(None, Vec::new()); Kind::ALL.len()])
    }

    /// What `make` appends for the fields of `kind`. It appends the same for the same fields.
    #[inline]
    pub fn of(&mut self, kind: &Kind, make: impl FnOnce(&mut Vec<u8>)) -> &[u8] {
        let (latest, made) = &mut self.0[kind.number()];
        if *latest != Some(*kind) {
            *latest = Some(*kind);
            made.clear();
            make(made);
        }
        made
    }
}
