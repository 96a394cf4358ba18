//! The system calls of a running bus, and their callers.

use std::collections::BTreeMap;

use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{Eq, MaskedEq};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule, TargetArch, apply_filter_all_threads,
};

type AnyError = Box<dyn std::error::Error + Send + Sync>;
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Calls that are allowed with any arguments.
const ALLOWED: &[libc::c_long] = &[
    // Ports, observers and traces.
    libc::SYS_sendmmsg,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_getsockopt,
    libc::SYS_read,
    // The load of the machine (`load`).
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_ftruncate,
    // The last line of a trace, where the disk has no more room.
    libc::SYS_pwrite64,
    libc::SYS_close,
    // Time, sleep, and waiting for each other. On some machines reading the clock is a system call.
    libc::SYS_epoll_pwait2,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_timerfd_settime,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_restart_syscall,
    // The allocator, and the seeds of hash tables.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_sched_getaffinity,
    libc::SYS_getrandom,
    // The end: of a thread, of the process, by a panic.
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_getpid,
    libc::SYS_gettid,
];

/// Calls that are refused harmlessly.
///
/// glibc opens `/proc/sys/vm/overcommit_memory` when it first returns memory of a thread, and
/// `/sys/devices/system/cpu/online` in older versions; a program must not end for that.
#[cfg(target_arch = "x86_64")]
const REFUSED: &[libc::c_long] = &[libc::SYS_openat, libc::SYS_open];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED: &[libc::c_long] = &[libc::SYS_openat];

/// Puts the filter in place, for every thread.
pub fn install() -> Result<(), AnyError> {
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    // The kernel evaluates both for every call, and the stricter answer counts. The one that kills comes last, since it
    // forbids installing another.
    let mut known = allowed()?;
    let refused: Rules = REFUSED.iter().map(|&call| (call, vec![])).collect();
    known.extend(refused.clone());
    let refuse = SeccompAction::Errno(libc::EACCES as u32);
    let refusing = SeccompFilter::new(refused, SeccompAction::Allow, refuse, arch)?;
    let killing = SeccompFilter::new(known, SeccompAction::KillProcess, SeccompAction::Allow, arch)?;
    for filter in [refusing, killing] {
        apply_filter_all_threads(&BpfProgram::try_from(filter)?)?;
    }
    Ok(())
}

fn allowed() -> Result<Rules, AnyError> {
    let mut rules: Rules = ALLOWED.iter().map(|&call| (call, vec![])).collect();
    let when = |condition: SeccompCondition| SeccompRule::new(vec![condition]);
    // Memory that cannot be executed.
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        let not_executable = SeccompCondition::new(2, Dword, MaskedEq(libc::PROT_EXEC as u64), 0)?;
        rules.insert(call, vec![when(not_executable)?]);
    }
    // To a connected peer only.
    rules.insert(libc::SYS_sendto, vec![when(SeccompCondition::new(4, Qword, Eq, 0)?)?]);
    // The standard library asks whether a descriptor that it closes is open, in builds with assertions.
    let questions = [libc::F_GETFD, libc::F_GETFL];
    let question = |command: libc::c_int| when(SeccompCondition::new(1, Dword, Eq, command as u64)?);
    rules.insert(libc::SYS_fcntl, questions.into_iter().map(question).collect::<Result<_, _>>()?);
    // The coordinator notices a raised priority and lowers it by itself; it cannot raise its own.
    let itself = || SeccompCondition::new(0, Dword, Eq, 0);
    let ordinary = (libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK) as u64;
    let back = vec![itself()?, SeccompCondition::new(1, Dword, Eq, ordinary)?];
    rules.insert(libc::SYS_sched_getscheduler, vec![when(itself()?)?]);
    rules.insert(libc::SYS_sched_setscheduler, vec![SeccompRule::new(back)?]);
    // A panic signals its own process; signals to other processes are forbidden.
    let own = SeccompCondition::new(0, Dword, Eq, u64::from(std::process::id()))?;
    rules.insert(libc::SYS_tgkill, vec![when(own)?]);
    Ok(rules)
}
