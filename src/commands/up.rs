//! `ethbus up`: brings a lab up, keeps it up until interrupted or taken down, and leaves nothing behind.

use super::{CommandError, Outcome, draw_seed, interrupts, require_root};
use crate::args::UpArgs;
use crate::bus::protocol::{Setup, Told};
use crate::control::{self, Control};
use crate::lab::record::Record;
use crate::lab::{Protocols, Segment};
use crate::plan::{Overrides, Plan};
use crate::scenario::Scenario;
use crate::supervisor::{DataPlane, say_port};
use crate::view::{making, plain_table, table};
use crossbeam_channel::{Receiver, select};
use link::signals::Signal;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

/// Brings a lab up.
///
/// # Errors
/// What the user may not do, a scenario that is wrong, a lab name in use, or what the kernel refuses. Whatever
/// had been made is removed again.
pub fn up(args: &UpArgs) -> Outcome {
    let plan = plan(args)?;
    require_root("up")?;
    let interrupts = interrupts()?;
    let mut record = Record::take(&plan.name)?;
    remove_if_panicking(&plan.name);
    if record.claims() > 0 {
        eprintln!("ethbus: removing what a killed lab `{}` had left behind", plan.name);
        record.clear()?;
    }
    let kept = keep(&plan, &mut record, &interrupts);
    let removed = record.remove_everything();
    let stream = kept?;
    removed?;
    // Whoever asked for the end is told that it is done: by the stream's end.
    drop(stream);
    Ok(ExitCode::SUCCESS)
}

fn plan(args: &UpArgs) -> Result<Plan, CommandError> {
    let overrides = Overrides { name: args.name.clone(), stations: args.stations, rate: args.rate, seed: args.seed };
    let seed = draw_seed()?;
    Ok(match &args.scenario {
        Some(path) => {
            let (scenario, source) = Scenario::read(path)?;
            Plan::new(&scenario, Some(&source), &overrides, seed)?
        }
        None => Plan::new(&Scenario::default(), None, &overrides, seed)?,
    })
}

/// A panic ends the process at once, so what the lab made is removed from the hook.
fn remove_if_panicking(name: &str) {
    let (name, say) = (name.to_owned(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| {
        say(panic);
        if let Err(error) = Record::remove_own(&name) {
            eprintln!("ethbus: {error}; `ethbus down --name {name}` will try again");
        }
    }));
}

/// Makes the lab and serves it until its end; gives the stream of who asked for that, if somebody did.
fn keep(plan: &Plan, record: &mut Record, interrupts: &Receiver<Signal>) -> Result<Option<UnixStream>, CommandError> {
    let segment = Segment::make(plan, Protocols::Ip, Some(record), making(plan.stations.len()))?;
    let setup = Setup::new(&plan.name, &plan.medium, segment.ports.clone());
    let mut plane = DataPlane::start(&setup, &segment)?;
    let system = |source| CommandError::System { what: "listen for requests", source };
    let requests = control::listen(&plan.name).map_err(system)?;
    record.up(&segment.ports, plan.medium.rate.get())?;
    // The sockets live in the data plane now, and the namespaces have names.
    drop(segment);
    eprint!("{}", greeting(plan));
    let told = plane.told().clone();
    let stream = loop {
        select! {
            recv(interrupts) -> _ => break None,
            recv(told) -> told => match told {
                Ok(Told::Port { station, state }) => say_port(&station, state),
                Ok(_) => {}
                Err(_) => return Err(plane.died().into()),
            },
            recv(requests) -> request => match request {
                Ok((Control::Stats, stream)) => answer(&mut plane, stream)?,
                Ok((Control::Panic, _)) if cfg!(debug_assertions) => panic!("asked to panic"),
                Ok((Control::Panic, _)) => {}
                Ok((Control::Down, stream)) => break Some(stream),
                Err(_) => break None,
            },
        }
    };
    let results = plane.stop()?;
    eprint!("\n{}", table(&results));
    Ok(stream)
}

fn answer(plane: &mut DataPlane, mut stream: UnixStream) -> Result<(), CommandError> {
    let results = plane.results()?;
    let json = serde_json::to_string(&results).expect("numbers and names");
    // Whoever asked and went away does not matter to the lab.
    let _ = stream.write_all(json.as_bytes());
    Ok(())
}

fn greeting(plan: &Plan) -> String {
    let rows = plan.stations.iter().map(|station| {
        let address =
            |index: usize| station.addresses.get(index).map_or(String::new(), |network| network.address.to_string());
        [station.name.clone(), station.mac.to_string(), address(0), address(1)]
    });
    let name = if plan.name == crate::plan::DEFAULT_NAME { String::new() } else { format!("--name {} ", plan.name) };
    let first = &plan.stations[0].name;
    let other = plan.stations.last().unwrap_or(&plan.stations[0]);
    let address = other.addresses.first().map_or(String::new(), |network| network.address.to_string());
    format!(
        "{}\nethbus: lab `{}` is up at {}, seed {}; interrupt (Ctrl-C) or `ethbus down` ends it. In another terminal:\n  \
         sudo ethbus exec {name}{first} -- ping {address}\n  sudo ethbus stats {name}\n",
        plain_table(["station", "MAC", "IPv4", "IPv6"], rows),
        plan.name,
        plan.medium.rate,
        plan.medium.seed
    )
}
