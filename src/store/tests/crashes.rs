//! Stopping and failing the store at every call.

use std::sync::Arc;

use super::script::*;
use crate::store::{
    disk::sim::{Fault, Loss, SimDisk},
    *,
};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
/// Small enough for several rotations in the script.
const ROTATE_AT: u64 = 1500;

/// How one disturbed run went.
struct Disturbed {
    disk: SimDisk,
    store: Store,
    /// The step in which the fault happened, and whether it was acknowledged.
    at: usize,
    acknowledged: bool,
}

impl Disturbed {
    /// A copy with an independent disk.
    fn fork(&self) -> Disturbed {
        let disk = self.disk.fork();
        let store = Store::with_disk(self.store.layout.clone(), Arc::new(disk.clone()));
        let store = store.rotating_at(ROTATE_AT);
        Disturbed { disk, store, at: self.at, acknowledged: self.acknowledged }
    }
}

/// The script without a fault: the disk before each step, and how many calls came before it.
struct Beginnings {
    of_steps: Vec<(SimDisk, u64)>,
    count_reads: bool,
}

impl Beginnings {
    fn record(count_reads: bool, lie: bool) -> Beginnings {
        let (disk, store) = sim();
        let store = store.rotating_at(ROTATE_AT);
        if lie {
            disk.lie_about_syncs();
        }
        disk.arm(u64::MAX, Fault::CrashBefore, count_reads);
        let mut of_steps = Vec::new();
        for step in script() {
            of_steps.push((disk.fork(), disk.calls()));
            run(&store, &disk, &step).unwrap();
        }
        Beginnings { of_steps, count_reads }
    }

    /// Runs the script until the fault happens, from the step with that call on; `None` when there
    /// is no such call.
    fn disturb(&self, call: u64, fault: Fault) -> Option<Disturbed> {
        let first = self.of_steps.iter().rposition(|(_, before)| *before < call)?;
        let (start, before) = &self.of_steps[first];
        let disk = start.fork();
        let store = Store::with_disk(layout(&state_dir()), Arc::new(disk.clone()));
        let store = store.rotating_at(ROTATE_AT);
        disk.arm(call - before, fault, self.count_reads);
        for (at, step) in script().iter().enumerate().skip(first) {
            let result = run(&store, &disk, step);
            if disk.fired() {
                return Some(Disturbed { disk, store, at, acknowledged: result.is_ok() });
            }
            result.unwrap();
        }
        None
    }
}

/// Opens again, reading and writing, and gives what both see.
fn reopen(run: &Disturbed) -> Picture {
    run.disk.freeze(true);
    let view = run.store.read(WAIT).unwrap();
    let seen = picture(&view);
    run.disk.freeze(false);
    let transaction = run.store.begin(WAIT, &holder("t8")).unwrap();
    assert_eq!(picture(transaction.view()), seen, "reader and writer see the same");
    assert_eq!(transaction.view().revision, view.revision, "and the same revision");
    drop(transaction);
    for name in FILES {
        let expected = seen.files.get(*name).cloned();
        assert_eq!(run.disk.peek(&state_dir().join(name)), expected, "`{name}` on disk");
    }
    let growing = run.disk.peek(&state_dir().join(GROWING)).unwrap_or_default();
    assert_eq!(growing, seen.appended);
    run.store.operations(None).unwrap();
    seen
}

/// The rest of the script works as if nothing had happened.
fn finish(run: &Disturbed, seen: &Picture, pictures: &[Picture]) {
    let next = if *seen == pictures[run.at + 1] { run.at + 1 } else { run.at };
    for (step, expected) in script().iter().zip(&pictures[1..]).skip(next) {
        super::script::run(&run.store, &run.disk, step).unwrap();
        assert_eq!(picture(&run.store.read(WAIT).unwrap()), *expected, "after {step:?}");
    }
}

fn sweep(fault: Fault, count_reads: bool, check: impl Fn(u64, &Disturbed)) -> u64 {
    let beginnings = Beginnings::record(count_reads, false);
    let mut call = 0;
    while let Some(run) = beginnings.disturb(call + 1, fault) {
        call += 1;
        check(call, &run);
    }
    call
}

#[test]
fn a_crash_at_any_call_leaves_all_or_nothing() {
    let pictures = pictures(ROTATE_AT);
    for fault in [Fault::CrashBefore, Fault::CrashWithin, Fault::CrashAfter] {
        let calls = sweep(fault, false, |call, run| {
            run.disk.restart();
            let seen = reopen(run);
            let allowed = [&pictures[run.at], &pictures[run.at + 1]];
            assert!(
                allowed.contains(&&seen) && (!run.acknowledged || seen == *allowed[1]),
                "{fault:?} at call {call} in step {}: {seen:?}",
                run.at
            );
            finish(run, &seen, &pictures);
        });
        assert!(calls > 150, "only {calls} faults fired");
    }
}

#[test]
fn an_error_at_any_call_changes_nothing_or_is_only_a_warning() {
    let pictures = pictures(ROTATE_AT);
    for code in [EIO, ENOSPC] {
        let calls = sweep(Fault::Fails(code), true, |call, run| {
            run.disk.restart();
            let seen = reopen(run);
            let expected = &pictures[run.at + usize::from(run.acknowledged)];
            // A collection that failed half-way has dropped something, but no state.
            assert_eq!(seen, *expected, "error {code} at call {call} in step {}", run.at);
            finish(run, &seen, &pictures);
        });
        assert!(calls > 400, "only {calls} faults fired");
    }
}

/// All patterns of loss: what becomes of unsynced data, and which renames survive. Of the latter
/// `STATEDIR_PROVE_SIZE` and `STATEDIR_PROVE_SEED` choose others.
fn losses() -> Vec<(Loss, u64)> {
    let data = [Loss::Old, Loss::Kept, Loss::Zeros, Loss::Half, Loss::Garbage];
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let (Some(size), Some(seed)) = (number("STATEDIR_PROVE_SIZE"), number("STATEDIR_PROVE_SEED"))
    {
        let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        return data.into_iter().cycle().take(size as usize).map(|loss| (loss, next())).collect();
    }
    let names = [0, u64::MAX, 0x5555_5555_5555_5555, 0xAAAA_AAAA_AAAA_AAAA, 0x9249_2492_4924_9249];
    data.into_iter().flat_map(|loss| names.map(|survivors| (loss, survivors))).collect()
}

/// Pulls the plug around every call, in every way, and counts outcomes that are not allowed.
fn lose_power_everywhere(lie: bool) -> (u64, u64) {
    let pictures = pictures(ROTATE_AT);
    let beginnings = Beginnings::record(false, lie);
    let (mut runs, mut lost) = (0, 0);
    for fault in [Fault::CrashBefore, Fault::CrashAfter] {
        let mut call = 0;
        while let Some(crashed) = beginnings.disturb(call + 1, fault) {
            call += 1;
            for (loss, survivors) in losses() {
                runs += 1;
                let run = crashed.fork();
                run.disk.lose_power(loss, survivors);
                let mut allowed = vec![&pictures[run.at], &pictures[run.at + 1]];
                if run.at > 0 && script()[run.at - 1].is_edit() {
                    // An edit nobody recorded is set aside when the head cache is lost too.
                    allowed.push(&pictures[run.at - 1]);
                }
                if lie {
                    let seen = run.store.read(WAIT).map(|view| picture(&view));
                    lost += u64::from(!seen.is_ok_and(|seen| allowed.contains(&&seen)));
                    continue;
                }
                let seen = reopen(&run);
                assert!(
                    allowed.contains(&&seen),
                    "{loss:?} {survivors:x} {fault:?} at call {call} in step {}: {seen:?}",
                    run.at
                );
                // Going on with the script after each would take long and find little more.
                if (runs + call) % 23 == 0 && allowed[..2].contains(&&seen) {
                    finish(&run, &seen, &pictures);
                }
            }
        }
    }
    (runs, lost)
}

#[test]
fn a_power_loss_at_any_call_loses_nothing_acknowledged() {
    let (runs, lost) = lose_power_everywhere(false);
    println!("proved: {runs} states after a power loss");
    assert!(runs > 5000, "only {runs} runs");
    assert_eq!(lost, 0);
}

#[test]
fn the_power_loss_sweep_notices_a_disk_that_does_not_sync() {
    let (runs, lost) = lose_power_everywhere(true);
    assert!(lost > runs / 20, "{lost} of {runs} runs lost something");
}

/// Recovery itself is stopped at every call, twice in a row, with and without a power loss.
#[test]
fn an_interrupted_recovery_can_be_interrupted_again() {
    let pictures = pictures(ROTATE_AT);
    let beginnings = Beginnings::record(false, false);
    let mut interruptions = 0;
    let mut call = 0;
    while let Some(crashed) = beginnings.disturb(call + 1, Fault::CrashAfter) {
        call += 3;
        for (loss, survivors) in [(Loss::Half, 0x5555), (Loss::Zeros, u64::MAX), (Loss::Garbage, 0)]
        {
            let first = crashed.fork();
            first.disk.lose_power(loss, survivors);
            let expected = picture(&first.store.read(WAIT).unwrap());
            assert!(pictures.contains(&expected));
            for again in 1.. {
                let run = first.fork();
                run.disk.arm(again, Fault::CrashAfter, false);
                drop(run.store.begin(WAIT, &holder("t6")));
                if !run.disk.fired() {
                    break;
                }
                interruptions += 1;
                let power = run.fork();
                run.disk.restart();
                assert_eq!(reopen(&run), expected, "call {call}, then call {again}");
                power.disk.lose_power(loss, !survivors);
                assert_eq!(reopen(&power), expected, "call {call}, then power loss at {again}");
            }
        }
    }
    assert!(interruptions > 700, "only {interruptions}");
}
