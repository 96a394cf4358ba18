//! Operations over time by their public door: limits, hints, clocks that go back, iterators, rate and budget.

use core::time::Duration;

use backoff::{Budget, BudgetLimits, Generator, GiveUp, Policy, Rate, RateLimits, Retry};
use proptest::prelude::*;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The instants of all attempts, in milliseconds, if each fails at once.
fn attempts(policy: &Policy) -> (Vec<u128>, GiveUp) {
    let (mut generator, mut now, mut retry) = (Generator::new(1), ms(5000), Retry::starting_at(ms(5000)));
    let mut instants = vec![0];
    loop {
        match retry.fail(policy, now, None, &mut generator) {
            Ok(delay) => now += delay,
            Err(reason) => return (instants, reason),
        }
        instants.push((now - ms(5000)).as_millis());
    }
}

/// RFC 3261: an INVITE is sent seven times, another request eleven times, the last one 31.5 s after the first.
#[test]
fn sip_requests_are_sent_seven_and_eleven_times() {
    let invite = vec![0, 500, 1500, 3500, 7500, 15_500, 31_500];
    assert_eq!(attempts(&Policy::SIP_TIMER_A), (invite, GiveUp::ElapsedLimit));
    let other = vec![0, 500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500];
    assert_eq!(attempts(&Policy::SIP_TIMER_E), (other, GiveUp::ElapsedLimit));
}

/// A delay that ends exactly at the limit is still taken.
#[test]
fn the_elapsed_limit_counts_the_caller_s_time() {
    let policy = Policy::constant(ms(100)).with_elapsed_limit(ms(1000));
    let (mut generator, mut retry) = (Generator::new(1), Retry::starting_at(ms(50)));
    assert_eq!(retry.fail(&policy, ms(950), None, &mut generator), Ok(ms(100)));
    assert_eq!(retry.fail(&policy, ms(951), None, &mut generator), Err(GiveUp::ElapsedLimit));
    assert_eq!(retry.failures(), 2);
}

/// Time that goes back counts as the start, and never as a huge span.
#[test]
fn a_clock_that_goes_back_does_not_give_up() {
    let policy = Policy::constant(ms(100)).with_elapsed_limit(ms(1000));
    let (mut generator, mut retry) = (Generator::new(1), Retry::starting_at(ms(5000)));
    assert_eq!(retry.fail(&policy, ms(1), None, &mut generator), Ok(ms(100)));
    assert_eq!(retry.start_ns(), 5_000_000_000);
}

/// Retry-After: at least that, jitter on top; it beats the cap, and gives up where it passes the elapsed limit.
#[test]
fn a_hint_moves_the_delay_up_and_keeps_its_jitter() {
    let policy = Policy::full_jitter(ms(100), ms(400)).with_cap(ms(400)).with_elapsed_limit(ms(60_000));
    let mut delays = Vec::new();
    for seed in 0..1000 {
        let mut retry = Retry::resume(4, 0, 0);
        delays.push(retry.fail(&policy, ms(0), Some(ms(7000)), &mut Generator::new(seed)).expect("within the limit"));
    }
    let (least, most) = (*delays.iter().min().expect("1000"), *delays.iter().max().expect("1000"));
    assert!((ms(7000)..ms(7010)).contains(&least) && (ms(7390)..=ms(7400)).contains(&most), "{least:?} {most:?}");
    let late = Retry::starting_at(ms(0)).fail(&policy, ms(55_000), Some(ms(5001)), &mut Generator::new(1));
    assert_eq!(late, Err(GiveUp::ElapsedLimit));
    let mut sooner = Retry::starting_at(ms(0));
    let delay = sooner.fail(&Policy::constant(ms(100)), ms(0), Some(ms(10)), &mut Generator::new(1));
    assert_eq!(delay, Ok(ms(100)), "a hint never shortens");
    assert_eq!(
        sooner
            .fail(&Policy::constant(ms(100)), ms(0), Some(Duration::MAX), &mut Generator::new(1))
            .map(|d| d.as_nanos()),
        Ok(u128::from(u64::MAX))
    );
}

/// The first draw of decorrelated jitter is from [base, 3 · base], and the chain is that of the iterator.
#[test]
fn an_operation_draws_what_the_iterator_draws() {
    for policy in
        [Policy::decorrelated_jitter(ms(10), ms(5000)), Policy::GOOGLE_HTTP, Policy::aloha_geometric(ms(1), 9)]
    {
        let (mut generator, mut retry) = (Generator::stream(3, 4), Retry::starting_at(ms(0)));
        for delay in policy.delays(Generator::stream(3, 4)).take(50) {
            assert_eq!(retry.fail(&policy.with_elapsed_limit(Duration::ZERO), ms(0), None, &mut generator), Ok(delay));
        }
    }
}

/// The iterator in constants, its length, and its second round.
#[test]
fn the_iterator_ends_at_the_attempt_limit() {
    const POLICY: Policy = Policy::constant(Duration::from_millis(3)).with_attempt_limit(4);
    let mut delays = POLICY.delays(Generator::new(1));
    assert_eq!(delays.size_hint(), (3, Some(3)));
    assert_eq!(delays.by_ref().collect::<Vec<_>>(), [ms(3); 3]);
    assert_eq!((delays.next(), delays.size_hint()), (None, (0, Some(0))));
    delays.reset();
    assert_eq!(delays.count(), 3);
}

/// `backon` takes the iterator as it is.
#[test]
fn backon_takes_the_iterator_as_it_is() {
    use backon::BlockingRetryable;
    let (mut calls, (sender, slept)) = (0, std::sync::mpsc::channel());
    let fetch = || {
        calls += 1;
        if calls < 4 { Err("busy") } else { Ok(calls) }
    };
    let delays = Policy::full_jitter(ms(100), ms(400)).with_attempt_limit(8).delays(Generator::stream(1, 1));
    let result =
        fetch.retry(delays.clone()).sleep(move |delay| sender.send(delay).expect("it is received below")).call();
    assert_eq!(result, Ok(4));
    assert_eq!(slept.try_iter().collect::<Vec<_>>(), delays.take(3).collect::<Vec<_>>());
}

/// `tokio-retry` takes the iterator as it is.
#[test]
fn tokio_retry_takes_the_iterator_as_it_is() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let mut calls = 0;
    let delays = Policy::constant(ms(1)).with_attempt_limit(3).delays(Generator::new(1));
    let result: Result<(), i32> = runtime.block_on(tokio_retry::Retry::start(delays, || {
        calls += 1;
        let calls = calls;
        async move { Err(calls) }
    }));
    assert_eq!((result, calls), (Err(3), 3));
}

/// Any generator of rand_core: here one that always says the most.
#[test]
fn any_generator_of_rand_core_draws() {
    struct Most;
    impl backoff::rand_core::TryRng for Most {
        type Error = core::convert::Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            Ok(u32::MAX)
        }
        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            Ok(u64::MAX)
        }
        fn try_fill_bytes(&mut self, octets: &mut [u8]) -> Result<(), Self::Error> {
            octets.fill(0xFF);
            Ok(())
        }
    }
    let delays: Vec<_> = Policy::full_jitter(ms(100), ms(300)).delays(Most).take(3).collect();
    assert_eq!(delays, [ms(100), ms(200), ms(300)]);
}

const RATE: RateLimits = RateLimits::new(ms(10)).with_cooling_off(ms(1000)).with_cooling_off_limit(ms(4000));

/// f = 1/b^c at once; one level back after each cooling-off period.
#[test]
fn the_rate_falls_at_once_and_recovers_slowly() {
    let mut rate = Rate::new();
    for event in 1..=3 {
        rate.adverse_event(&RATE, ms(0));
        assert_eq!(rate.interval(&RATE, ms(0)), ms(10 << event));
    }
    assert_eq!(rate.level(&RATE, ms(999)), 3);
    assert_eq!(rate.level(&RATE, ms(1000)), 2);
    assert_eq!(rate.level(&RATE, ms(1999)), 2);
    assert_eq!(rate.level(&RATE, ms(2000)), 1);
    assert_eq!(rate.level(&RATE, ms(3000)), 0);
    assert_eq!(rate.interval(&RATE, ms(3000)), ms(10));
}

/// Who recovers too early cools off longer: 1, 2, 4, 4 s; the full rate starts over with 1 s.
#[test]
fn the_cooling_off_period_backs_off() {
    let (mut rate, mut now) = (Rate::new(), 0);
    rate.adverse_event(&RATE, ms(now));
    rate.adverse_event(&RATE, ms(now));
    for period in [1000, 2000, 4000, 4000] {
        assert_eq!(rate.level(&RATE, ms(now + period - 1)), 2, "{period}");
        now += period;
        assert_eq!(rate.level(&RATE, ms(now)), 1, "{period}");
        rate.adverse_event(&RATE, ms(now));
    }
    now += 8000;
    assert_eq!(rate.level(&RATE, ms(now)), 0);
    rate.adverse_event(&RATE, ms(now));
    assert_eq!(rate.level(&RATE, ms(now + 1000)), 0);
}

/// Actions are spaced by the interval; a refusal says how long, and changes nothing.
#[test]
fn actions_are_spaced_by_the_interval() {
    let mut rate = Rate::new();
    assert_eq!(rate.act(&RATE, ms(100)), Ok(()));
    assert_eq!(rate.act(&RATE, ms(103)), Err(ms(7)));
    assert_eq!(rate.act(&RATE, ms(50)), Err(ms(10)), "a clock that goes back");
    assert_eq!(rate.act(&RATE, ms(110)), Ok(()));
    rate.adverse_event(&RATE, ms(110));
    assert_eq!(rate.act(&RATE, ms(120)), Err(ms(10)));
    assert_eq!(rate.act(&RATE, ms(130)), Ok(()));
}

/// However long the server is down, retries add a tenth of the load.
#[test]
fn retries_add_no_more_than_their_share() {
    const LIMITS: BudgetLimits = BudgetLimits::new(5);
    let (mut budget, mut retries) = (Budget::full(&LIMITS), 0);
    for _ in 0..1000 {
        budget.deposit(&LIMITS);
        while budget.withdraw(&LIMITS) {
            retries += 1;
        }
    }
    // The first deposit finds the bucket full.
    assert_eq!(retries, 5 + 99);
    assert_eq!(Budget::holding(&LIMITS, u64::MAX), Budget::full(&LIMITS));
}

proptest! {
    /// Any order of instants, any limits: an answer, never an interval of 0, never a level above its limit.
    #[test]
    fn rate_and_budget_are_total(
        (interval, cooling, limit) in any::<(u64, u64, u64)>(), (base, levels) in any::<(u32, u32)>(),
        inputs in prop::collection::vec((any::<bool>(), prop_oneof![any::<u64>(), 0..100_u64]), 0..50),
    ) {
        let nanos = Duration::from_nanos;
        let limits = RateLimits::new(nanos(interval)).with_base(base).with_level_limit(levels)
            .with_cooling_off(nanos(cooling)).with_cooling_off_limit(nanos(limit));
        let mut rate = Rate::new();
        for (adverse, now) in inputs {
            if adverse { rate.adverse_event(&limits, nanos(now)); } else { let _ = rate.act(&limits, nanos(now)); }
            prop_assert!(rate.interval(&limits, nanos(now)) > Duration::ZERO);
            prop_assert!(levels == 0 || rate.level(&limits, nanos(now)) <= levels);
            prop_assert_eq!(Rate::from_parts(rate.parts()), rate);
        }
    }

    /// Any state and any instant: an answer within the limits.
    #[test]
    fn operations_are_total((failures, previous, start, now, hint) in any::<(u64, u64, u64, u64, u64)>(), seed in any::<u64>()) {
        let policy = Policy::decorrelated_jitter(ms(1), ms(5000)).with_elapsed_limit(ms(100_000));
        let mut retry = Retry::resume(failures, previous, start);
        if let Ok(delay) = retry.fail_ns(&policy, now, hint, &mut Generator::new(seed)) {
            prop_assert!(delay >= hint);
            prop_assert!(now.saturating_sub(start).saturating_add(delay) <= 100_000_000_000);
        }
        prop_assert_eq!(retry.failures(), failures.saturating_add(1));
    }
}
