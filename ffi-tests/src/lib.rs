//! C programs that use libbackoff as a C programmer would, and the tests that build and run them: see `ffi.rs`.
