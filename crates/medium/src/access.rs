//! The access methods, one file or folder each.

pub(crate) mod csma_cd;
