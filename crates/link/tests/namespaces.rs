//! Namespaces, with and without a name.

mod common;

use std::fs;
use std::process::{Command, Stdio};

use common::{Offloads, lab, say_skipped, skipped, until};
use link::Pid;
use link::namespace::{Namespace, NamespaceError, NamespaceId, Removal};

/// A name that no other test or run uses.
fn unique(purpose: &str) -> String {
    format!("ethbus-test-{purpose}-{}", std::process::id())
}

/// Removes the name when the test ends, however it ends.
struct Named(String);

impl Drop for Named {
    fn drop(&mut self) {
        if let Ok(Some(identity)) = Namespace::identity_of_named(&self.0) {
            let _ = Namespace::remove_named(&self.0, identity);
        }
        let _ = Namespace::remove_leftover(&self.0);
    }
}

/// What `ip` prints, or nothing if it is not installed.
fn ip(arguments: &[&str]) -> Option<String> {
    let output = Command::new("ip").args(arguments).output().ok()?;
    assert!(output.status.success(), "ip {arguments:?}: {output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_closure_runs_inside_and_the_caller_stays_outside() {
    if skipped() {
        return;
    }
    let outside = Namespace::current().unwrap().identity();
    let namespace = Namespace::anonymous().unwrap();
    assert_ne!(namespace.identity(), outside);
    let inside = namespace.run(|| Namespace::current().unwrap().identity()).unwrap();
    assert_eq!(inside, namespace.identity());
    assert_eq!(Namespace::current().unwrap().identity(), outside);
    let copy = Namespace::from_fd(namespace.into_fd());
    assert_eq!(copy.identity(), inside);
}

#[test]
fn a_descriptor_of_something_else_is_no_namespace() {
    let file = Namespace::from_fd(fs::File::open("/dev/null").unwrap().into());
    assert!(matches!(file.run(|| ()), Err(NamespaceError::System { .. })));
}

#[test]
fn a_named_namespace_is_seen_by_ip_netns_and_removed_only_by_who_knows_it() {
    if skipped() {
        return;
    }
    let name = unique("named");
    let _cleaner = Named(name.clone());
    assert_eq!(Namespace::identity_of_named(&name).unwrap(), None);
    assert!(matches!(Namespace::open_named(&name), Err(NamespaceError::Absent { .. })));

    let namespace = Namespace::named(&name).unwrap();
    let identity = namespace.identity();
    assert_eq!(Namespace::identity_of_named(&name).unwrap(), Some(identity));
    assert_eq!(Namespace::open_named(&name).unwrap().identity(), identity);
    assert!(matches!(Namespace::named(&name), Err(NamespaceError::Exists { .. })));
    if let Some(list) = ip(&["netns", "list"]) {
        assert!(list.lines().any(|line| line.split(' ').next() == Some(&name)), "{list}");
        let inside = ip(&["netns", "exec", &name, "readlink", "/proc/self/ns/net"]).unwrap();
        assert_eq!(inside.trim(), format!("net:[{}]", identity.inode));
    }

    let other = NamespaceId { inode: identity.inode + 1, ..identity };
    assert_eq!(Namespace::remove_named(&name, other).unwrap(), Removal::NotOurs);
    assert_eq!(Namespace::remove_leftover(&name).unwrap(), Removal::NotOurs);
    assert_eq!(Namespace::identity_of_named(&name).unwrap(), Some(identity));
    assert_eq!(Namespace::remove_named(&name, identity).unwrap(), Removal::Removed);
    assert_eq!(Namespace::remove_named(&name, identity).unwrap(), Removal::Absent);
    assert_eq!(Namespace::identity_of_named(&name).unwrap(), None);
    // The name is gone; the descriptor still holds the namespace.
    assert_eq!(namespace.run(|| Namespace::current().unwrap().identity()).unwrap(), identity);
}

#[test]
fn one_that_ip_netns_made_can_be_opened_and_removed() {
    if skipped() {
        return;
    }
    let name = unique("foreign");
    let _cleaner = Named(name.clone());
    if ip(&["netns", "add", &name]).is_none() {
        say_skipped("needs ip");
        return;
    }
    let identity = Namespace::open_named(&name).unwrap().identity();
    assert_eq!(Namespace::remove_named(&name, identity).unwrap(), Removal::Removed);
    assert!(!ip(&["netns", "list"]).unwrap().contains(&name));
}

/// Making one is a file, then a mount: a crash between them leaves the file.
#[test]
fn a_file_left_by_a_crash_is_told_from_a_namespace_and_from_other_files() {
    if skipped() {
        return;
    }
    let name = unique("leftover");
    let _cleaner = Named(name.clone());
    // Makes the folder, if there was no name yet.
    let first = Namespace::named(&name).unwrap().identity();
    Namespace::remove_named(&name, first).unwrap();
    assert_eq!(Namespace::remove_leftover(&name).unwrap(), Removal::Absent);

    let path = format!("/run/netns/{name}");
    fs::write(&path, "").unwrap();
    let opened = Namespace::open_named(&name);
    assert!(matches!(opened, Err(NamespaceError::NotANamespace { .. })));
    assert!(matches!(Namespace::named(&name), Err(NamespaceError::Exists { .. })));
    assert_eq!(Namespace::remove_named(&name, first).unwrap(), Removal::NotOurs);
    assert_eq!(Namespace::remove_leftover(&name).unwrap(), Removal::Removed);

    fs::write(&path, "somebody's").unwrap();
    assert_eq!(Namespace::remove_leftover(&name).unwrap(), Removal::NotOurs);
    fs::remove_file(&path).unwrap();
}

#[test]
fn the_processes_inside_are_found() {
    if skipped() {
        return;
    }
    let namespace = Namespace::anonymous().unwrap();
    assert_eq!(namespace.processes().unwrap(), []);
    let mut child = namespace.run(|| Command::new("sleep").arg("60").stdout(Stdio::null()).spawn()).unwrap().unwrap();
    assert_eq!(namespace.processes().unwrap(), [Pid::from_raw(child.id() as i32)]);
    child.kill().unwrap();
    child.wait().unwrap();
    until(|| namespace.processes().unwrap().is_empty());
}

#[test]
fn a_program_to_be_executed_finds_the_namespaces_interfaces_in_sys() {
    if skipped() {
        return;
    }
    let lab = lab(1, Offloads::Off);
    let mounts_of_sys = || {
        let mounts = fs::read_to_string("/proc/thread-self/mounts").unwrap();
        mounts.lines().filter(|line| line.split(' ').nth(1) == Some("/sys")).count()
    };
    let before = mounts_of_sys();
    // A thread has its own namespaces too, so this thread represents a process.
    let mut names = std::thread::scope(|scope| {
        let process = scope.spawn(|| {
            lab.bus.enter_for_exec().unwrap();
            let entries = fs::read_dir("/sys/class/net").unwrap();
            entries.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
        });
        process.join().unwrap()
    });
    names.sort();
    assert_eq!(names, ["lo", "port0"]);
    assert_eq!(mounts_of_sys(), before, "nothing of it shows outside");
}
