//! Gives the shared library its soname: programs ask for this version of the ABI, wherever the file lies.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libbackoff.so.0");
}
