//! Stations whose programs want more than a lab gives them.

use super::*;
use std::os::unix::fs::symlink;

/// A link, a pipe or a device in place of a file that ethbus reads is not read.
#[test]
fn what_a_station_puts_in_place_of_its_files_ends_no_run() {
    if !is_ready() {
        return;
    }
    for deed in ["mkfifo 0.exit", "ln -s /dev/zero 0.exit", "mkdir 0.exit"] {
        let folder = scenario(&format!("[[station]]\nrun = ['cd /tmp/.ethbus; {deed}']\n"));
        let ended = run(command(&folder, "a", &["--duration", "3s"]));
        assert!(ended.stdout.contains("has not ended"), "{deed}: {ended:#?}");
    }
}

/// A station's link to its outputs is not asked for what is removed at the end.
#[test]
fn a_station_has_no_folder_removed() {
    if !is_ready() {
        return;
    }
    let other = folder();
    let empty = path(&other, "empty");
    std::fs::create_dir(&empty).expect("a folder");
    let deed = format!("cd /tmp/.ethbus; rm out; ln -s {empty} out");
    let folder = scenario(&format!("[[station]]\nrun = ['{deed}']\n"));
    run(command(&folder, "a", &[])).succeeded();
    assert!(Path::new(&empty).is_dir());
}

/// Who may write to the folder of the consoles has nothing emptied, and no station led elsewhere.
#[test]
fn no_link_in_the_folder_of_the_consoles_is_followed() {
    if !is_ready() {
        return;
    }
    let folder = scenario("[[station]]\nrun = ['echo it > /tmp/out/it']\n");
    let [consoles, kept] = ["a.consoles", "kept"].map(|name| folder.path().join(name));
    for (name, target) in [("st1.txt", "kept/file"), ("st1", "kept")] {
        std::fs::create_dir_all(&consoles).expect("own folder");
        std::fs::create_dir_all(&kept).expect("own folder");
        std::fs::write(kept.join("file"), "kept").expect("a file");
        symlink(folder.path().join(target), consoles.join(name)).expect("a link");
        run(command(&folder, "a", &[])).failed_with(1, &["cannot write", name]);
        assert_eq!(std::fs::read(kept.join("file")).expect("a file"), b"kept");
        assert_eq!(std::fs::read_dir(&kept).expect("a folder").count(), 1);
        std::fs::remove_dir_all(&consoles).expect("own folder");
    }
}

/// docs/security.md: a program that is root in its station can mount this machine's files, and open none but its own.
#[test]
fn a_station_opens_none_of_this_machines_files() {
    if !is_ready() {
        return;
    }
    if !kernel::can_confine() {
        return skip("this kernel has no Landlock");
    }
    let other = folder();
    std::fs::write(other.path().join("secret"), "secret").expect("a file");
    let there = format!("/tmp/host{}", other.path().display());
    let deeds = format!(
        "mkdir /tmp/host; mount -t hostfs none /tmp/host -o /; cat /etc/hosts; echo new > {there}/new; \
         echo changed > {there}/secret; rm {there}/secret; mkdir {there}/folder; ln -s secret {there}/link; \
         mv /tmp/.ethbus /tmp/host/proc/self/cwd/other; echo kept > /tmp/out/kept; echo end"
    );
    let folder = scenario(&format!("[[station]]\nrun = ['{deeds}']\n"));
    run(command(&folder, "a", &[])).succeeded();
    let console = text(&folder, "a.consoles/st1.txt");
    assert!(console.contains("end") && console.matches("Permission denied").count() >= 5, "{console}");
    assert_eq!(std::fs::read(other.path().join("secret")).expect("a file"), b"secret");
    assert_eq!(std::fs::read_dir(other.path()).expect("a folder").count(), 1);
    assert_eq!(text(&folder, "a.consoles/st1/kept"), "kept\n");
}
