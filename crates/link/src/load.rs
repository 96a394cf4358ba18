//! Load from outside: time that a hypervisor or other programs had the processors.
//!
//! The files are opened while that is allowed, and read later through the descriptor alone.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use nix::unistd::{SysconfVar, sysconf};

/// Room for the first line of `/proc/stat`: ten numbers.
const LINE: usize = 512;

/// Time that a hypervisor gave to other machines, since boot: `steal` of `/proc/stat`.
#[derive(Debug)]
pub struct Steal {
    file: File,
    /// The kernel counts in ticks, usually of 10 ms.
    tick_nanos: u64,
}

impl Steal {
    /// Opens `/proc/stat`.
    pub fn open() -> io::Result<Steal> {
        let ticks = sysconf(SysconfVar::CLK_TCK)?.and_then(|ticks| u64::try_from(ticks).ok()).unwrap_or(100).max(1);
        Ok(Steal { file: File::open("/proc/stat")?, tick_nanos: 1_000_000_000 / ticks })
    }

    /// Nanoseconds so far, all processors together; `None` if the kernel does not report it.
    ///
    /// A call takes about 5 µs for each processor of the machine, too long for a thread with deadlines.
    pub fn nanos(&self) -> Option<u64> {
        steal_ticks(&read(&self.file)?)?.checked_mul(self.tick_nanos)
    }
}

/// Time that the opening thread was ready to run while others ran: `/proc/thread-self/schedstat`.
#[derive(Debug)]
pub struct CpuWait {
    file: File,
}

impl CpuWait {
    /// Opens the calling thread's figures.
    pub fn open() -> io::Result<CpuWait> {
        Ok(CpuWait { file: File::open("/proc/thread-self/schedstat")? })
    }

    /// Nanoseconds so far; `None` if the kernel does not report it.
    pub fn nanos(&self) -> Option<u64> {
        run_delay(&read(&self.file)?)
    }
}

/// Keeps this machine's processors out of deep sleep while it lives: holds `/dev/cpu_dma_latency` at 0.
///
/// The processors then wake up at once, and use more power.
#[derive(Debug)]
pub struct Awake {
    _file: File,
}

impl Awake {
    /// Most users may not do this, and a kernel without power management has no such file.
    pub fn hold() -> io::Result<Awake> {
        let mut file = File::options().write(true).open("/dev/cpu_dma_latency")?;
        file.write_all(&0_i32.to_ne_bytes())?;
        Ok(Awake { _file: file })
    }
}

/// Whether the kernel gives huge pages on request.
pub fn huge_pages_on_request() -> bool {
    let choice = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    choice.contains("[madvise]") || choice.contains("[always]")
}

fn read(file: &File) -> Option<String> {
    let mut text = [0; LINE];
    let octets = file.read_at(&mut text, 0).ok()?;
    Some(String::from_utf8_lossy(&text[..octets]).into_owned())
}

/// `cpu  user nice system idle iowait irq softirq steal …`
fn steal_ticks(text: &str) -> Option<u64> {
    let mut words = text.lines().next()?.split_whitespace();
    words.next().filter(|&word| word == "cpu")?;
    words.nth(7)?.parse().ok()
}

/// `time on a processor, time waiting for one, times on one`
fn run_delay(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_the_eighth_number_of_the_line_of_all_processors() {
        let text = "cpu  1563479 26588 223750 664813 10280 0 2558 3603 0 0\ncpu0 770515 14043 105532 351661 3314 0 594 1762 0 0\n";
        assert_eq!(steal_ticks(text), Some(3603));
        for text in ["", "cpu 1 2 3 4 5 6 7\n", "intr 1 2 3 4 5 6 7 8 9\n", "cpu 1 2 3 4 5 6 7 x\n"] {
            assert_eq!(steal_ticks(text), None, "{text}");
        }
    }

    #[test]
    fn the_wait_is_the_second_number() {
        assert_eq!(run_delay("8 2563566 1\n"), Some(2_563_566));
        assert_eq!(run_delay(""), None);
    }

    #[test]
    fn figures_of_this_machine_never_go_back() {
        let (steal, wait) = (Steal::open().expect("/proc is mounted"), CpuWait::open().expect("/proc is mounted"));
        let first = (steal.nanos().expect("a number"), wait.nanos().expect("a number"));
        std::thread::yield_now();
        assert!(steal.nanos().expect("a number") >= first.0 && wait.nanos().expect("a number") >= first.1);
    }
}
