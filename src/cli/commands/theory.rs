//! `ethbus theory`: what a formula says.

use super::validate::validate;
use super::{Outcome, print_result};
use crate::cli::args::theory::{
    self as args, BianchiArgs, ChannelArgs, CsmaArgs, PlcaTheoryArgs, Theory, TheoryArgs, TheoryCommand, Users,
};
use std::process::ExitCode;
use study::theory::aloha::{self, Time};
use study::theory::bianchi::{self, Dcf, Phy};
use study::theory::csma::{Csma, Persistence};
use study::theory::lam::{Channel, Population};
use study::theory::{
    Answer, Refusal, backoff, ceiling, contention, kleinrock_lam, plca, resolution, tdma, two_stations,
};

/// Prints what a theory says.
///
/// # Errors
/// Parameters for which it says nothing; output that cannot be written.
pub fn theory(args: &TheoryArgs) -> Outcome {
    let answer = match &args.what {
        TheoryCommand::Check(check) => return validate(check, args.written.format),
        TheoryCommand::Says(theory) => answer(theory)?,
    };
    print_result(args.written.format, &answer, Answer::table)?;
    Ok(ExitCode::SUCCESS)
}

fn answer(theory: &Theory) -> Result<Answer, Refusal> {
    match theory {
        Theory::Aloha(args) => aloha::answer(Time::Pure, args.attempts.load, finite(args.all.stations)),
        Theory::SlottedAloha(args) => aloha::answer(Time::Slotted, args.attempts.load, finite(args.all.stations)),
        Theory::KleinrockLam(args) => {
            kleinrock_lam::answer(args.again.retransmit, args.attempts.load, args.known.ack_delay)
        }
        Theory::Lam(args) => Ok(channel(&args.channel, args.again.retransmit)?.answer()),
        Theory::LamControl(args) => channel(&args.channel, args.again.retransmit)?.control_answer(&args.control),
        Theory::Csma(args) => csma(args),
        Theory::Tdma(args) => tdma::answer(args.all.stations, args.input.load),
        Theory::MetcalfeBoggs(args) => contention::metcalfe_boggs(args.all.stations, args.packet, args.slot),
        Theory::Capture(args) => contention::capture(args.after.collisions),
        Theory::TwoStations(args) => two_stations::answer(args.size.frame_size),
        Theory::Resolution(args) => resolution::answer(args.all.stations),
        Theory::Bianchi(args) => bianchi(args),
        Theory::Plca(args) => plca(args),
        Theory::Backoff(args) => backoff::answer(&args.policy, args.after.collisions),
        Theory::Ceiling(args) => ceiling::answer(&args.stations, args.input.load),
    }
}

fn finite(users: Users) -> Option<u32> {
    match users {
        Users::Finite(number) => Some(number),
        Users::Infinite => None,
    }
}

fn channel(args: &ChannelArgs, retransmit: u32) -> Result<Channel, Refusal> {
    let population = finite(args.all.stations).map_or(Population::Infinite, Population::Finite);
    Channel::new(population, args.input.load, retransmit, args.known.ack_delay)
}

fn plca(args: &PlcaTheoryArgs) -> Result<Answer, Refusal> {
    let (stations, size) = (args.all.stations, args.size.frame_size);
    plca::answer(stations, size, args.burst_count, args.to_timer, args.attempts.load)
}

fn csma(args: &CsmaArgs) -> Result<Answer, Refusal> {
    let persistence = match args.persistence {
        args::Persistence::Non => Persistence::Non,
        args::Persistence::Chance(1.0) => Persistence::One,
        args::Persistence::Chance(chance) => Persistence::Probability(chance),
    };
    Csma::new(persistence, args.slotted, args.distance)?.answer(args.attempts.load)
}

fn bianchi(args: &BianchiArgs) -> Result<Answer, Refusal> {
    let phy: Phy = args.phy.parse()?;
    let (window, stages) = phy.window_and_stages();
    let window = args.window.unwrap_or(window);
    let dcf = Dcf { stations: args.all.stations, window, stages: args.stages.unwrap_or(stages) };
    bianchi::answer(dcf, phy, args.payload, args.rts)
}
