//! Findings on a segment with PLCA in sentences, as docs/symptoms.md has them: the cause, what the trace shows of it, what to do.
//!
//! One file above 500 lines because each cause has its sentences, and all are read beside each other.

use super::super::plca::causes::{Cause, Finding, FreeIds};
use super::super::plca::dynamic::Found;
use super::super::plca::segment::{Away, Carried, Cold, Reset, Segment, Spell};
use super::super::plca::setup::{Counts, Meetings};
use super::super::plca::{Diagnosis, Told};
use crate::words::lines::{list, wrap};
use crate::words::sentences::TIED;
use crate::words::units::group;
use medium::{BitInstant, PlcaSettings, StationId};

/// A segment in words: in one paragraph, and each finding.
pub fn tell(diagnosis: &Diagnosis) -> String {
    let mut text = wrap("", 0, &diagnosis.summary);
    if diagnosis.findings.is_empty() {
        text += "Nothing is wrong with its PLCA.\n";
    }
    for finding in &diagnosis.findings {
        let number = if finding.number == 0 { String::new() } else { format!("{}. ", finding.number) };
        text.push('\n');
        text += &wrap(&number, number.len(), &finding.cause);
        text += &wrap("   Seen:", 9, &finding.seen);
        text += &wrap("   Do:", 9, &finding.mend);
    }
    text.replace(TIED, " ")
}

/// A finding with its sentences.
pub fn told(finding: &Finding, segment: &Segment) -> Told {
    let [cause, seen, mend] = sentences(finding, segment);
    let (from_bt, to_bt) = finding.window;
    let until_bt = finding.until.map(BitInstant::get);
    Told { number: finding.cause.number(), since_bt: finding.since.get(), until_bt, cause, seen, mend, from_bt, to_bt }
}

/// Its cause with the interval in which it held, what the trace shows of that, and what to do.
pub fn sentences(finding: &Finding, segment: &Segment) -> [String; 3] {
    let [cause, seen, mend] = at_any_time(&finding.cause, segment);
    let has_instants = matches!(
        finding.cause,
        Cause::NoCoordinator { .. }
            | Cause::Reset { .. }
            | Cause::ColdStart { .. }
            | Cause::Dynamic { .. }
            | Cause::Unreached { .. }
            | Cause::Unexplained { .. }
    );
    let since = group(finding.since.get());
    match finding.until {
        _ if has_instants => [cause, seen, mend],
        Some(until) => {
            let until = group(until.get());
            let what =
                if matches!(finding.cause, Cause::Noise { .. }) { "it ended" } else { "other settings ended that" };
            let over = format!("Nothing: {what} at t = {until}.");
            [format!("From t = {since} to t = {until}: {cause}"), seen, over]
        }
        None if finding.since > BitInstant::ZERO => [format!("Since t = {since}: {cause}"), seen, mend],
        None => [cause, seen, mend],
    }
}

fn at_any_time(cause: &Cause, segment: &Segment) -> [String; 3] {
    match cause {
        Cause::NoCoordinator { spell } => without_coordinator(segment, spell),
        Cause::TwoCoordinators { .. } | Cause::SameId { .. } => ids(segment, cause),
        Cause::AboveTheCount { .. } | Cause::NoId { .. } | Cause::CountTooHigh { .. } | Cause::Off { .. } => {
            settings(segment, cause)
        }
        Cause::OtherTimer { .. } | Cause::OtherClock { .. } => counting(segment, cause),
        Cause::NoDetection { nodes, lost } => no_detection(segment, nodes, *lost),
        Cause::Heedless { .. } | Cause::SeveralIds { .. } | Cause::SlowHost { .. } | Cause::SkipsTurns { .. } => {
            node(segment, cause)
        }
        Cause::PhyDelay { coordinator } => phy_delay(segment, *coordinator),
        Cause::LongCable { longest, turn, met } => [
            format!(
                "The cable is too long: a signal takes {} BT from end to end, there and back {} BT, and a turn is {turn} BT.",
                group(*longest),
                group(2 * longest)
            ),
            format!(
                "Nodes far from the coordinator hear a BEACON late and begin their turns late, into those of others: frames \
                 of nodes with PLCA met on the line {}.",
                times(*met)
            ),
            "10BASE-T1S is for 25 m: shorten the segment, or give all nodes a larger to-tmr.".to_owned(),
        ],
        Cause::Reset { reset: own } => reset(segment, own),
        Cause::ColdStart { cold } => cold_start(segment, cold),
        Cause::Noise { noise } => super::noise::sentences(segment, noise),
        Cause::Dynamic { nodes, found, met } => dynamic(segment, nodes, found, *met),
        Cause::Unreached { .. } | Cause::Unexplained { .. } => without_a_number(segment, cause),
    }
}

/// Nodes that find their ids by D-PLCA.
fn dynamic(segment: &Segment, nodes: &[StationId], found: &Found, met: u64) -> [String; 3] {
    let led =
        |(at, station): &(BitInstant, StationId)| format!("{} from t = {}", segment.name(*station), group(at.get()));
    const MOST: usize = 6;
    let coordinators: Vec<String> = found.coordinators.iter().take(MOST).map(led).collect();
    let rest = found.coordinators.len().saturating_sub(MOST);
    let more = if rest == 0 { String::new() } else { format!(", and {rest} more after that") };
    let coordinator = match coordinators.as_slice() {
        [] => "No node of them became the coordinator.".to_owned(),
        some => format!("The coordinator was {}{more}.", list(some)),
    };
    let turns = match found.last {
        None => " No node took a turn.".to_owned(),
        Some(last) => format!(" Turns were taken {}, the last at t = {}.", times(found.turns), group(last.get())),
    };
    [
        format!("{} find their ids by D-PLCA (P802.3da D3.0, 148.4.7).", names(segment, nodes)),
        format!("{coordinator}{turns} Their frames met on the line {}.", times(met)),
        "A turn that is not used in aging-cycles + 1 cycles is free again, and two nodes may take it: raise aging-cycles \
         for nodes that send seldom, or give them a `node-id`."
            .to_owned(),
    ]
}

/// How often.
pub fn times(count: u64) -> String {
    match count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        count => format!("{} times", group(count)),
    }
}

/// Names in a row.
fn names(segment: &Segment, stations: &[StationId]) -> String {
    list(&stations.iter().map(|&station| segment.name(station).to_owned()).collect::<Vec<_>>())
}

/// Stations that a node met, as `st2 (3) and st4 (1)`.
fn met(segment: &Segment, met: &Meetings) -> String {
    let named = met.others.iter().map(|&(other, count)| format!("{} ({})", segment.name(other), group(count)));
    match (met.others.len(), met.first) {
        (0, None) => "It has met no other node on the line yet.".to_owned(),
        (0, Some(_)) => "On the line its frames met BEACONs and COMMITs.".to_owned(),
        _ => format!("On the line its frames met those of {}.", list(&named.collect::<Vec<_>>())),
    }
}

/// Frames that took their attempts along from CSMA/CD; nothing if there were none.
fn carried(segment: &Segment, carried: &Carried) -> String {
    let Some((frame, collisions, after, is_discarded)) = carried.last else { return String::new() };
    let (name, limit) = (segment.name(frame.station), segment.config.parameters.backoff_limit);
    let fate = if is_discarded { "discarded" } else { "sent" };
    format!(
        " Frames that had collided kept their attempts, and their backoff, when BEACONs came ({}): the last, {name}#{}, \
         which had met others {}, was {fate} {} BT after that. Each logical collision counts as one more attempt, and \
         after {limit} a MAC draws up to {} slots of {} BT.",
        group(carried.frames),
        frame.serial,
        times(collisions.into()),
        group(after.get()),
        group(1 << limit.min(32)),
        group(segment.config.parameters.slot_time.get())
    )
}

fn cold_start(segment: &Segment, cold: &Cold) -> [String; 3] {
    let until = cold.back.map_or(String::new(), |back| format!(", up to t = {}", group(back.get())));
    [
        format!("The bus began without BEACONs{until}: nodes sent with plain CSMA/CD."),
        format!(
            "Frames of {} met on the line {}.{}",
            names(segment, &cold.met.iter().copied().collect::<Vec<_>>()),
            times(cold.collisions),
            carried(segment, &cold.carried)
        ),
        "Let hosts send when plca_status is OK, or flush what they have queued by then: a bound holds from there on."
            .to_owned(),
    ]
}

fn without_coordinator(segment: &Segment, spell: &Spell) -> [String; 3] {
    let since = group(spell.from.get());
    let who = spell.who.map(|(who, _)| segment.name(who)).unwrap_or_default();
    let cause = match spell.who {
        None => "No node has the id 0, so no node sends BEACONs: the bus is one of plain CSMA/CD.".to_owned(),
        Some((_, Away::Unplugged)) => {
            format!("The coordinator is lost: {who}, node 0, left the medium at t = {since}.")
        }
        Some((_, Away::Disabled)) => {
            format!("The coordinator is lost: PLCA was switched off at {who}, node 0, at t = {since}.")
        }
        Some((_, Away::Renumbered(id))) => {
            format!("The coordinator is lost: {who} was given the id {id} at t = {since}, and no node has the id 0.")
        }
    };
    let mend = match spell.who {
        None => "Give one node the id 0, and the number of nodes as its node count.".to_owned(),
        Some(_) => format!("Look after supply, cable and driver of {who}: no follower takes its place."),
    };
    [cause, after_the_loss(segment, spell), mend]
}

/// That there was no collision, as far as nodes can tell.
fn none_met(segment: &Segment) -> &'static str {
    match segment.plca.nodes.iter().all(|node| node.collision_detection) {
        true => "no frames met on the line",
        false => "no MAC learned of frames that met on the line",
    }
}

fn after_the_loss(segment: &Segment, spell: &Spell) -> String {
    let fell = match spell.fell {
        None => "plca_status has fallen nowhere yet: frames wait.".to_owned(),
        Some((first, last)) => {
            let (first, last) = (first.since(spell.from).get(), last.since(spell.from).get());
            let after = if first == last { group(first) } else { format!("{} to {}", group(first), group(last)) };
            format!(
                "Without BEACONs the others counted turns up to 255, and frames waited for theirs. Then plca_status_timer \
                 ({} BT) began; {after} BT after the loss plca_status fell at {} nodes, which went on with plain CSMA/CD.",
                group(segment.plca.status.get()),
                spell.nodes_fell
            )
        }
    };
    let collided = match spell.collisions {
        0 => format!(" Meanwhile {}.", none_met(segment)),
        count => format!(" Frames met on the line {}, as they do without PLCA.", times(count)),
    };
    let back = match (spell.to, spell.back) {
        (Some(to), Some(back)) => format!(
            " A coordinator was there again at t = {}, and {} BT later plca_status was OK everywhere.",
            group(to.get()),
            group(back.since(to).get())
        ),
        (Some(to), None) => format!(" A coordinator was there again at t = {}.", group(to.get())),
        (None, _) => " No coordinator came back.".to_owned(),
    };
    fell + &collided + &back + &carried(segment, &spell.carried)
}

/// Ids that more than one node has.
fn ids(segment: &Segment, cause: &Cause) -> [String; 3] {
    match cause {
        Cause::TwoCoordinators { coordinators, starved, offered, free } => {
            let all = if coordinators.len() == 2 { "both" } else { "all" };
            let late = if starved.is_empty() { "seldom" } else { "never" };
            let mut seen =
                format!("A BEACON starts every follower's count anew, so turns that come late are {late} reached");
            seen += &match starved.as_slice() {
                [] => ".".to_owned(),
                starved => format!(
                    ": {} had no turn, though {} frames were offered there.",
                    names(segment, starved),
                    group(*offered)
                ),
            };
            [
                format!(
                    "Two coordinators: {} {all} send BEACONs, since each has the id 0.",
                    names(segment, coordinators)
                ),
                seen,
                format!(
                    "Give all but one an id of their own: {}. Chips count this in UNEXPB.",
                    set_ids(segment, free, "")
                ),
            ]
        }
        Cause::SameId { id, nodes, among, elsewhere, free } => [
            format!("{} have the same id, {id}: they send in the same turn.", names(segment, nodes)),
            match (*among, *elsewhere) {
                (0, _) => "They have not had frames for the same turn yet.".to_owned(),
                (among, 0) => format!("Their frames met on the line {}, and those of no other node did.", times(among)),
                (among, others) => {
                    format!("Their frames met on the line {}, those of others {}.", times(among), times(others))
                }
            },
            format!("{}. Chips count this in RXINTO, at just these nodes.", set_ids(segment, free, "")),
        ],
        _ => Default::default(),
    }
}

/// The commands that give each node its proposed id, and the coordinator room for it.
fn set_ids(segment: &Segment, free: &FreeIds, enable: &str) -> String {
    let id = |(node, id): &(StationId, u8)| format!("`ethbus plca set {} {enable}node-id {id}`", segment.name(*node));
    let count = |(first, count): (StationId, u8)| format!("`ethbus plca set {} node-cnt {count}`", segment.name(first));
    let all: Vec<String> = free.count.map(count).into_iter().chain(free.ids.iter().map(id)).collect();
    list(&all)
}

/// Settings that do not fit those of the coordinator.
fn settings(segment: &Segment, cause: &Cause) -> [String; 3] {
    match cause {
        &Cause::AboveTheCount { node, id, coordinator, count, came: [turns, offered, sent, beacons] } => {
            let (name, first) = (segment.name(node), segment.name(coordinator));
            [
                format!(
                    "{name}'s turn comes after the last: its id {id} is not below the node count, {count} at {first}."
                ),
                format!(
                    "Every BEACON comes before its turn: it took {} turns in {} cycles. Of its {} frames {} were sent.",
                    group(turns),
                    group(beacons),
                    group(offered),
                    group(sent)
                ),
                format!(
                    "`ethbus plca set {first} node-cnt {}`, or an id below {count} for {name}. Chips count this in BCNBFTO.",
                    (u16::from(id) + 1).min(255)
                ),
            ]
        }
        Cause::NoId { node, met, free } => [
            format!("{} has no id: 255 means not configured, and PLCA stays off there.", segment.name(*node)),
            knows_no_turns(segment, met),
            format!("{}.", set_ids(segment, free, "")),
        ],
        Cause::Off { node, met, free } => [
            format!("{} has PLCA off among nodes that have it on.", segment.name(*node)),
            knows_no_turns(segment, met),
            format!("{}.", set_ids(segment, free, "enable on ")),
        ],
        &Cause::CountTooHigh { coordinator, count, used, empty, to_timer } => {
            let (count, turn, name) = (u64::from(count), u64::from(to_timer), segment.name(coordinator));
            let idle = |turns: u64| group(segment.plca.beacon.get() + turns * turn);
            [
                format!("The node count at {name} is {count}, but only {used} turns belong to a node."),
                format!(
                    "{} BT of every idle cycle are empty: it takes {} BT instead of {}, and each frame waits so much longer.",
                    group(empty * turn),
                    idle(count),
                    idle(count - empty)
                ),
                format!("`ethbus plca set {name} node-cnt {}`.", count - empty),
            ]
        }
        _ => Default::default(),
    }
}

fn knows_no_turns(segment: &Segment, meetings: &Meetings) -> String {
    let met = met(segment, meetings);
    format!("It knows no turns: it defers to what it hears, and sends into the turns of others. {met}")
}

/// A node that counts its turns in another way.
fn counting(segment: &Segment, cause: &Cause) -> [String; 3] {
    match *cause {
        Cause::OtherTimer { node, id, own, coordinator, right, same, met: ref meetings } => {
            let (name, begins) = (segment.name(node), u64::from(own) * u64::from(id));
            let falls = match same {
                Some((other, other_id)) => format!(
                    "Its turn begins {begins} BT after a BEACON, and so does that of {}: {own} x {id} = {right} x {other_id}.",
                    segment.name(other)
                ),
                None => format!(
                    "Its turn begins {begins} BT after a BEACON, within the turn of id {}, which may have just begun a frame.",
                    begins / u64::from(right).max(1)
                ),
            };
            [
                format!(
                    "{name} counts {own} BT for a turn where the coordinator {} counts {right}: its turns drift against theirs.",
                    segment.name(coordinator)
                ),
                format!("{falls} {}", met(segment, meetings)),
                format!("`ethbus plca set {name} to-tmr {right}`: to_tmr must be the same at all nodes."),
            ]
        }
        Cause::OtherClock { node, ppm, to_timer, id, off, met: ref meetings } => {
            let name = segment.name(node);
            let (how, sooner) = if ppm > 0 { ("fast", "early") } else { ("slow", "late") };
            let takes = f64::from(to_timer) * 1e6 / (1e6 + f64::from(ppm));
            let ppm = group(ppm.unsigned_abs().into());
            [
                format!(
                    "The clock of {name} is {how} by {ppm} ppm: a turn of {to_timer} BT takes {takes:.2} BT there."
                ),
                format!(
                    "After unused turns its own, of id {id}, begins up to {} BT {sooner}. Each BEACON and each \
                     frame on the line sets its count right again. {}",
                    group(off),
                    met(segment, meetings)
                ),
                format!(
                    "Look at the crystal of {name}, or at an oscillator that was never trimmed. 100 ppm put the last of 255 \
                     turns less than 1 BT off."
                ),
            ]
        }
        _ => Default::default(),
    }
}

fn no_detection(segment: &Segment, nodes: &[StationId], lost: Option<BitInstant>) -> [String; 3] {
    let s = if nodes.len() == 1 { "s" } else { "" };
    let seen = match (segment.damaged, lost) {
        (0, None) => "No harm yet: with BEACONs nothing meets.".to_owned(),
        (0, Some(_)) => "plca_status was lost, but no frames have overlapped yet.".to_owned(),
        (damaged, lost) => format!(
            "{} frames came with a bad FCS, and their senders count them as transmitted: no node noticed.{}",
            group(damaged),
            lost.map_or(String::new(), |fell| format!(
                " It began after plca_status fell at t = {}.",
                group(fell.get())
            ))
        ),
    };
    [
        format!(
            "{} run{s} with collision detection off: the PHY tells the MAC of no collision.",
            names(segment, nodes)
        ),
        seen,
        "Leave collision detection on (for example CDCTL0.CD_EN): PLCA needs it as soon as BEACONs are lost."
            .to_owned(),
    ]
}

/// One node that is not like the others.
fn node(segment: &Segment, cause: &Cause) -> [String; 3] {
    let of = |station: StationId| -> (&str, &Counts) { (segment.name(station), &segment.whole.node(station).counts) };
    match cause {
        Cause::Heedless { node } => {
            let (name, node) = of(*node);
            [
                format!(
                    "The MAC of {name} takes no notice of logical collisions: told to wait for its turn, it sends on."
                ),
                format!(
                    "PLCA threw {} of its {} transmitted frames away: they never had a turn, and no receiver heard of them.",
                    group(node.lost),
                    group(node.sent)
                ),
                format!("Set the MAC of {name} to half duplex, and see that COL of its PHY is wired to it."),
            ]
        }
        Cause::SeveralIds { node, ids, most } => {
            let (name, node) = of(*node);
            let named: Vec<String> = ids.iter().map(u8::to_string).collect();
            [
                format!("{name} has {} turns in each cycle: ids {}.", ids.len(), list(&named)),
                format!(
                    "It took {} turns, any other node at most {}. The cycle is longer for all others.",
                    group(node.turns),
                    group(*most)
                ),
                "Nothing, if that is meant: the bound of the others grows by as many of its longest turns.".to_owned(),
            ]
        }
        Cause::SlowHost { node, delay, over_spi } => {
            let (name, node) = of(*node);
            let (least, most) = (delay.least.get(), delay.most.get());
            let takes = if least == most { group(most) } else { format!("{} to {}", group(least), group(most)) };
            let over = if *over_spi { " over SPI" } else { "" };
            [
                format!("The host of {name} is slow: it takes {takes} BT to hand over a frame{over}."),
                format!(
                    "Meanwhile its turns pass unused: it took {} turns in {} cycles, and sent {} of {} frames.",
                    group(node.turns),
                    group(segment.whole.beacons),
                    group(node.sent),
                    group(node.offered)
                ),
                format!("Speed the way to its MAC-PHY up (SPI clock, DMA): no setting of PLCA helps {name}."),
            ]
        }
        Cause::SkipsTurns { node, skipped } => {
            let (name, node) = of(*node);
            let (turns, cycles) = (if *skipped == 1 { "turn" } else { "turns" }, u64::from(*skipped) + 1);
            [
                format!("{name} skips {skipped} {turns} after each turn with a frame."),
                format!(
                    "It took {} turns in {} cycles, and sent {} of {} frames: one behind another waits {cycles} cycles.",
                    group(node.turns),
                    group(segment.whole.beacons),
                    group(node.sent),
                    group(node.offered)
                ),
                format!(
                    "Nothing, if that is meant. Otherwise set the skipped turns of its PHY (PLCATOSKP) to 0: {name} then sends in each cycle."
                ),
            ]
        }
        _ => Default::default(),
    }
}

fn phy_delay(segment: &Segment, coordinator: Option<PlcaSettings>) -> [String; 3] {
    let (on, off) = (segment.plca.phy_on.get(), segment.plca.phy_off.get());
    let seen = match coordinator {
        None => "There is no coordinator, so no turn that could be longer.".to_owned(),
        Some(settings) => {
            let turns = u64::from(settings.to_timer) * u64::from(settings.node_count);
            let idle = segment.plca.beacon.get() + turns;
            format!(
                "Every BEACON, and every turn that is used, ends {off} BT later for all: an idle cycle takes {} BT instead \
                 of {}. Where the delays come close to to_tmr, turns meet.",
                group(idle + off),
                group(idle)
            )
        }
    };
    [
        format!("The PHYs take {on} BT until a signal is heard, and {off} BT until its end is."),
        seen,
        "Nothing, as long as it is far below to_tmr; reckon with it in the bound.".to_owned(),
    ]
}

fn reset(segment: &Segment, reset: &Reset) -> [String; 3] {
    let changed = changes(&reset.before, &reset.after);
    let seen = match reset.back {
        Some(back) => format!(
            "It was a node of plain CSMA/CD for {} BT, until {}.",
            group(back.since(reset.at).get()),
            if reset.is_replaced { "its next settings came" } else { "the next BEACON was over" }
        ),
        None if reset.after.enabled => "Its plca_status has not been OK since.".to_owned(),
        None => "It is a node of plain CSMA/CD since.".to_owned(),
    };
    [
        format!("PLCA of {} was reset at t = {}: {changed}.", segment.name(reset.station), group(reset.at.get())),
        seen,
        "Tell nodes their settings before there is traffic: what they send meanwhile can meet others.".to_owned(),
    ]
}

/// What is different, as ethtool says it.
fn changes(before: &PlcaSettings, after: &PlcaSettings) -> String {
    let truth = |on: bool| if on { "on" } else { "off" }.to_owned();
    let of = |one: &PlcaSettings| {
        // Each of them: a new one cannot be left out.
        let PlcaSettings {
            enabled,
            node_id,
            node_count,
            to_timer,
            burst_count,
            burst_timer,
            dplca,
            coordinator_role,
            aging_cycles,
        } = *one;
        let numbers = [node_id, node_count, to_timer, burst_count, burst_timer].map(|number| number.to_string());
        let [id, count, turn, burst, timer] = numbers;
        [
            ("enable", truth(enabled)),
            ("node-id", id),
            ("node-cnt", count),
            ("to-tmr", turn),
            ("burst-cnt", burst),
            ("burst-tmr", timer),
            ("dplca", truth(dplca)),
            ("coordinator-role", truth(coordinator_role)),
            ("aging-cycles", aging_cycles.to_string()),
        ]
    };
    let pairs = of(before).into_iter().zip(of(after)).filter(|(before, after)| before != after);
    let changed: Vec<String> = pairs.map(|((name, was), (_, is))| format!("{name} from {was} to {is}")).collect();
    if changed.is_empty() { "told the same settings again".to_owned() } else { list(&changed) }
}

/// What docs/symptoms.md has no number for.
fn without_a_number(segment: &Segment, cause: &Cause) -> [String; 3] {
    match cause {
        Cause::Unreached { nodes, at, cut } => {
            let cut = cut.map_or(String::new(), |cut| format!(" The cable was cut at t = {}.", group(cut.get())));
            [
                format!("BEACONs do not get to {}, although a coordinator sends them.", names(segment, nodes)),
                format!("plca_status fell there, first at t = {}.{cut}", group(at.get())),
                "Look at the cable between them and the coordinator.".to_owned(),
            ]
        }
        Cause::Unexplained { nodes, times: often, first } => [
            format!("Frames of nodes with PLCA met on the line, most often those of {}.", names(segment, nodes)),
            format!(
                "That happened {}, first at t = {}. Their settings do not say why.",
                times(*often),
                group(first.get())
            ),
            "Look at faults and cuts in the trace (lines of the layer `deed`).".to_owned(),
        ],
        _ => Default::default(),
    }
}

/// A segment in one paragraph: nodes, cycles, frames, and the longest wait beside its bound.
pub fn summary(segment: &Segment) -> String {
    let nodes = &segment.whole.nodes;
    let on = nodes.iter().filter(|node| node.is_on()).count();
    let sum = |of: fn(&Counts) -> u64| group(nodes.iter().map(|node| of(&node.counts)).sum());
    let longest = nodes.iter().map(|node| node.counts.longest_wait).max().unwrap_or_default();
    let bound = segment.bound().map_or(String::new(), |bound| {
        format!(" (a right bus of these nodes and frames: at most {} BT)", group(bound))
    });
    let met = match (segment.collisions(), segment.collisions_in_turns()) {
        (0, _) => none_met(segment).to_owned(),
        (all, 0) => format!(
            "frames met on the line {}, where plca_status was FAIL (before the first BEACON, for one)",
            times(all)
        ),
        (all, with_plca) => format!("frames met on the line {}, {} of these in turns", times(all), group(with_plca)),
    };
    format!(
        "{} nodes, {on} with PLCA on; {} BEACONs, {} of them after empty cycles. {} frames offered, {} sent. MACs were told \
         to wait for their turn {} (logical collisions); {met}. The longest wait from the head of a queue to the first bit \
         was {} BT{bound}.",
        nodes.len(),
        group(segment.whole.beacons),
        group(segment.empty),
        sum(|node| node.offered),
        sum(|node| node.sent),
        times(nodes.iter().map(|node| node.counts.told_to_wait).sum()),
        group(longest.get())
    )
}
