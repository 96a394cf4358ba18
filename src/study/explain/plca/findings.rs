//! Causes by name, as an engineer at the bench would say them, each with what the log shows of it and what to do.
//!
//! The causes are read off what nodes were told, and the log says what came of them. One function for each entry of
//! docs/plca.md, in its order. One file above 500 lines because each cause has its sentences here, to be read beside the
//! others.

use super::Finding;
use super::segment::{Away, Met, Node, Segment, Setup, Spell, times};
use medium::{BitInstant, BitTimes, PlcaSettings, StationId};
use sim::words::configuration::longest_distance;
use sim::words::units::group;
use std::collections::BTreeSet;

/// All that is wrong.
pub fn findings(segment: &Segment) -> Vec<Finding> {
    let mut found: Vec<Finding> =
        segment.spells.iter().filter_map(|spell| without_coordinator(segment, spell)).collect();
    for setup in &segment.setups {
        let there = |node: &Node| node.is_on() && node.settings.node_id == 0;
        // Without a coordinator there are no turns that could be wrong.
        if setup.nodes.iter().any(there) {
            of_setup(segment, setup, &mut found);
        }
    }
    found.extend(no_detection(segment));
    found.extend(stations(segment).filter_map(|station| heedless(segment, station)));
    found.extend(stations(segment).filter_map(|station| several_ids(segment, station)));
    found.extend(phy_delay(segment));
    found.extend(long_cable(segment));
    found.extend(stations(segment).filter_map(|station| slow_host(segment, station)));
    found.extend(stations(segment).filter_map(|station| other_clock(segment, station)));
    // What took the coordinator away, or brought it back, is told of there.
    let told = |at: BitInstant| segment.spells.iter().any(|spell| spell.from == at || spell.to == Some(at));
    let resets = segment.resets.iter().filter(|reset| !told(reset.at));
    found.extend(resets.map(|reset| super::findings::reset(segment, reset)));
    found.extend(status_fell(segment));
    if found.is_empty() {
        found.extend(unexplained(segment));
    }
    found.sort_by_key(|finding| (if finding.number == 0 { 99 } else { finding.number }, finding.since_bt));
    found
}

/// What is wrong with settings, each told of once, from when it is so.
fn of_setup(segment: &Segment, setup: &Setup, found: &mut Vec<Finding>) {
    let mut new = Vec::new();
    new.extend(two_coordinators(segment, setup));
    new.extend(twins(segment, setup));
    new.extend(stations(segment).filter_map(|station| above_the_count(segment, setup, station)));
    new.extend(stations(segment).filter_map(|station| off(segment, setup, station)));
    new.extend(count_too_high(segment, setup));
    new.extend(stations(segment).filter_map(|station| other_timer(segment, setup, station)));
    for finding in new {
        if !found.iter().any(|known| known.cause == finding.cause) {
            found.push(finding);
        }
    }
}

fn stations(segment: &Segment) -> impl Iterator<Item = StationId> + use<> {
    (0..segment.names.len() as u16).map(StationId::new)
}

/// The coordinator: the first node with id 0.
fn coordinator(setup: &Setup) -> (StationId, PlcaSettings) {
    let place = setup.nodes.iter().position(|node| node.is_on() && node.settings.node_id == 0);
    let place = place.expect("asked only where there is one");
    (StationId::new(place as u16), setup.nodes[place].settings)
}

/// The stretch of time round `at`.
fn window(at: BitInstant, before: u64, after: u64) -> (u64, u64) {
    (at.get().saturating_sub(before), at.get() + after)
}

/// A finding; `of` has the stations that its cause names.
fn finding(
    number: u8,
    since: BitInstant,
    of: &[StationId],
    (from_bt, to_bt): (u64, u64),
    [cause, seen, mend]: [String; 3],
) -> Finding {
    Finding { number, since_bt: since.get(), stations: of.to_vec(), cause, seen, mend, from_bt, to_bt }
}

/// `with st2 (3) and st4 (1)`
fn whom(segment: &Segment, others: &[(StationId, u64)]) -> String {
    let all: Vec<String> =
        others.iter().map(|&(other, count)| format!("{} ({})", segment.name(other), group(count))).collect();
    super::super::words::list(&all)
}

fn met(segment: &Segment, station: StationId) -> String {
    let (others, _) = segment.met_by(station);
    match others.as_slice() {
        [] => "It has met nobody on the line yet.".to_owned(),
        others => format!("On the line its frames met those of {}.", whom(segment, others)),
    }
}

/// The lowest id that no node has.
fn free_id(setup: &Setup) -> u8 {
    let taken: BTreeSet<u8> =
        setup.nodes.iter().filter(|node| node.is_on()).map(|node| node.settings.node_id).collect();
    (1..PlcaSettings::UNCONFIGURED).find(|id| !taken.contains(id)).unwrap_or(PlcaSettings::UNCONFIGURED)
}

/// 1. The coordinator is lost, or there is none.
fn without_coordinator(segment: &Segment, spell: &Spell) -> Option<Finding> {
    // Settings of a coordinator that is there again at once are a reset.
    if spell.to == Some(spell.from) {
        return None;
    }
    let since = group(spell.from.get());
    let who = spell.who.map(|(who, _)| segment.name(who)).unwrap_or_default();
    let cause = match spell.who {
        None => "No node has the id 0, so nobody sends BEACONs: the bus is one of plain CSMA/CD.".to_owned(),
        Some((_, Away::Unplugged)) => {
            format!("The coordinator is lost: {who}, node 0, left the medium at t = {since}.")
        }
        Some((_, Away::Disabled)) => {
            format!("The coordinator is lost: PLCA was switched off at {who}, node 0, at t = {since}.")
        }
        Some((_, Away::Renumbered(id))) => {
            format!("The coordinator is lost: {who} was given the id {id} at t = {since}, and nobody has the id 0.")
        }
    };
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
        0 => " No frames met on the line.".to_owned(),
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
    let mend = match spell.who {
        None => "Give one node the id 0, and the number of nodes as its node count.".to_owned(),
        Some(_) => format!("Look after supply, cable and driver of {who}: no follower takes its place."),
    };
    let last = spell.fell.map_or(spell.from.get() + 10_000, |(_, last)| last.get() + 10_000);
    Some(finding(
        1,
        spell.from,
        spell.who.map(|(who, _)| who).as_slice(),
        (spell.from.get().saturating_sub(10_000), last),
        [cause, fell + &collided + &back, mend],
    ))
}

/// 2. More than one node has the id 0.
fn two_coordinators(segment: &Segment, setup: &Setup) -> Option<Finding> {
    let both: Vec<StationId> = stations(segment)
        .filter(|station| setup.nodes[station.index()].is_on() && setup.nodes[station.index()].settings.node_id == 0)
        .collect();
    let [_, .., last] = both.as_slice() else { return None };
    let starved: Vec<StationId> = stations(segment)
        .filter(|station| {
            let node = &segment.nodes[station.index()];
            node.is_on() && node.offered > 0 && node.turns == 0
        })
        .collect();
    let seen = match starved.as_slice() {
        [] => "A BEACON starts every follower's count anew, so turns that come late are seldom reached.".to_owned(),
        starved => {
            let offered: u64 = starved.iter().map(|station| segment.nodes[station.index()].offered).sum();
            format!(
                "A BEACON starts every follower's count anew, so turns that come late are never reached: {} had no turn, \
                 though {} frames were offered there.",
                segment.list(starved),
                group(offered)
            )
        }
    };
    let at = starved.first().and_then(|station| segment.nodes[station.index()].first_offered).unwrap_or(setup.at);
    let cause = format!("Two coordinators: {} all send BEACONs, since each has the id 0.", segment.list(&both));
    let mend = format!(
        "Give all but one an id of their own: `ethbus plca set {} node-id {}`. Chips count this in UNEXPB.",
        segment.name(*last),
        free_id(setup)
    );
    Some(finding(
        2,
        setup.at,
        &both,
        window(at, 300, 2_500),
        [cause.replace(" all send", if both.len() == 2 { " both send" } else { " all send" }), seen, mend],
    ))
}

/// 3. Nodes with the same id, other than 0.
fn twins(segment: &Segment, setup: &Setup) -> Vec<Finding> {
    let ids: BTreeSet<u8> = setup.nodes.iter().filter(|node| node.is_on()).map(|node| node.settings.node_id).collect();
    let mut found = Vec::new();
    for id in ids.into_iter().filter(|&id| id != 0) {
        let has = |station: &StationId| {
            let node = &setup.nodes[station.index()];
            node.is_on() && node.settings.node_id == id
        };
        let twins: Vec<StationId> = stations(segment).filter(has).collect();
        let [_, .., last] = twins.as_slice() else { continue };
        let among = |parties: &&Vec<StationId>| parties.iter().all(|party| twins.contains(party));
        let (among, elsewhere): (Vec<_>, Vec<_>) = segment.met.iter().partition(|(parties, _)| among(parties));
        let count = |met: &[(&Vec<StationId>, &Met)]| met.iter().map(|(_, met)| met.times).sum::<u64>();
        let first = among.iter().map(|(_, met)| met.first).min();
        let seen = match (count(&among), count(&elsewhere)) {
            (0, _) => "They have not had frames for the same turn yet.".to_owned(),
            (times_met, 0) => format!("Their frames met on the line {}, and nobody else's did.", times(times_met)),
            (times_met, others) => {
                format!("Their frames met on the line {}, those of others {}.", times(times_met), times(others))
            }
        };
        let cause = format!("{} have the same id, {id}: they send in the same turn.", segment.list(&twins));
        let mend = format!(
            "`ethbus plca set {} node-id {}`. Chips count this in RXINTO, at just these nodes.",
            segment.name(*last),
            free_id(setup)
        );
        found.push(finding(3, setup.at, &twins, window(first.unwrap_or(setup.at), 500, 1_500), [cause, seen, mend]));
    }
    found
}

/// 4. An id at or above the node count.
fn above_the_count(segment: &Segment, setup: &Setup, station: StationId) -> Option<Finding> {
    let (first, PlcaSettings { node_count, .. }) = coordinator(setup);
    let node = &setup.nodes[station.index()];
    let id = node.settings.node_id;
    if !node.is_on() || id < node_count || id == 0 {
        return None;
    }
    let (named, name, first) = ([station, first], segment.name(station), segment.name(first));
    let cause = format!(
        "{name}'s turn comes after the last: its id {id} is not below the node count, {node_count} at {first}."
    );
    let now = &segment.nodes[station.index()];
    let seen = format!(
        "Every BEACON comes before its turn: it took {} turns in {} cycles. Of its {} frames {} were sent.",
        group(now.turns),
        group(segment.beacons),
        group(now.offered),
        group(now.sent)
    );
    let count = u16::from(id) + 1;
    let mend = format!(
        "`ethbus plca set {first} node-cnt {}`, or an id below {node_count} for {name}. Chips count this in BCNBFTO.",
        count.min(255)
    );
    let at = now.first_offered.unwrap_or(setup.at);
    Some(finding(4, setup.at, &named, window(at, 300, 2_500), [cause, seen, mend]))
}

/// 5 and 7. A node without an id, or with PLCA off, among others.
fn off(segment: &Segment, setup: &Setup, station: StationId) -> Option<Finding> {
    let node = &setup.nodes[station.index()];
    if node.is_on() || !node.attached {
        return None;
    }
    let name = segment.name(station);
    let (number, cause, mend) = if node.settings.enabled {
        let cause = format!("{name} has no id: 255 means not configured, and PLCA stays off there.");
        (5, cause, format!("`ethbus plca set {name} node-id {}`.", free_id(setup)))
    } else {
        let cause = format!("{name} has PLCA off among nodes that have it on.");
        (7, cause, format!("`ethbus plca set {name} enable on node-id {}`.", free_id(setup)))
    };
    let seen = format!(
        "It knows no turns: it defers to what it hears, and sends into the turns of others. {}",
        met(segment, station)
    );
    let (_, first) = segment.met_by(station);
    let at = first.filter(|&first| first >= setup.at).unwrap_or(setup.at);
    Some(finding(number, setup.at, &[station], window(at, 700, 1_500), [cause, seen, mend]))
}

/// 6. More turns than nodes.
fn count_too_high(segment: &Segment, setup: &Setup) -> Option<Finding> {
    let (first, PlcaSettings { node_count, to_timer, .. }) = coordinator(setup);
    let mut ids = BTreeSet::new();
    for (node, own) in setup.nodes.iter().zip(&segment.plca.nodes).filter(|(node, _)| node.is_on()) {
        ids.insert(node.settings.node_id);
        ids.extend(own.more_ids.iter().filter(|&&id| id != PlcaSettings::UNCONFIGURED));
    }
    let used = ids.iter().filter(|&&id| id < node_count).count() as u64;
    // A node that is off, or whose id is wrong, leaves its turn empty: that is told of there.
    let wrong = setup.nodes.len() as u64 - used.min(setup.nodes.len() as u64);
    let empty = u64::from(node_count).saturating_sub(used + wrong);
    if empty == 0 {
        return None;
    }
    let turn = u64::from(to_timer);
    let idle = |turns: u64| group(segment.plca.beacon.get() + turns * turn);
    let name = segment.name(first);
    let cause = format!("The node count at {name} is {node_count}, but only {used} turns belong to a node.");
    let seen = format!(
        "{} BT of every idle cycle are empty: it takes {} BT instead of {}, and each frame waits so much longer.",
        group(empty * turn),
        idle(u64::from(node_count)),
        idle(u64::from(node_count) - empty)
    );
    let mend = format!("`ethbus plca set {name} node-cnt {}`.", u64::from(node_count) - empty);
    Some(finding(6, setup.at, &[first], window(setup.at, 0, 4_000), [cause, seen, mend]))
}

/// 8. A node that counts its turns by another timer than the coordinator.
fn other_timer(segment: &Segment, setup: &Setup, station: StationId) -> Option<Finding> {
    let (first, right) = coordinator(setup);
    let node = &setup.nodes[station.index()];
    let PlcaSettings { to_timer, node_id, .. } = node.settings;
    if !node.is_on() || to_timer == right.to_timer {
        return None;
    }
    let (own, others) = (u64::from(to_timer), u64::from(right.to_timer));
    let begins = own * u64::from(node_id);
    let same = setup.nodes.iter().position(|other| {
        other.is_on() && u64::from(other.settings.node_id) * others == begins && other.settings.node_id != node_id
    });
    let name = segment.name(station);
    let cause = format!(
        "{name} counts {own} BT for a turn where the coordinator {} counts {others}: its turns drift against theirs.",
        segment.name(first)
    );
    let falls = match same {
        Some(other) => format!(
            "Its turn begins {begins} BT after a BEACON, and so does that of {}: {own} x {node_id} = {others} x {}.",
            segment.names[other], setup.nodes[other].settings.node_id
        ),
        None => format!(
            "Its turn begins {begins} BT after a BEACON, within the turn of id {}, which may have just begun a frame.",
            begins / others
        ),
    };
    let mend = format!("`ethbus plca set {name} to-tmr {others}`: to_tmr must be the same at all nodes.");
    let (_, met_first) = segment.met_by(station);
    let at = met_first.unwrap_or(setup.at);
    Some(finding(
        8,
        setup.at,
        &[station, first],
        window(at, 500, 1_500),
        [cause, format!("{falls} {}", met(segment, station)), mend],
    ))
}

/// 9. PHYs that tell their MACs of no collision.
fn no_detection(segment: &Segment) -> Option<Finding> {
    let silent: Vec<StationId> =
        stations(segment).filter(|station| !segment.plca.nodes[station.index()].collision_detection).collect();
    if silent.is_empty() {
        return None;
    }
    let s = if silent.len() == 1 { "s" } else { "" };
    let cause = format!(
        "{} run{s} with collision detection off: the PHY tells the MAC of no collision.",
        segment.list(&silent)
    );
    let lost = segment.spells.iter().find(|spell| spell.fell.is_some());
    let seen = match (segment.damaged, lost) {
        (0, None) => "No harm yet: with BEACONs nothing meets.".to_owned(),
        (0, Some(_)) => "plca_status was lost, but no frames have overlapped yet.".to_owned(),
        (damaged, lost) => format!(
            "{} frames came with a bad FCS, and their senders count them as transmitted: nobody noticed.{}",
            group(damaged),
            lost.and_then(|spell| spell.fell).map_or(String::new(), |(fell, _)| format!(
                " It began after plca_status fell at t = {}.",
                group(fell.get())
            ))
        ),
    };
    let mend = "Leave collision detection on (for example CDCTL0.CD_EN): PLCA needs it as soon as BEACONs are lost."
        .to_owned();
    let at = segment.first_damaged.unwrap_or(BitInstant::ZERO);
    Some(finding(9, BitInstant::ZERO, &silent, window(at, 1_500, 1_000), [cause, seen, mend]))
}

/// 10. A MAC that takes no notice of logical collisions.
fn heedless(segment: &Segment, station: StationId) -> Option<Finding> {
    if segment.plca.nodes[station.index()].heeds_logical_collisions {
        return None;
    }
    let (name, node) = (segment.name(station), &segment.nodes[station.index()]);
    let cause =
        format!("The MAC of {name} takes no notice of logical collisions: told to wait for its turn, it sends on.");
    let seen = format!(
        "PLCA threw {} of its {} transmitted frames away: they never had a turn, and no receiver heard of them.",
        group(node.lost),
        group(node.sent)
    );
    let mend = format!("Set the MAC of {name} to half duplex, and see that COL of its PHY is wired to it.");
    let at = node.first_lost.unwrap_or(BitInstant::ZERO);
    Some(finding(10, BitInstant::ZERO, &[station], window(at, 1_500, 700), [cause, seen, mend]))
}

/// 11. Several turns for one node.
fn several_ids(segment: &Segment, station: StationId) -> Option<Finding> {
    let own = &segment.plca.nodes[station.index()];
    let more: Vec<u8> = own.more_ids.iter().copied().filter(|&id| id != PlcaSettings::UNCONFIGURED).collect();
    if more.is_empty() {
        return None;
    }
    let (name, node) = (segment.name(station), &segment.nodes[station.index()]);
    let mut ids = vec![own.settings.node_id.to_string()];
    ids.extend(more.iter().map(u8::to_string));
    let most =
        stations(segment).filter(|&other| other != station).map(|other| segment.nodes[other.index()].turns).max();
    let cause = format!("{name} has {} turns in each cycle: ids {}.", ids.len(), super::super::words::list(&ids));
    let seen = format!(
        "It took {} turns, any other node at most {}. The cycle is longer for all others.",
        group(node.turns),
        group(most.unwrap_or(0))
    );
    let mend = "Nothing, if that is meant: the bound of the others grows by as many of its longest turns.".to_owned();
    let at = node.first_turn.unwrap_or(BitInstant::ZERO);
    Some(finding(11, BitInstant::ZERO, &[station], window(at, 200, 3_500), [cause, seen, mend]))
}

/// 12. PHYs that take their time.
fn phy_delay(segment: &Segment) -> Option<Finding> {
    let (on, off) = (segment.plca.phy_on.get(), segment.plca.phy_off.get());
    if off == 0 {
        return None;
    }
    let setup = &segment.setups[0];
    let cause = format!("The PHYs take {on} BT until a signal is heard, and {off} BT until its end is.");
    let seen = match setup.nodes.iter().find(|node| node.is_on() && node.settings.node_id == 0) {
        None => "There is no coordinator, so no turn that could be longer.".to_owned(),
        Some(node) => {
            let turns = u64::from(node.settings.to_timer) * u64::from(node.settings.node_count);
            let idle = segment.plca.beacon.get() + turns;
            format!(
                "Every BEACON, and every turn that is used, ends {off} BT later for all: an idle cycle takes {} BT instead \
                 of {}. Where the delays come close to to_tmr, turns meet.",
                group(idle + off),
                group(idle)
            )
        }
    };
    let mend = "Nothing, as long as it is far below to_tmr; reckon with it in the bound.".to_owned();
    Some(finding(12, BitInstant::ZERO, &[], (0, 4_000), [cause, seen, mend]))
}

/// 13. Signals that take as long as a turn.
fn long_cable(segment: &Segment) -> Option<Finding> {
    let longest = longest_distance(&segment.config.topology).get();
    let turn = segment.setups[0].nodes.iter().filter(|node| node.is_on()).map(|node| node.settings.to_timer).min()?;
    if 2 * longest < u64::from(turn) {
        return None;
    }
    let with_plca = segment.met.values().filter(|met| met.with_plca > 0);
    let count: u64 = with_plca.clone().map(|met| met.with_plca).sum();
    let cause = format!(
        "The cable is too long: a signal takes {} BT from end to end, there and back {} BT, and a turn is {turn} BT.",
        group(longest),
        group(2 * longest)
    );
    let seen = format!(
        "Nodes far from the coordinator hear a BEACON late and begin their turns late, into those of others: frames of nodes \
         with PLCA met on the line {}.",
        times(count)
    );
    let mend = "10BASE-T1S is for 25 m: shorten the segment, or give all nodes a larger to-tmr.".to_owned();
    let at = with_plca.map(|met| met.first).min().unwrap_or(BitInstant::ZERO);
    Some(finding(13, BitInstant::ZERO, &[], window(at, 500, 1_500), [cause, seen, mend]))
}

/// 14. A host that is slow to hand over.
fn slow_host(segment: &Segment, station: StationId) -> Option<Finding> {
    let delay = segment.plca.nodes[station.index()].host_delay.get();
    if delay == 0 {
        return None;
    }
    let (name, node) = (segment.name(station), &segment.nodes[station.index()]);
    let cause = format!("The host of {name} is slow: it takes {} BT to hand over a frame.", group(delay));
    let seen = format!(
        "Meanwhile its turns pass unused: it took {} turns in {} cycles, and sent {} of {} frames.",
        group(node.turns),
        group(segment.beacons),
        group(node.sent),
        group(node.offered)
    );
    let mend = format!("Speed the way to its MAC-PHY up (SPI clock, DMA): no setting of PLCA helps {name}.");
    let at = node.first_offered.unwrap_or(BitInstant::ZERO);
    Some(finding(14, BitInstant::ZERO, &[station], window(at, 200, delay + 1_500), [cause, seen, mend]))
}

/// 16. A node whose clock is fast or slow.
fn other_clock(segment: &Segment, station: StationId) -> Option<Finding> {
    let own = &segment.plca.nodes[station.index()];
    if own.clock_ppm == 0 {
        return None;
    }
    let name = segment.name(station);
    let (how, sooner) = if own.clock_ppm > 0 { ("fast", "early") } else { ("slow", "late") };
    let PlcaSettings { to_timer, node_id, .. } = own.settings;
    let turn = u64::from(to_timer);
    let takes = turn as f64 * 1e6 / (1e6 + f64::from(own.clock_ppm));
    let ppm = group(own.clock_ppm.unsigned_abs().into());
    let cause = format!("The clock of {name} is {how} by {ppm} ppm: a turn of {turn} BT takes {takes:.2} BT there.");
    let right = BitTimes::new(turn * u64::from(node_id));
    let off = own.on_medium(right).get().abs_diff(right.get());
    let seen = format!(
        "After turns that nobody used, its own, of id {node_id}, begins up to {} BT {sooner}. Each BEACON and each frame on the \
         line sets its count right again. {}",
        group(off),
        met(segment, station)
    );
    let mend = format!(
        "Look at the crystal of {name}, or at an oscillator that was never trimmed. 100 ppm put the last of 255 turns less than \
         1 BT off."
    );
    let (_, first) = segment.met_by(station);
    let at = first.or(segment.nodes[station.index()].first_offered).unwrap_or(BitInstant::ZERO);
    Some(finding(16, BitInstant::ZERO, &[station], window(at, 700, 1_000), [cause, seen, mend]))
}

/// 15. A node that was told settings while the bus ran.
fn reset(segment: &Segment, reset: &super::segment::Reset) -> Finding {
    let name = segment.name(reset.station);
    let changed = changes(&reset.before, &reset.after);
    let cause = format!("PLCA of {name} was reset at t = {}: {changed}.", group(reset.at.get()));
    let seen = match reset.back {
        Some(back) => format!(
            "It was a node of plain CSMA/CD for {} BT, until the next BEACON was over.",
            group(back.since(reset.at).get())
        ),
        None if reset.after.enabled => "Its plca_status has not been OK since.".to_owned(),
        None => "It is a node of plain CSMA/CD since.".to_owned(),
    };
    let mend =
        "Tell nodes their settings before there is traffic: what they send meanwhile can meet others.".to_owned();
    let back = reset.back.unwrap_or(reset.at);
    finding(
        15,
        reset.at,
        &[reset.station],
        (reset.at.get().saturating_sub(800), back.get() + 1_200),
        [cause, seen, mend],
    )
}

/// What is different, as ethtool says it.
fn changes(before: &PlcaSettings, after: &PlcaSettings) -> String {
    let truth = |on: bool| if on { "on" } else { "off" }.to_owned();
    let of = |one: &PlcaSettings| {
        let PlcaSettings { enabled, node_id, node_count, to_timer, burst_count, burst_timer } = *one;
        let numbers = [node_id, node_count, to_timer, burst_count, burst_timer].map(|number| number.to_string());
        let [id, count, turn, burst, timer] = numbers;
        [
            ("enable", truth(enabled)),
            ("node-id", id),
            ("node-cnt", count),
            ("to-tmr", turn),
            ("burst-cnt", burst),
            ("burst-tmr", timer),
        ]
    };
    let pairs = of(before).into_iter().zip(of(after)).filter(|(before, after)| before != after);
    let changed: Vec<String> = pairs.map(|((name, was), (_, is))| format!("{name} from {was} to {is}")).collect();
    if changed.is_empty() { "told the same settings again".to_owned() } else { super::super::words::list(&changed) }
}

/// plca_status fell although a coordinator was there.
fn status_fell(segment: &Segment) -> Option<Finding> {
    let (at, _) = *segment.fell_alone.first()?;
    let mut who: Vec<StationId> = segment.fell_alone.iter().map(|(_, station)| *station).collect();
    who.sort_unstable();
    who.dedup();
    let cause = format!("BEACONs do not get to {}, although a coordinator sends them.", segment.list(&who));
    let cut = segment
        .first_cut
        .filter(|&cut| cut < at)
        .map_or(String::new(), |cut| format!(" The cable was cut at t = {}.", group(cut.get())));
    let seen = format!("plca_status fell there, first at t = {}.{cut}", group(at.get()));
    let mend = "Look at the cable between them and the coordinator.".to_owned();
    Some(finding(0, at, &who, window(at, 3_000, 2_000), [cause, seen, mend]))
}

/// Frames met in turns, and nothing that nodes were told says why.
fn unexplained(segment: &Segment) -> Option<Finding> {
    let (parties, met) =
        segment.met.iter().filter(|(_, met)| met.with_plca > 0).max_by_key(|(_, met)| met.with_plca)?;
    let cause = format!("Frames of nodes with PLCA met on the line, most often those of {}.", segment.list(parties));
    let seen = format!(
        "That happened {}, first at t = {}. Their settings do not say why.",
        times(met.with_plca),
        group(met.first.get())
    );
    let mend = "Look at faults and cuts in the log (lines of the layer `input`).".to_owned();
    Some(finding(0, met.first, parties, window(met.first, 500, 1_500), [cause, seen, mend]))
}
