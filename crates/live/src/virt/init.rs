//! A station's first program: a shell that sets the station up and starts its programs at their instants.

use super::image::within;
use kernel::files;
use sim::scenario::plan::{Plan, StationPlan};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

/// Where a station finds the folder that this program writes for it.
const INSIDE: &str = "/tmp/.ethbus";
/// Programs that the set-up needs.
pub const NEEDED: [&str; 6] = ["sh", "mount", "mkdir", "ip", "date", "sleep"];

/// Folders of programs, within a root.
const PROGRAMS: [&str; 6] = ["usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin"];

/// The file of a program of this name within `root`. A link counts by itself: its target is in the root, and may be missing outside.
pub fn program(root: &Path, name: &str) -> Option<String> {
    let has = |folder: &str| within(root, Path::new(folder)).is_ok_and(|it| it.join(name).symlink_metadata().is_ok());
    PROGRAMS.into_iter().find(|folder| has(folder)).map(|folder| format!("{folder}/{name}"))
}

/// The folder in which a station's kernel works, from that of the run.
pub fn work(number: usize) -> String {
    format!("work{number}")
}

/// The station's folder, which it may write to; from that of the run.
pub fn own(number: usize) -> String {
    format!("{}/station{number}", work(number))
}

/// What leads to the files that the station reads, in its folder; the station has them in `/tmp/in`.
pub const FILES: &str = "files";
/// What leads to the folder of the files that it writes to `/tmp/out`.
pub const OUT: &str = "out";

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

/// Octets of a file with an exit code, at most.
const MOST_CODE: u64 = 64;

/// The exit code that a station has written to a file; none if there is none yet, or something else.
pub fn code_in(path: &Path) -> Option<u8> {
    let octets = files::read(path, 0, MOST_CODE).ok()?;
    str::from_utf8(&octets).ok()?.trim().parse().ok()
}

/// The file of some standard input of a command.
pub fn piece_file(piece: usize) -> String {
    format!("piece{piece}")
}

/// What the listener reads when a command begins: its number, and whether it has an input.
pub fn begin_line(number: usize, has_input: bool) -> String {
    format!("{number}{}\n", if has_input { " open" } else { "" })
}

/// What it reads when a piece of a command's input is there.
pub fn input_line(number: usize, piece: usize) -> String {
    format!("{number} {piece}\n")
}

/// What it reads at the end of a command's input.
pub fn end_of_input_line(number: usize) -> String {
    format!("{number} end\n")
}

/// What reads such lines at the console, and begins commands.
///
/// A command with an input has a FIFO, which takes the numbers of pieces to a feeder. Descriptor 3 is both ends of it, so no
/// open waits for the other end. The end of the command ends its feeder.
fn listener() -> String {
    let [out, err] = OUTPUTS;
    let number = |file: String| format!("{INSIDE}/{}", file.trim_end_matches('0'));
    let (file, piece) = (number(command_file(0)), number(piece_file(0)));
    format!(
        "feed() {{
    while read piece; do
        [ $piece = end ] && break
        cat {piece}$piece
    done
}}
begin() {{
    sh $file > $file{out} 2> $file{err} 3>&-
    echo $? > $file{CODE}
}}
(while read number what; do
    file={file}$number fifo=/tmp/.input$number
    case $what in
    '') begin < /dev/null & ;;
    open)
        mkfifo $fifo
        exec 3<> $fifo
        (feed <&3 3>&- | {{ begin; echo end >&3; rm $fifo; }}) &
        exec 3>&- ;;
    *) [ ! -p $fifo ] || echo $what 1<> $fifo ;;
    esac
done) < /dev/hvc0 &
"
    )
}

/// The kernel's command for init: it mounts the station's folder, whose own shell program does the rest.
pub fn command(number: usize) -> String {
    format!(
        "mount -t tmpfs none /tmp && mkdir {INSIDE} && mount -t hostfs -o sync,/proc/self/cwd/station{number} none {INSIDE} \
         && exec /bin/sh {INSIDE}/init"
    )
}

/// Writes the station's folder. Its kernel is switched on at the instant `begins`, in nanoseconds.
///
/// # Errors
/// It cannot be written.
pub fn write(folder: &Path, plan: &Plan, number: usize, begins: u64) -> io::Result<()> {
    fs::create_dir(folder)?;
    fs::write(folder.join("init"), script(&plan.stations[number], number, begins))?;
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

fn script(station: &StationPlan, number: usize, begins: u64) -> String {
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
    if station.kernel.files.is_some() {
        text += &mounted("in", "ro", number, FILES);
    }
    text += &mounted("out", "sync", number, OUT);
    text += &listener();
    // The lab's first instant is a round time of day, so the clock tells how long there is to wait. The `date` of some images
    // has no nanoseconds; the time since the kernel's begin has hundredths of a second.
    text += &"until_then() {
    now=$(date +%s%N)
    if [ ${#now} -lt 19 ]; then
        read up rest < /proc/uptime
        part=${up#*.}
        now=$((BEGIN + ${up%.*} * 1000000000 + ${part#0} * 10000000))
    fi
    rest=$(($1 - now))
    [ $rest -le 0 ] || sleep $(printf %d.%09d $((rest / 1000000000)) $((rest % 1000000000)))
}
"
    .replace("BEGIN", &(kernel::EPOCH + begins).to_string());
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

/// Mounts what `link` of the station's folder leads to.
fn mounted(place: &str, option: &str, number: usize, link: &str) -> String {
    format!("mkdir {place}\nmount -t hostfs -o {option},/proc/self/cwd/station{number}/{link}/. none {place}\n")
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
