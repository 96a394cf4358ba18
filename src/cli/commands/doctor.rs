//! `ethbus doctor`: what a lab needs of this machine, what the machine has, and what to do about the rest.

use super::measure::measure;
use super::{Outcome, missing_capabilities, print_result};
use crate::cli::args::DoctorArgs;
use link::namespace::{Capability, Namespace, enter_user_namespace, has_capability};
use link::sysctl::silence_ipv6_everywhere;
use live::lab::inventory::InventoryError;
use live::lab::owner::Owner;
use say::terminal::{USUAL, fold};
use serde::Serialize;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The oldest kernel that tests have run on.
const OLDEST: (u32, u32) = (5, 14);
/// Sleeps that are measured, and how long each is.
const SLEEPS: usize = 50;
const SLEEP: Duration = Duration::from_millis(1);
/// Wakes later than this leave the bus late too.
const LATE: Duration = Duration::from_micros(500);
/// A single wake as late as this means that the machine was stopped, not that it sleeps deeply.
const HELD_UP: Duration = Duration::from_millis(10);

/// Programs that are useful in stations, and Debian's packages that bring them.
const TOOLS: [(&str, &str); 4] =
    [("ip", "iproute2"), ("ping", "iputils-ping"), ("iperf3", "iperf3"), ("tcpdump", "tcpdump")];

/// The state of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// As it should be.
    Good,
    /// A lab works, with less.
    Limited,
    /// No lab works.
    Missing,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    state: State,
    found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

/// Looks at the machine.
///
/// # Errors
/// A system without `/proc`; findings that cannot be written.
pub fn doctor(args: &DoctorArgs) -> Outcome {
    if let Some(rows) = &args.measure {
        return measure(args, rows);
    }
    let mut findings = vec![kernel(), clock()];
    findings.extend([priority(), tun(), programs()].into_iter().flatten());
    findings.push(virtual_labs());
    findings.extend(login());
    // The last: it may put this process into a user namespace.
    findings.push(rights()?);
    findings.push(fan_out());
    let is_missing = findings.iter().any(|finding| finding.state == State::Missing);
    print_result(args.written.format, &findings, |findings| told(findings))?;
    Ok(if is_missing { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn told(findings: &[Finding]) -> String {
    let mut text = String::new();
    for Finding { what, state, found, remedy } in findings {
        let state = match state {
            State::Good => "good",
            State::Limited => "less",
            State::Missing => "MISSING",
        };
        text += &fold(&format!("{what:<17} {state:<8}  {found}\n"), USUAL);
        text += &remedy.as_deref().map_or_else(String::new, prescribed);
    }
    let has = |wanted: State| findings.iter().any(|finding| finding.state == wanted);
    let verdict = match (has(State::Missing), has(State::Limited)) {
        (true, _) => "no lab can be brought up here; `ethbus sim` works",
        (false, true) => "labs work here, with less where it says so",
        (false, false) => "labs work here",
    };
    format!("{text}{verdict}\n")
}

/// A remedy below its finding. Each command has a line of its own, however long that is, so that it can be pasted.
fn prescribed(remedy: &str) -> String {
    let (mut text, mut label) = (String::new(), "do:");
    for (number, part) in remedy.split('`').enumerate() {
        text += &match (number % 2, part.trim_matches([' ', ';', ',', ':'])) {
            (_, "") => String::new(),
            (0, words) => fold(&format!("{:<18}{:<4}{words}\n", "", std::mem::take(&mut label)), USUAL),
            (_, command) if number == 1 && text.is_empty() => format!("{:<18}do: {command}\n", ""),
            (_, command) => format!("  {command}\n"),
        };
    }
    text
}

/// A command between backquotes that needs root, as this user types it: in root's own shell without sudo.
fn as_root(command: &str) -> String {
    if is_roots_shell() { format!("`{command}`") } else { format!("`sudo {command}`") }
}

fn is_roots_shell() -> bool {
    Owner::own().is_ok_and(|owner| owner == Owner::Root) && std::env::var_os("SUDO_USER").is_none()
}

fn good(what: &'static str, found: String) -> Finding {
    Finding { what, state: State::Good, found, remedy: None }
}

fn wrong(what: &'static str, state: State, found: String, remedy: &str) -> Finding {
    Finding { what, state, found, remedy: Some(remedy.to_owned()) }
}

fn setting(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn kernel() -> Finding {
    let release = setting("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= OLDEST {
        return good("kernel", format!("Linux {release}"));
    }
    let what = format!("Linux {release}; labs are tested from {}.{} on", OLDEST.0, OLDEST.1);
    wrong("kernel", State::Limited, what, "use a newer kernel")
}

/// Root, or a user who may have a user namespace; otherwise the setting that forbids it.
fn rights() -> Result<Finding, super::CommandError> {
    if missing_capabilities()?.is_empty() {
        return Ok(match trial() {
            Ok(()) => good("rights", "root: labs have names for `ip netns`, and the bus has priority".to_owned()),
            Err(found) => wrong("rights", State::Missing, found, "use root of the machine itself"),
        });
    }
    Ok(match enter_user_namespace() {
        Ok(()) => good("rights", "an ordinary user, who may make user namespaces".to_owned()),
        Err(error) => {
            let (found, remedy) = forbidden();
            let found = found.unwrap_or_else(|| say::with_causes(&error));
            wrong("rights", State::Missing, found, &remedy)
        }
    })
}

/// Whether this process may do what a lab does first. Rights alone do not say so in a container.
fn trial() -> Result<(), String> {
    let namespace = Namespace::anonymous().map_err(|error| say::with_causes(&error))?;
    let silenced = namespace.run(silence_ipv6_everywhere).map_err(|error| say::with_causes(&error))?;
    silenced.map_err(|error| say::with_causes(&error))
}

/// The setting that forbids user namespaces, and what to do.
fn forbidden() -> (Option<String>, String) {
    let is = |path: &str, value: &str| setting(path).is_some_and(|now| now == value);
    let allow =
        |setting: &str| format!("allow them: {} or bring labs up with sudo", as_root(&format!("sysctl -w {setting}")));
    if is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
        let found = "kernel.apparmor_restrict_unprivileged_userns = 1, as on Ubuntu from 23.10 on";
        let remedy = allow("kernel.apparmor_restrict_unprivileged_userns=0");
        return (Some(found.to_owned()), format!("{remedy}, or install the package, which has an AppArmor profile"));
    }
    if is("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        let found = "kernel.unprivileged_userns_clone = 0".to_owned();
        return (Some(found), allow("kernel.unprivileged_userns_clone=1"));
    }
    if is("/proc/sys/user/max_user_namespaces", "0") {
        let found = "user.max_user_namespaces = 0".to_owned();
        return (Some(found), allow("user.max_user_namespaces=10000"));
    }
    (None, "use sudo; in a container, start it with --privileged".to_owned())
}

/// Where a user's labs keep their inventories.
fn login() -> Option<Finding> {
    let Ok(owner @ Owner::User { user }) = Owner::own() else { return None };
    let folder = owner.folder();
    let login = folder.parent().unwrap_or(Path::new("/run/user")).to_owned();
    // The check that `up` makes.
    let (found, remedy) = match owner.check() {
        Ok(()) => return Some(good("records", format!("{}", login.display()))),
        Err(InventoryError::NoLogin { .. }) => (
            format!("no folder {}", login.display()),
            format!("log in, or: `sudo install -d -m 700 -o {user} {}`", login.display()),
        ),
        Err(InventoryError::Untrusted { path, why }) => {
            let is_own = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir() && found.uid() == user);
            let path = path.display();
            let remedy = match is_own {
                true => format!("`chmod 700 {path}`"),
                false => format!("see what {path} is, and remove it with sudo if nobody needs it"),
            };
            (format!("{path} {why}"), remedy)
        }
        Err(error) => (say::with_causes(&error), format!("look at {}", login.display())),
    };
    Some(wrong("records", State::Missing, found, &remedy))
}

fn tun() -> Option<Finding> {
    let is_there = Path::new("/dev/net/tun").exists();
    Some(match is_there {
        true => good("TAP devices", "/dev/net/tun".to_owned()),
        false => wrong(
            "TAP devices",
            State::Limited,
            "no /dev/net/tun: no stations of kind \"tap\"".to_owned(),
            &format!("load the module: {}", as_root("modprobe tun")),
        ),
    })
}

fn virtual_labs() -> Finding {
    match kernel::find_kernel(None) {
        Ok(path) => good("virtual labs", path.display().to_string()),
        Err(error) => wrong(
            "virtual labs",
            State::Limited,
            first_part(&error.to_string()).to_owned(),
            "build a kernel: `ethbus kernel build`",
        ),
    }
}

/// A sentence up to the remedy, which has a line of its own here.
fn first_part(text: &str) -> &str {
    text.split(": ").next().unwrap_or(text)
}

fn priority() -> Option<Finding> {
    Some(match has_capability(Capability::SysNice) {
        Ok(true) => good("priority", "the bus goes before other programs".to_owned()),
        Ok(false) | Err(_) => wrong(
            "priority",
            State::Limited,
            "the bus has the priority of any program, so deliveries are later on a busy machine".to_owned(),
            "bring labs up with sudo",
        ),
    })
}

fn fan_out() -> Finding {
    match Owner::own() {
        Ok(Owner::Root) => {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            let helped = if processors > 1 { "; above 64 stations several processors copy" } else { "" };
            good("fan-out", format!("the kernel may copy frames, which helps from 17 stations on{helped}"))
        }
        Ok(Owner::User { .. }) | Err(_) => wrong(
            "fan-out",
            State::Limited,
            "frames are copied one by one, which more than 16 busy stations feel".to_owned(),
            "bring large labs up with sudo",
        ),
    }
}

/// How late this machine wakes a thread that sleeps for a millisecond.
fn clock() -> Finding {
    let late = |_| {
        let begin = Instant::now();
        std::thread::sleep(SLEEP);
        begin.elapsed().saturating_sub(SLEEP)
    };
    let mut late: Vec<Duration> = (0..SLEEPS).map(late).collect();
    late.sort_unstable();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    punctuality(processors, late[SLEEPS / 2], late[SLEEPS - 1])
}

/// What comes of sleeps that ended so late, half of them and the worst.
fn punctuality(processors: usize, half: Duration, most: Duration) -> Finding {
    let found = format!("{processors} processors; sleeps end {half:.0?} late, {most:.0?} at worst");
    let remedy = if half >= LATE || processors == 1 {
        "use a machine with two processors or more that is not busy, or --time-scale 0.1"
    } else if most >= HELD_UP {
        "while the machine stands still for so long a medium does too: the line slip of ethbus stats tells it"
    } else {
        return good("time", found);
    };
    wrong("time", State::Limited, found, remedy)
}

/// Programs that are useful in stations.
fn programs() -> Option<Finding> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |tool: &str| std::env::split_paths(&path).any(|folder| folder.join(tool).is_file());
    let missing: Vec<_> = TOOLS.into_iter().filter(|(tool, _)| !is_there(tool)).collect();
    if missing.is_empty() {
        return Some(good("programs", TOOLS.map(|(tool, _)| tool).join(", ")));
    }
    let (tools, packages): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
    let remedy = format!("install them: {}", as_root(&format!("apt install {}", packages.join(" "))));
    Some(wrong("programs", State::Limited, format!("without {}", tools.join(", ")), &remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command is whole in one line, with nothing else in it.
    #[test]
    fn what_is_to_be_typed_can_be_pasted() {
        let command = "sudo apt install iproute2 iputils-ping iperf3 tcpdump and some more that makes the line long";
        let finding =
            wrong("programs", State::Limited, "without ping".to_owned(), &format!("install them: `{command}`"));
        let text = told(&[finding]);
        assert!(text.lines().any(|line| line.trim() == command), "{text}");
        assert!(text.lines().any(|line| line.trim() == "do: install them"), "{text}");
        let text = prescribed("allow them: `sysctl -w a=1` or bring labs up with sudo");
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(lines, ["do: allow them", "sysctl -w a=1", "or bring labs up with sudo"]);
        assert_eq!(prescribed("`chmod 700 /run/user/1`").trim(), "do: chmod 700 /run/user/1");
    }

    /// Root needs no sudo, which a small container may not have.
    #[test]
    fn root_is_not_told_to_use_sudo() {
        assert_eq!(as_root("modprobe tun"), if is_roots_shell() { "`modprobe tun`" } else { "`sudo modprobe tun`" });
    }

    #[test]
    fn a_machine_that_stood_still_is_not_called_good() {
        let [late, held_up] = [Duration::from_micros(60), Duration::from_millis(77)];
        assert_eq!(punctuality(2, late, late * 3).state, State::Good);
        let finding = punctuality(2, late, held_up);
        assert_eq!((finding.state, finding.remedy.unwrap().contains("slip")), (State::Limited, true));
        let finding = punctuality(1, late, late);
        assert_eq!((finding.state, finding.remedy.unwrap().contains("two processors")), (State::Limited, true));
    }
}
