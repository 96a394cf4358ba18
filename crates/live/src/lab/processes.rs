//! The programs in a lab's stations: found by their namespaces, and ended with the lab.

use super::inventory::Claim;
use link::namespace::{Member, Namespace, NamespaceId, UserNamespace, members, newest_members};
use link::signals::Signal;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// How long processes in a station get to end by themselves.
const GRACE: Duration = Duration::from_secs(2);
/// How long those that do not are killed again and again, with those that they have started meanwhile.
const MERCILESS: Duration = Duration::from_secs(5);
/// The newest processes are searched this often for each search of all.
const HUNTS: usize = 100;
/// How many looks in a row find nothing before there is nothing.
const LOOKS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(10);

/// The user namespace of the lab, if a program still runs in one of these namespaces.
///
/// `expected` tells it from a stranger's whose namespace has got an inode of the lab's since. If a namespace of the lab still
/// lives, so does the user namespace that owns it, and no other has its inode.
pub fn owner_of<'a>(claims: impl Iterator<Item = &'a Claim>, expected: Option<NamespaceId>) -> Option<UserNamespace> {
    let (ids, expected): (Vec<NamespaceId>, _) = (claims.map(Claim::identity).collect(), expected?);
    let mut owners = found(&ids).filter_map(|member| member.namespace().owner().ok());
    owners.find(|owner| owner.identity().is_ok_and(|identity| identity == expected))
}

/// Ends the processes in the lab's namespaces: asked first, made to after a while. Gives how many are left all the same.
pub fn end(claims: &[Claim]) -> usize {
    let (mut known, mut held) = (Vec::new(), Vec::new());
    for claim in claims {
        if let Some(namespace) = claim.open_named() {
            known.push(namespace.identity());
            held.push(namespace);
        }
    }
    let nameless: Vec<&Claim> = claims.iter().filter(|claim| claim.name.is_none()).collect();
    hold_nameless(&nameless, &mut known, &mut held);
    // Held from here on, so that no other namespace gets one of these inodes.
    let begin = Instant::now();
    let (mut asked, mut looks_without) = (Vec::new(), 0);
    loop {
        let (mut running, waited) = (0, begin.elapsed());
        for process in found(&known).chain(newest_members(&known).filter(is_other)) {
            running += 1;
            // One that has ended meanwhile is what was wanted.
            if waited > GRACE {
                process.signal(Signal::SIGKILL);
            } else if !asked.contains(&process.pid()) {
                asked.push(process.pid());
                process.signal(Signal::SIGTERM);
            }
        }
        // One look may miss a process that has just begun.
        looks_without = if running == 0 { looks_without + 1 } else { 0 };
        if looks_without == LOOKS || waited > GRACE + MERCILESS {
            return running;
        }
        if waited > GRACE {
            // Against one that starts others without end it is a race: among all processes it is gone when its turn comes.
            for process in (0..HUNTS).flat_map(|_| newest_members(&known)).filter(is_other) {
                process.signal(Signal::SIGKILL);
            }
        } else if running > 0 {
            std::thread::sleep(PAUSE);
        }
    }
}

/// Finds the namespaces that only processes lead to.
fn hold_nameless(claims: &[&Claim], known: &mut Vec<NamespaceId>, held: &mut Vec<Namespace>) {
    let ids: Vec<NamespaceId> = claims.iter().map(|claim| claim.identity()).collect();
    if ids.is_empty() {
        return;
    }
    for member in found(&ids) {
        let namespace = member.namespace();
        let identity = namespace.identity();
        if known.contains(&identity) || !claims.iter().any(|claim| claim.is(namespace)) {
            continue;
        }
        if let Ok(namespace) = namespace.try_clone() {
            known.push(identity);
            held.push(namespace);
        }
    }
}

/// Processes in these namespaces, but not this one.
fn found(ids: &[NamespaceId]) -> impl Iterator<Item = Member> {
    let found = if ids.is_empty() { None } else { members(ids).ok() };
    found.into_iter().flatten().filter(is_other)
}

fn is_other(member: &Member) -> bool {
    member.pid().as_raw() as u32 != std::process::id()
}

/// How a child ended, waited for no longer than `patience`: on a busy machine it takes its time to give its memory back.
pub fn ended(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let begin = Instant::now();
    loop {
        let status = child.try_wait().ok().flatten();
        if status.is_some() || begin.elapsed() >= patience {
            return status;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
