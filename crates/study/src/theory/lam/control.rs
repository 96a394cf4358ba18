//! Optimal control of Lam's channel: what stations that know the backlog do best, by policy iteration.
//!
//! At each backlog n a procedure has a few actions. An action accepts new packets or rejects them, and fixes K, from which
//! blocked users take their p:
//!
//! ```text
//! input            accept with K, reject with K
//! retransmission   accept with K, accept with a larger K
//! both             accept or reject, with K or a larger K
//! ```
//!
//! The reward is the successes of a slot. Howard's policy iteration finds the policy with the most successes a slot, g. As
//! the backlog falls by one at most, the equations of a policy need no matrix. With v(n) the relative value of n, and
//! d(n) = v(n) - v(n - 1):
//!
//! ```text
//! d(n) = (r(n) - g + sum_j U(n, j) d(n + j)) / down(n)        U(n, j): the chance to rise by j or more
//! g    =  r(0)     + sum_j U(0, j) d(j)
//! ```
//!
//! The first is solved from N downwards as d(n) = A(n) - g B(n), with A and B sums of positive numbers; the second gives g.
//! A policy with the most successes has the least delay, too: a user is idle, blocked, or sends, so the mean time from one
//! success of a user to the next is N/throughput.

use super::super::{Answer, Refusal, Value};
use super::chain::Chain;
use super::{Channel, HOLDS, Population};

const SOURCE: &str = "Lam and Kleinrock, IEEE Trans. Comm. 23 (9), 1975; Lam, dissertation, UCLA-ENG-7429, 1974, chapter 6: \
    Markov decision by policy iteration; Jenq, IEEE Trans. Comm. 29 (6), 1981: several limits of retransmission control";
/// The largest N of a controlled channel.
const MOST_STATIONS: u32 = 2_000;
/// Policy iteration ends after some ten steps; a hundred mean that it does not.
const MOST_STEPS: u32 = 100;
/// An action that gains less is no improvement: it is the rounding of equal ones.
const TIE: f64 = 1e-13;
/// A backlog that falls more rarely than this does not fall.
const NEVER: f64 = 1e-200;

/// What stations may be told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Procedure {
    /// New packets are accepted or rejected.
    Input,
    /// Blocked users change K.
    Retransmission,
    /// Both.
    Both,
}

/// One thing to do at a backlog.
#[derive(Clone, Debug)]
struct Action {
    accepts: bool,
    retransmit: u32,
    /// By n: the chance of n - 1, and the successes of a slot.
    down: Vec<f64>,
    reward: Vec<f64>,
    /// By n: the chances to rise by 1, 2 … exactly, and by as many or more.
    up: Vec<Vec<f64>>,
    at_least: Vec<Vec<f64>>,
}

impl Action {
    fn new(channel: &Channel, stations: u32, retransmit: u32, accepts: bool) -> Action {
        let channel = Channel { retransmit, ..*channel };
        let p = channel.retransmission_probability();
        let Chain { down, up, .. } = Chain::new(&channel, stations);
        let alone = |n: u32| if n == 0 { 0.0 } else { f64::from(n) * p * (1.0 - p).powi(n as i32 - 1) };
        let (down, up, reward) = match accepts {
            true => (down, up, (0..=stations).map(|n| channel.output(f64::from(n))).collect()),
            false => {
                let down: Vec<f64> = (0..=stations).map(alone).collect();
                (down.clone(), vec![Vec::new(); down.len()], down)
            }
        };
        let at_least = up.iter().map(|up| tails(up)).collect();
        Action { accepts, retransmit, down, reward, up, at_least }
    }

    /// Successes a slot and what the change of the backlog is worth, where `steps[n]` is v(n) - v(n - 1).
    fn worth(&self, n: usize, steps: &[f64]) -> f64 {
        let falls = if n == 0 { 0.0 } else { self.down[n] * steps[n] };
        self.reward[n] - falls + along(&self.at_least[n], &steps[n + 1..])
    }
}

/// Sums from each place to the end.
fn tails(chances: &[f64]) -> Vec<f64> {
    let mut sums = chances.to_vec();
    for place in (1..sums.len()).rev() {
        sums[place - 1] += sums[place];
    }
    sums
}

fn along(chances: &[f64], values: &[f64]) -> f64 {
    chances.iter().zip(values).map(|(chance, value)| chance * value).sum()
}

/// The best policy of a procedure, and what comes of it in the long run.
#[derive(Clone, Debug, PartialEq)]
pub struct Controlled {
    /// By backlog, as long as a user is idle: whether new packets are accepted, and K.
    pub policy: Vec<(bool, u32)>,
    /// Successes a slot.
    pub throughput: f64,
    /// Blocked users.
    pub mean_backlog: f64,
    /// New packets rejected a slot.
    pub rejected: f64,
    /// Slots from ready to success, both counted. A rejected packet is ready again with the chance s in a slot, and waits
    /// until then.
    pub mean_delay_slots: f64,
}

impl Channel {
    /// The best that `procedure` can do, with K of the channel and the larger ones of `control`.
    ///
    /// # Errors
    /// Infinitely many users or too many; a K that is not larger; a channel that nothing can empty.
    pub fn controlled(&self, procedure: Procedure, control: &[u32]) -> Result<Controlled, Refusal> {
        let stations = self.check(control)?;
        let ks = || [self.retransmit].into_iter().chain(control.iter().copied());
        let of = |accepts| move |retransmit| Action::new(self, stations, retransmit, accepts);
        let actions: Vec<Action> = match procedure {
            Procedure::Input => [true, false].map(|accepts| of(accepts)(self.retransmit)).into(),
            Procedure::Retransmission => ks().map(of(true)).collect(),
            Procedure::Both => ks().map(of(true)).chain(ks().map(of(false))).collect(),
        };
        let never = || {
            let because = "all users are blocked for longer than a number can hold, whatever they do";
            Refusal::new(format!("--retransmit {}", self.retransmit), because, "the nearest is a larger K or --control")
        };
        let choice = iterate(&actions).ok_or_else(never)?;
        self.in_the_long_run(stations, &actions, &choice).ok_or_else(never)
    }

    fn check(&self, control: &[u32]) -> Result<u32, Refusal> {
        let Population::Finite(stations) = self.population else {
            let because = "a policy has an action for each backlog";
            return Err(Refusal::new("--stations infinite", because, format!("the largest number is {MOST_STATIONS}")));
        };
        if stations > MOST_STATIONS {
            let because = "the decision process has a state for each station, and this one takes too long";
            let nearest = format!("the largest number is {MOST_STATIONS}");
            return Err(Refusal::new(format!("--stations {stations}"), because, nearest));
        }
        let least = self.retransmit + 1;
        match control.windows(2).find(|pair| pair[0] >= pair[1]).map(|pair| pair[1]).or(control.first().copied()) {
            Some(k) if k < least || control.windows(2).any(|pair| pair[0] >= pair[1]) => Err(Refusal::new(
                format!("--control {k}"),
                "stations that back off wait longer",
                format!("each K is larger than the one before, the first at least {least}"),
            )),
            _ => Ok(stations),
        }
    }

    /// What comes of `choice`, by the stationary distribution of its chain.
    fn in_the_long_run(&self, stations: u32, actions: &[Action], choice: &[usize]) -> Option<Controlled> {
        let chosen = |n: usize| &actions[choice[n]];
        let backlogs = 0..choice.len();
        let chain = Chain::of(
            backlogs.clone().map(|n| chosen(n).down[n]).collect(),
            backlogs.map(|n| chosen(n).up[n].clone()).collect(),
        );
        let stationary = chain.stationary()?;
        let mean = |of: &dyn Fn(usize) -> f64| stationary.iter().enumerate().map(|(n, part)| of(n) * part).sum::<f64>();
        let s = self.arrival_probability();
        let throughput = mean(&|n| chosen(n).reward[n]);
        let mean_backlog = mean(&|n| n as f64);
        let rejected = mean(&|n| if chosen(n).accepts { 0.0 } else { (f64::from(stations) - n as f64) * s });
        let mean_delay_slots = (mean_backlog + rejected / s) / throughput + 1.0;
        let policy = (0..stations as usize).map(|n| (chosen(n).accepts, chosen(n).retransmit)).collect();
        let controlled = Controlled { policy, throughput, mean_backlog, rejected, mean_delay_slots };
        mean_delay_slots.is_finite().then_some(controlled)
    }

    /// What `ethbus theory lam-control` prints.
    ///
    /// # Errors
    /// As [`Channel::controlled`].
    pub fn control_answer(&self, control: &[u32]) -> Result<Answer, Refusal> {
        let stations = self.check(control)?;
        let mut answer = Answer::new("lam-control", SOURCE, HOLDS)
            .with("stations", "N", Value::Count(stations.into()))
            .with("load", "S, input in packets a slot if no user is blocked", Value::Number(self.load))
            .with("retransmit", "K while there is no need for control", Value::Count(self.retransmit.into()))
            .with(
                "control",
                "K that stations may change to",
                Value::List(control.iter().map(|&k| f64::from(k)).collect()),
            )
            .with("ack_delay", "R, slots until a collision is known", Value::Count(self.ack_delay.into()));
        let none = self.steady();
        let unstable = || "without control the channel is unstable: it has no mean delay".to_owned();
        answer = answer
            .with_some(
                "throughput",
                "without control: successes a slot",
                none.map(|it| Value::Number(it.throughput)),
                unstable,
            )
            .with_some(
                "mean_delay_slots",
                "without control: slots from ready to success",
                none.map(|it| Value::Number(it.mean_delay_slots)),
                unstable,
            );
        for (procedure, keys) in PROCEDURES {
            answer = self.controlled(procedure, control)?.told(answer, keys);
        }
        Ok(answer)
    }
}

/// Keys of a procedure in an answer.
struct Keys {
    policy: &'static str,
    limit: &'static str,
    throughput: &'static str,
    delay: &'static str,
    rejected: Option<&'static str>,
}

const PROCEDURES: [(Procedure, Keys); 3] = [
    (
        Procedure::Input,
        Keys {
            policy: "input_policy",
            limit: "input_limit",
            throughput: "input_throughput",
            delay: "input_delay_slots",
            rejected: Some("input_rejected"),
        },
    ),
    (
        Procedure::Retransmission,
        Keys {
            policy: "retransmission_policy",
            limit: "retransmission_limit",
            throughput: "retransmission_throughput",
            delay: "retransmission_delay_slots",
            rejected: None,
        },
    ),
    (
        Procedure::Both,
        Keys {
            policy: "both_policy",
            limit: "both_limit",
            throughput: "both_throughput",
            delay: "both_delay_slots",
            rejected: Some("both_rejected"),
        },
    ),
];

impl Controlled {
    /// The largest backlog before the first change of the policy; none if it has none.
    pub fn limit(&self) -> Option<usize> {
        self.policy.windows(2).position(|pair| pair[0] != pair[1])
    }

    /// Each stretch of backlogs with one action: its first backlog, whether it accepts, and K.
    fn stretches(&self) -> Vec<Vec<Option<f64>>> {
        let mut last = None;
        let begins = |&(_, action): &(usize, &(bool, u32))| last.replace(*action) != Some(*action);
        let row = |(n, &(accepts, k)): (usize, &(bool, u32))| {
            [n as f64, f64::from(u8::from(accepts)), f64::from(k)].map(Some).to_vec()
        };
        self.policy.iter().enumerate().filter(begins).map(row).collect()
    }

    fn told(&self, answer: Answer, keys: Keys) -> Answer {
        let answer = answer
            .with(
                keys.policy,
                "the best from a backlog on; new packets accepted: 1",
                Value::Curve { columns: vec!["backlog", "accepts", "retransmit"], rows: self.stretches() },
            )
            .with_some(
                keys.limit,
                "the control limit: the largest backlog before the first change",
                self.limit().map(|n| Value::Count(n as u64)),
                || "one action is the best at every backlog".to_owned(),
            )
            .with(keys.throughput, "successes a slot", Value::Number(self.throughput))
            .with(
                keys.delay,
                "slots from ready to success, rejections included at 1/s slots each",
                Value::Number(self.mean_delay_slots),
            );
        match keys.rejected {
            Some(key) => answer.with(key, "new packets rejected a slot", Value::Number(self.rejected)),
            None => answer,
        }
    }
}

/// By backlog, which of `actions` is the best; `None` if the backlog never falls, as far as numbers tell.
fn iterate(actions: &[Action]) -> Option<Vec<usize>> {
    let states = actions[0].down.len();
    let best = |worth: &dyn Fn(&Action) -> f64, at_first: usize| {
        let better = |best: usize, other: usize| {
            let (now, then) = (worth(&actions[best]), worth(&actions[other]));
            if then > now + TIE * now.abs() { other } else { best }
        };
        (0..actions.len()).fold(at_first, better)
    };
    // What empties the channel best is a policy under which no state is hard to leave.
    let mut choice: Vec<usize> = (0..states).map(|n| best(&|action| action.down[n], 0)).collect();
    for _ in 0..MOST_STEPS {
        let steps = evaluate(actions, &choice)?;
        let next: Vec<usize> = (0..states).map(|n| best(&|action| action.worth(n, &steps), choice[n])).collect();
        if next == choice {
            return Some(choice);
        }
        choice = next;
    }
    Some(choice)
}

/// v(n) - v(n - 1) of a policy, by n; 0 for n = 0.
fn evaluate(actions: &[Action], choice: &[usize]) -> Option<Vec<f64>> {
    let states = choice.len();
    let (mut reward, mut time) = (vec![0.0; states], vec![0.0; states]);
    for n in (1..states).rev() {
        let action = &actions[choice[n]];
        if action.down[n] < NEVER {
            return None;
        }
        reward[n] = (action.reward[n] + along(&action.at_least[n], &reward[n + 1..])) / action.down[n];
        time[n] = (1.0 + along(&action.at_least[n], &time[n + 1..])) / action.down[n];
    }
    let first = &actions[choice[0]];
    let gain =
        (first.reward[0] + along(&first.at_least[0], &reward[1..])) / (1.0 + along(&first.at_least[0], &time[1..]));
    let steps: Vec<f64> = reward.iter().zip(&time).map(|(reward, time)| reward - gain * time).collect();
    steps.iter().all(|step| step.is_finite()).then_some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(stations: u32, load: f64, retransmit: u32) -> Channel {
        Channel::new(Population::Finite(stations), load, retransmit, 0).expect("a channel")
    }

    /// Five users have 2^6 policies of two actions, 4^6 of four: none has more successes, or a shorter delay.
    #[test]
    fn no_other_policy_is_better() {
        for (load, retransmit, control) in [(0.6, 2, 8), (0.9, 3, 10), (0.3, 2, 40)] {
            let channel = channel(5, load, retransmit);
            for procedure in [Procedure::Input, Procedure::Retransmission, Procedure::Both] {
                let best = channel.controlled(procedure, &[control]).expect("a policy");
                let action = |k, accepts| Action::new(&channel, 5, k, accepts);
                let all = [
                    action(retransmit, true),
                    action(retransmit, false),
                    action(control, true),
                    action(control, false),
                ];
                let allowed: Vec<Action> = all
                    .into_iter()
                    .filter(|it| it.accepts || procedure != Procedure::Retransmission)
                    .filter(|it| it.retransmit == retransmit || procedure != Procedure::Input)
                    .collect();
                let count = allowed.len().pow(6);
                for number in 0..count {
                    let choice: Vec<usize> = (0..6).map(|n| number / allowed.len().pow(n) % allowed.len()).collect();
                    let Some(other) = channel.in_the_long_run(5, &allowed, &choice) else { continue };
                    let at = format!("{procedure:?} {load}: {choice:?}");
                    assert!(other.throughput <= best.throughput + 1e-12, "{at}");
                    assert!(other.mean_delay_slots >= best.mean_delay_slots - 1e-9, "{at}");
                }
            }
        }
    }

    /// Lam's example of 400 users, which K = 10 alone carries into the second equilibrium: each control keeps it near the
    /// first, each has one limit, and both together are at least as good as either.
    #[test]
    fn control_keeps_lams_example_stable() {
        let channel = channel(400, 0.32, 10);
        let of = |procedure| channel.controlled(procedure, &[200]).expect("a policy");
        let (input, again, both) = (of(Procedure::Input), of(Procedure::Retransmission), of(Procedure::Both));
        let fixed = Channel { retransmit: 200, ..channel }.steady().expect("stable");
        assert!(again.mean_delay_slots < fixed.mean_delay_slots, "{} {fixed:?}", again.mean_delay_slots);
        assert_eq!((input.limit(), again.limit()), (Some(7), Some(10)));
        for one in [&input, &again] {
            assert_eq!(one.policy.windows(2).filter(|pair| pair[0] != pair[1]).count(), 1, "{:?}", one.stretches());
            assert!(both.throughput >= one.throughput - 1e-12);
        }
    }

    /// Between successes of a user lie 1/s slots of idleness and the delay, less the slot in which the packet comes.
    #[test]
    fn throughput_and_delay_are_one_goal() {
        for procedure in [Procedure::Input, Procedure::Retransmission, Procedure::Both] {
            let it = channel(100, 0.35, 10).controlled(procedure, &[60, 200]).expect("a policy");
            let cycle = 100.0 / it.throughput;
            let idle = 100.0 / 0.35;
            assert!((cycle - idle - (it.mean_delay_slots - 1.0)).abs() < 1e-6 * cycle, "{procedure:?} {it:?}");
        }
    }

    #[test]
    fn what_has_no_policy_is_refused() {
        let refused =
            |channel: &Channel, control: &[u32]| channel.control_answer(control).expect_err("refused").to_string();
        let example = channel(400, 0.32, 10);
        assert!(refused(&example, &[10]).contains("at least 11"));
        assert!(refused(&example, &[60, 20]).contains("--control 20"));
        assert!(refused(&channel(5_000, 0.32, 10), &[200]).contains("2000"));
        let infinite = Channel::new(Population::Infinite, 0.32, 10, 0).expect("a channel");
        assert!(refused(&infinite, &[200]).contains("infinite"));
        assert!(refused(&channel(50, 0.3, 1), &[]).contains("larger K"));
    }
}
