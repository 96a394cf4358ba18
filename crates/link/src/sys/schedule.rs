//! A thread's place in the scheduler; 0 is the calling thread.

use std::io;

/// Puts a thread under SCHED_FIFO with `priority`; threads that it starts are not under it.
pub fn set_fifo(thread: libc::pid_t, priority: i32) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: priority };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: a thread's number is no pointer; parameters outlive the call.
    super::checked(unsafe { libc::sched_setscheduler(thread, policy, &raw const parameters) })?;
    Ok(())
}

/// Whether the calling thread is under SCHED_FIFO.
pub fn is_fifo() -> bool {
    // SAFETY: no pointers; 0 names the calling thread.
    let policy = unsafe { libc::sched_getscheduler(0) };
    policy & !libc::SCHED_RESET_ON_FORK == libc::SCHED_FIFO
}

/// Gives threads that the calling thread starts an ordinary nice value, however low its own is.
pub fn reset_on_fork() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 0 };
    let policy = libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK;
    // SAFETY: 0 names the calling thread; parameters outlive the call.
    super::checked(unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) })?;
    Ok(())
}

/// Sets the calling thread's nice value.
pub fn set_nice(nice: i32) -> io::Result<()> {
    // SAFETY: no pointers; on Linux 0 names the calling thread.
    super::checked(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) })?;
    Ok(())
}
