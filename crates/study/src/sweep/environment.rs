//! Which shard a process of an array job is: read from what the scheduler tells it by its environment (`--shard auto`).

use super::part::{Shard, Span};

/// A scheduler, and the variables in which it tells a task of an array which one it is.
struct Scheduler {
    name: &'static str,
    /// The task's number.
    number: &'static str,
    /// The number of the first task, where the scheduler sets it; otherwise `base`.
    first: Option<&'static str>,
    base: u64,
    /// The number of the last task, where the scheduler sets it.
    last: Option<&'static str>,
    /// From one task's number to the next one's, where the scheduler sets it.
    step: Option<&'static str>,
    count: Count,
    /// What to write where the count is not told.
    remedy: &'static str,
}

/// How a scheduler tells how many tasks there are.
enum Count {
    /// In this variable.
    Told(&'static str),
    /// By the number of the last task.
    Last,
    /// Not at all.
    Untold,
}

/// In the order in which they are named in messages.
static SCHEDULERS: [Scheduler; 8] = [
    Scheduler {
        name: "Slurm",
        number: "SLURM_ARRAY_TASK_ID",
        first: Some("SLURM_ARRAY_TASK_MIN"),
        base: 1,
        last: Some("SLURM_ARRAY_TASK_MAX"),
        step: Some("SLURM_ARRAY_TASK_STEP"),
        count: Count::Told("SLURM_ARRAY_TASK_COUNT"),
        remedy: "sbatch --array=1-16 and `--shard auto/16`",
    },
    Scheduler {
        name: "Kubernetes",
        number: "JOB_COMPLETION_INDEX",
        first: None,
        base: 0,
        last: None,
        step: None,
        count: Count::Untold,
        remedy: "`--shard auto/16`, with the Job's `completions`",
    },
    Scheduler {
        name: "SGE",
        number: "SGE_TASK_ID",
        first: Some("SGE_TASK_FIRST"),
        base: 1,
        last: Some("SGE_TASK_LAST"),
        step: Some("SGE_TASK_STEPSIZE"),
        count: Count::Last,
        remedy: "qsub -t 1-16 and `--shard auto/16`",
    },
    Scheduler {
        name: "PBS",
        number: "PBS_ARRAY_INDEX",
        first: None,
        base: 1,
        last: None,
        step: None,
        count: Count::Untold,
        remedy: "qsub -J 1-16 and `--shard auto/16`",
    },
    Scheduler {
        name: "Torque",
        number: "PBS_ARRAYID",
        first: None,
        base: 1,
        last: None,
        step: None,
        count: Count::Untold,
        remedy: "qsub -t 1-16 and `--shard auto/16`",
    },
    Scheduler {
        name: "AWS Batch",
        number: "AWS_BATCH_JOB_ARRAY_INDEX",
        first: None,
        base: 0,
        last: None,
        step: None,
        count: Count::Told("AWS_BATCH_JOB_ARRAY_SIZE"),
        remedy: "`--shard auto/16`, with the job's array size",
    },
    Scheduler {
        name: "GNU parallel",
        number: "PARALLEL_SEQ",
        first: None,
        base: 1,
        last: None,
        step: None,
        count: Count::Untold,
        remedy: "`--shard auto/16`, with the number of jobs",
    },
    Scheduler {
        name: "HyperQueue",
        number: "HQ_TASK_ID",
        first: None,
        base: 1,
        last: None,
        step: None,
        count: Count::Untold,
        remedy: "`--shard auto/16`, with `hq submit --array 1-16`",
    },
];

/// What `--shard` begins with if the environment knows the rest.
const AUTO: &str = "auto";

/// The shard that `--shard` asks for, and the scheduler that it was learned from; none if the shard was written out.
///
/// `variable` gives the value of an environment variable.
///
/// # Errors
/// No shard, or an environment that does not tell one; with what to write instead.
pub fn shard(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<(Shard, Option<String>), String> {
    let of = match text.split_once('/') {
        None if text == AUTO => None,
        Some((AUTO, of)) => match of.parse() {
            Ok(of @ 1..) => Some(of),
            Ok(0) | Err(_) => return Err(format!("`{text}`: write how many shards there are, like `auto/16`")),
        },
        Some(_) | None => return text.parse().map(|shard| (shard, None)),
    };
    let told = told(&variable);
    learned(scheduler(&told, "1/4")?, of, &told)
}

/// The rows that `--rows` asks for, and the scheduler that they were learned from; none if they were written out. `auto` is the
/// row of the task's number.
///
/// # Errors
/// No rows, or an environment that does not tell one; with what to write instead.
pub fn rows(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<(Span, Option<String>), String> {
    if text != AUTO {
        return text.parse().map(|span| (span, None));
    }
    let told = told(&variable);
    let Scheduler { name, number, base, .. } = scheduler(&told, "7")?;
    let task = told(number).unwrap_or_default();
    // Where tasks count from 0, the first of them has the first row.
    let row = task.parse::<u64>().ok().and_then(|task| (task + 1).checked_sub(*base)).filter(|row| *row > 0);
    let row = row.ok_or_else(|| format!("{number} is `{task}`, and rows count from 1: write `7` instead"))?;
    Ok((Span { first: row, last: row }, Some(format!("{name}, where {number} is {task}"))))
}

/// The values of the variables that a scheduler has set.
fn told(variable: &impl Fn(&str) -> Option<String>) -> impl Fn(&str) -> Option<String> {
    // A task outside an array has the variable all the same on SGE, with this in it.
    |name: &str| variable(name).filter(|value| !value.is_empty() && value != "undefined")
}

/// The one scheduler that has said which task this is; `instead` is what may be written in place of `auto`.
fn scheduler(told: &impl Fn(&str) -> Option<String>, instead: &str) -> Result<&'static Scheduler, String> {
    let there: Vec<&Scheduler> = SCHEDULERS.iter().filter(|one| told(one.number).is_some()).collect();
    match there[..] {
        [one] => Ok(one),
        [] => {
            let known = SCHEDULERS.iter().map(|one| format!("{} ({})", one.name, one.number));
            let known = known.collect::<Vec<_>>().join(", ");
            Err(format!(
                "`auto` needs the number of a task, and no scheduler has set one: run it as a task of {known}, or write `{instead}`"
            ))
        }
        [..] => {
            let both: Vec<&str> = there.iter().map(|one| one.number).collect();
            Err(format!("{} are all set: unset the one that is not meant, or write `{instead}`", both.join(" and ")))
        }
    }
}

fn learned(
    scheduler: &Scheduler,
    of: Option<u64>,
    told: &impl Fn(&str) -> Option<String>,
) -> Result<(Shard, Option<String>), String> {
    let Scheduler { name, number, first, base, last: last_task, step, ref count, remedy } = *scheduler;
    let value = |name: &str| -> Result<Option<u64>, String> {
        let Some(text) = told(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| format!("{name} is `{text}`, which is no number: write `1/4` instead"))
    };
    let task = value(number)?.unwrap_or(base);
    let step = step.map_or(Ok(None), value)?.unwrap_or(1).max(1);
    let first = first.map_or(Ok(None), value)?.unwrap_or(base);
    let last = last_task.map_or(Ok(None), value)?;
    if let Some((name, last)) = last_task.zip(last).filter(|(_, last)| !(first..=*last).contains(&task)) {
        let what = format!("{number} is {task}, and the array ends with {name} = {last} and begins with {first}");
        return Err(format!("{what}: the environment contradicts itself, so write `1/4` instead"));
    }
    let there = match count {
        Count::Told(name) => value(name)?,
        Count::Last => last.map(|last| (last - first) / step + 1),
        Count::Untold => None,
    };
    // Of an array that runs again in part, the first task that there is now is not the first shard.
    let (first, step) = if of.is_none() || of == there { (first, step) } else { (base, 1) };
    let Some(of) = of.or(there) else {
        return Err(format!("{name} tells a task's number and not how many there are: write {remedy}"));
    };
    let place = task.checked_sub(first).filter(|after| after % step == 0).map(|after| after / step + 1);
    match place {
        Some(place) if place <= of => {
            Ok((Shard { number: place, of }, Some(format!("{name}, where {number} is {task}"))))
        }
        Some(_) | None => Err(format!("{name} tells task {task}, which is none of {of} shards: write {remedy}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(text: &str, set: &[(&str, &str)]) -> Result<(u64, u64), String> {
        let variable = |name: &str| set.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned());
        shard(text, variable).map(|(shard, _)| (shard.number, shard.of))
    }

    /// The variables are those of the schedulers' own manuals: sbatch(1), Kubernetes "Indexed Job", qsub(1) of SGE, pbs_job of
    /// OpenPBS, qsub of Torque, AWS Batch "array jobs", parallel(1).
    #[test]
    fn each_scheduler_is_understood() {
        let slurm = |id| {
            [("SLURM_ARRAY_TASK_ID", id), ("SLURM_ARRAY_TASK_MIN", "10"), ("SLURM_ARRAY_TASK_STEP", "5")]
                .into_iter()
                .chain([("SLURM_ARRAY_TASK_COUNT", "4")])
                .collect::<Vec<_>>()
        };
        assert_eq!(ask("auto", &slurm("10")), Ok((1, 4)));
        assert_eq!(ask("auto", &slurm("25")), Ok((4, 4)));
        assert_eq!(ask("auto/3", &[("JOB_COMPLETION_INDEX", "0")]), Ok((1, 3)));
        let sge = [("SGE_TASK_ID", "3"), ("SGE_TASK_FIRST", "1"), ("SGE_TASK_LAST", "8"), ("SGE_TASK_STEPSIZE", "2")];
        assert_eq!(ask("auto", &sge), Ok((2, 4)));
        assert_eq!(ask("auto/5", &[("PBS_ARRAY_INDEX", "5"), ("SGE_TASK_ID", "undefined")]), Ok((5, 5)));
        assert_eq!(ask("auto/5", &[("PBS_ARRAYID", "1")]), Ok((1, 5)));
        let batch = [("AWS_BATCH_JOB_ARRAY_INDEX", "7"), ("AWS_BATCH_JOB_ARRAY_SIZE", "8")];
        assert_eq!(ask("auto", &batch), Ok((8, 8)));
        assert_eq!(ask("auto/2", &[("PARALLEL_SEQ", "2")]), Ok((2, 2)));
    }

    /// `sbatch --array=7` after task 7 of 16 has failed: Slurm then counts one task.
    #[test]
    fn a_part_of_an_array_that_runs_again_keeps_its_numbers() {
        let again = [("SLURM_ARRAY_TASK_ID", "7"), ("SLURM_ARRAY_TASK_MIN", "7"), ("SLURM_ARRAY_TASK_COUNT", "1")];
        assert_eq!(ask("auto/16", &again), Ok((7, 16)));
    }

    #[test]
    fn a_row_is_the_tasks_number() {
        let ask = |set: &[(&str, &str)]| {
            let variable = |name: &str| set.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned());
            rows("auto", variable).map(|(span, _)| span.to_string())
        };
        assert_eq!(ask(&[("HQ_TASK_ID", "7")]), Ok("7".to_owned()));
        assert_eq!(ask(&[("JOB_COMPLETION_INDEX", "0")]), Ok("1".to_owned()));
        assert!(
            ask(&[("HQ_TASK_ID", "0")]).is_err_and(|what| what.contains("HQ_TASK_ID is `0`, and rows count from 1"))
        );
        assert!(ask(&[]).is_err_and(|what| what.contains("HyperQueue (HQ_TASK_ID), or write `7`")));
        assert_eq!(rows("3..5", |_| None).map(|(span, _)| span.to_string()), Ok("3..5".to_owned()));
    }

    #[test]
    fn an_environment_that_contradicts_itself_is_named() {
        let slurm = |id| [("SLURM_ARRAY_TASK_ID", id), ("SLURM_ARRAY_TASK_MIN", "1"), ("SLURM_ARRAY_TASK_MAX", "4")];
        let error = ask("auto/4", &slurm("5")).expect_err("5 of 4");
        assert!(error.contains("SLURM_ARRAY_TASK_ID is 5") && error.contains("SLURM_ARRAY_TASK_MAX = 4"), "{error}");
        assert_eq!(ask("auto/4", &slurm("4")), Ok((4, 4)));
    }

    #[test]
    fn what_is_not_told_is_asked_for() {
        let wrong = |text: &str, set: &[(&str, &str)]| ask(text, set).expect_err(text);
        assert!(wrong("auto", &[]).contains("GNU parallel (PARALLEL_SEQ)"));
        assert!(wrong("auto", &[("JOB_COMPLETION_INDEX", "3")]).contains("write `--shard auto/16`"));
        assert!(wrong("auto/3", &[("JOB_COMPLETION_INDEX", "3")]).contains("none of 3 shards"));
        assert!(wrong("auto/3", &[("PBS_ARRAY_INDEX", "0")]).contains("qsub -J 1-16"));
        assert!(wrong("auto/0", &[]).contains("like `auto/16`"));
        assert!(wrong("auto/3", &[("PARALLEL_SEQ", "x")]).contains("no number"));
        let two = [("PARALLEL_SEQ", "1"), ("SLURM_ARRAY_TASK_ID", "1")];
        assert!(wrong("auto/3", &two).contains("SLURM_ARRAY_TASK_ID and PARALLEL_SEQ are all set"));
        assert_eq!(ask("2/3", &two), Ok((2, 3)));
    }
}
