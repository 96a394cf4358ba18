//! Signals that end a command.

use super::{CommandError, INTERRUPTED};
use crossbeam_channel::{Receiver, bounded};
use link::signals::{Signal, Signals};
use say::{messages, say};
use sim::files::output::WAITING;
use std::time::Duration;

/// Interrupts: from now on they arrive here and do not kill the process. Call it before there are threads.
pub fn interrupts() -> Result<Receiver<Signal>, CommandError> {
    let system = |source| CommandError::System { what: "catch signals", source };
    let watched = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];
    let mut signals = Signals::block_and_open(&watched).map_err(system)?;
    let mut waiter = link::wait::Waiter::new().map_err(system)?;
    waiter.add(&signals, 0).map_err(system)?;
    let (sender, receiver) = bounded(watched.len());
    let forward = move || {
        // Capabilities are a thread's own, and this one needs none; it works as well if it cannot give them up.
        let _ = link::confine::keep_capabilities(&[]);
        while waiter.wait(None).is_ok() {
            while let Ok(Some(signal)) = signals.read() {
                // The command may wait for a pipe's reader, and hears of the signal after that.
                WAITING.end();
                if sender.send(signal).is_err() {
                    return;
                }
            }
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(forward).map_err(system)?;
    Ok(receiver)
}

/// How long a run may take to end its files after an interrupt, on a machine that has much else to do.
const ENDING: Duration = Duration::from_secs(15);

/// Signals this soon after the first are the same wish: `timeout` sends one to the process, and one to its group.
const ECHO: Duration = Duration::from_millis(100);

/// The same for a run that holds nothing but files. If a pipe's reader has stopped to read, the run cannot end by itself:
/// then the process ends.
pub fn interrupts_of_a_run() -> Result<Receiver<Signal>, CommandError> {
    let (interrupts, (sender, receiver)) = (interrupts()?, bounded(1));
    let end = move || {
        let Ok(signal) = interrupts.recv() else { return };
        // The run looks for it between two instants.
        let _ = sender.send(signal);
        std::thread::sleep(ECHO);
        while interrupts.try_recv().is_ok() {}
        let _ = interrupts.recv_timeout(ENDING);
        say("ethbus: interrupted before its files were whole\n");
        messages::finish(Duration::from_secs(1));
        std::process::exit(INTERRUPTED.into());
    };
    let system = |source| CommandError::System { what: "start a thread", source };
    std::thread::Builder::new().name("end".to_owned()).spawn(end).map_err(system)?;
    Ok(receiver)
}
