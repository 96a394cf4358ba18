//! Gives the shared library its soname, where libraries have one: programs ask for this version of the ABI, wherever the
//! file lies.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    // ELF by the linkers that take the flag; not macOS, not Windows, not bare metal, whose linker is called by itself.
    if ["linux", "android", "freebsd", "netbsd", "openbsd", "dragonfly", "illumos", "solaris"]
        .contains(&system.as_str())
    {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libbackoff.so.1");
    }
}
