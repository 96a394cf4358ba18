//! A station's first program: a shell that sets the station up and starts its programs at their instants.

use sim::scenario::plan::{Plan, StationPlan};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

/// Where a station finds the folder that this program writes for it.
const INSIDE: &str = "/tmp/.ethbus";
/// Programs that the set-up needs.
pub const NEEDED: [&str; 5] = ["sh", "mount", "ip", "date", "sleep"];

/// Folders of programs, within a root.
const PROGRAMS: [&str; 6] = ["usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin"];

/// The file of a program of this name within `root`. A link is one inside the root, so it need not lead anywhere out here.
pub fn program(root: &Path, name: &str) -> Option<String> {
    let files = PROGRAMS.iter().map(|folder| format!("{folder}/{name}"));
    files.into_iter().find(|file| root.join(file).symlink_metadata().is_ok())
}

/// The file whose presence says that a station's programs have ended.
pub const DONE: &str = "done";
/// The file that lists the programs that have begun.
pub const BEGUN: &str = "begun";

/// The file of a command from outside; the station reads its number at the console.
pub fn command_file(number: usize) -> String {
    format!("command{number}")
}

/// The files of what such a command writes, and that of its exit code: their names after the command's own.
pub const OUTPUTS: [&str; 2] = [".out", ".err"];
/// See [`OUTPUTS`].
pub const CODE: &str = ".code";

/// What reads the numbers of commands at the console, and begins them.
fn listener() -> String {
    let [out, err] = OUTPUTS;
    let file = format!("{INSIDE}/{}", command_file(0).trim_end_matches('0'));
    format!(
        "(while read n; do (f={file}$n; sh $f > $f{out} 2> $f{err} < /dev/null; echo $? > $f{CODE}) & done) \
         < /dev/hvc0 &\n"
    )
}

/// The kernel's command for init: it mounts the station's folder, whose own shell program does the rest.
pub fn command(number: usize) -> String {
    format!(
        "mount -t tmpfs none /tmp && mkdir {INSIDE} && mount -t hostfs -o sync,/proc/self/cwd/station{number} none {INSIDE} \
         && exec /bin/sh {INSIDE}/init"
    )
}

/// Writes the station's folder.
///
/// # Errors
/// It cannot be written.
pub fn write(folder: &Path, plan: &Plan, station: &StationPlan) -> io::Result<()> {
    fs::create_dir(folder)?;
    fs::write(folder.join("init"), script(station))?;
    fs::write(folder.join("hosts"), hosts(plan))
}

fn hosts(plan: &Plan) -> String {
    let mut text = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
    for station in &plan.stations {
        for network in &station.addresses {
            writeln!(text, "{} {}", network.address, station.name).expect("a string takes any text");
        }
    }
    text
}

fn script(station: &StationPlan) -> String {
    let mut text = format!(
        "export PATH=/{} HOME=/tmp LANG=C
mount -t proc none /proc
mount -t sysfs none /sys
mount -t tmpfs none /run
mount --bind {INSIDE}/hosts /etc/hosts
echo {} > /proc/sys/kernel/hostname
ip link set lo up
",
        PROGRAMS.join(":/"),
        station.name
    );
    for network in &station.addresses {
        let no_test = if network.address.is_ipv6() { " nodad" } else { "" };
        writeln!(text, "ip addr add {}/{} dev eth0{no_test}", network.address, network.prefix).expect("a string");
    }
    text += "ip link set eth0 up\ncd /tmp\n";
    text += &listener();
    // The lab's first instant is a round time of day, so the clock tells how long there is to wait.
    text += "until_then() {
    rest=$(($1 - $(date +%s%N)))
    [ $rest -le 0 ] || sleep $(printf %d.%09d $((rest / 1000000000)) $((rest % 1000000000)))
}
";
    for (number, program) in station.kernel.programs.iter().enumerate() {
        let at = u128::from(kernel::EPOCH) + program.at.as_nanos();
        let command = quoted(&program.command);
        let end = if program.is_service { String::new() } else { format!("; echo $? > {INSIDE}/{number}.exit") };
        writeln!(text, "(until_then {at}; echo {command} >> {INSIDE}/{BEGUN}; sh -c {command}{end}) &")
            .expect("a string");
        if !program.is_service {
            text += "waits=\"$waits $!\"\n";
        }
    }
    text += &format!("[ -z \"$waits\" ] || {{ wait $waits; echo > {INSIDE}/{DONE}; }}\nexec sleep 2147483647\n");
    text
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_one_word_of_the_shell() {
        assert_eq!(quoted("ping -c 1 st2; echo 'it''s'"), r"'ping -c 1 st2; echo '\''it'\'''\''s'\'''");
    }
}
