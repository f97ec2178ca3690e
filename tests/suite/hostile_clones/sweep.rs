//! Clones spoiled at random, and every command and hook event run in them.
//!
//! `STATEDIR_SWEEP=full` runs everything in two hundred clones; every
//! command runs once always. The number of a clone instead runs everything in that one.

use std::sync::{
    Mutex,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use super::{
    acts,
    ground::{Carrier, Ground},
    spoiling,
};
use crate::needs;
use crate::random::Random;

/// Runs every `step`th act in the clone with a number; returns what went wrong, and how many ran.
fn sweep(seed: u64, step: usize) -> (Vec<String>, usize) {
    let mut dice = Random(0x9e37_79b9_7f4a_7c15 ^ seed.wrapping_mul(0xbf58_476d_1ce4_e5b9).max(1));
    let carrier = if dice.below(2) == 0 { Carrier::Clone } else { Carrier::Copy };
    let mut done = Vec::new();
    let spoiled = Ground::new(carrier, |ground| {
        done = spoiling::spoil(ground, carrier, &mut dice);
    });
    let (mut wrong, mut ran) = (Vec::new(), 0);
    let acts = acts::all(&spoiled.clone_dir()).into_iter().enumerate();
    // Neighbours in the list are alike: a step spreads what is run, and every seed begins elsewhere.
    for (_, act) in acts.filter(|(at, _)| (at + seed as usize).is_multiple_of(step)) {
        let ground = spoiled.again();
        let harm = ground.harm(&act);
        ran += 1;
        if !harm.is_empty() {
            let args = act.args.join(" ");
            let input = String::from_utf8_lossy(&act.input);
            let harm = harm.join("\n    ");
            wrong.push(format!("{seed} {carrier:?} {done:?}\n  {args} {input:.80}\n    {harm}"));
        }
    }
    (wrong, ran)
}

#[test]
fn no_command_and_no_hook_harms_the_machine_in_a_hostile_clone() {
    if !needs::program("strace") {
        return;
    }
    let wanted = std::env::var("STATEDIR_SWEEP").unwrap_or_default();
    let (seeds, step) = match wanted.parse::<u64>() {
        Ok(seed) => (seed..=seed, 1),
        Err(_) if wanted == "full" => (1..=200, 1),
        Err(_) => (1..=24, 24),
    };
    let (next, ran, wrong) =
        (AtomicU64::new(*seeds.start()), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(seed) = {
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| seeds.contains(seed))
                } {
                    let (found, count) = sweep(seed, step);
                    ran.fetch_add(count, Ordering::Relaxed);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    let (ran, wrong) = (ran.into_inner(), wrong.into_inner().unwrap());
    eprintln!("{ran} commands in {} clones", seeds.clone().count());
    assert!(wrong.is_empty(), "{} did harm\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(ran >= 100, "only {ran} commands ran");
}
