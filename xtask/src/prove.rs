//! `cargo xtask prove`: the sweeps of the check at any size, in slices, with a report that a later
//! run goes on with.
//!
//! A slice is one run of a test with `STATEDIR_PROVE_SIZE` and `STATEDIR_PROVE_SEED`; the seed is
//! that of the first slice plus the number of the slice. The test prints `proved: N …`, and N is
//! what counts towards the size of the part. A slice that failed is not noted: it is run again.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::Instant,
};

/// What can be proved, and how large the full run is.
struct Part {
    name: &'static str,
    /// What is counted.
    unit: &'static str,
    size: u64,
    slice: u64,
    how: How,
}

enum How {
    /// A test that reads both variables and prints what it did.
    Test(&'static [&'static str], &'static str),
    /// Property tests, with the number of cases that each runs.
    Properties(&'static [&'static str]),
    /// Every fuzz target, with the seconds for each.
    Fuzz,
}

const LIB: &[&str] = &["--lib"];
const SUITE: &[&str] = &["--test", "suite"];

const PARTS: [Part; 7] = [
    Part {
        name: "faults",
        unit: "faults",
        size: 20_000,
        slice: 1,
        how: How::Test(SUITE, "faults::a_fault_in_any_system_call"),
    },
    Part {
        name: "power",
        unit: "states after a power loss",
        size: 50_000,
        slice: 25,
        how: How::Test(LIB, "a_power_loss_at_any_call_loses_nothing_acknowledged"),
    },
    Part {
        name: "parallel",
        unit: "changes",
        size: 320_000,
        slice: 100,
        how: How::Test(SUITE, "parallel::nothing_is_lost_among_kills"),
    },
    Part {
        name: "edits",
        unit: "edits, at least",
        size: 1_000_000,
        slice: 1_000,
        how: How::Properties(&[
            "text::markdown::tests::properties",
            "text::json::tests::properties",
        ]),
    },
    Part {
        name: "texts",
        unit: "texts",
        size: 20_000,
        slice: 50,
        how: How::Test(LIB, "workspace::tests::texts::every_text_is_kept_or_refused"),
    },
    Part {
        name: "merges",
        unit: "histories",
        size: 1_000,
        slice: 5,
        how: How::Test(SUITE, "merge::sweep::generated_merges"),
    },
    // An hour for each of the nine targets.
    Part { name: "fuzz", unit: "seconds", size: 3_600 * 9, slice: 900, how: How::Fuzz },
];

const USAGE: &str = "usage: cargo xtask prove [PART]... [--size N] [--seed N] [--restart]";

/// What the command line asks for.
struct Wanted {
    parts: Vec<&'static Part>,
    size: Option<u64>,
    seed: u64,
    restart: bool,
}

fn wanted(args: impl Iterator<Item = String>) -> Result<Wanted, String> {
    let mut wanted = Wanted { parts: Vec::new(), size: None, seed: 1, restart: false };
    let mut args = args.peekable();
    while let Some(arg) = args.next() {
        let mut number = || {
            let given = args.next().and_then(|text| text.replace('_', "").parse().ok());
            given.ok_or_else(|| format!("`{arg}` needs a number"))
        };
        match arg.as_str() {
            "--size" => wanted.size = Some(number()?),
            "--seed" => wanted.seed = number()?,
            "--restart" => wanted.restart = true,
            name => match PARTS.iter().find(|part| part.name == name) {
                Some(part) => wanted.parts.push(part),
                None => {
                    let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
                    return Err(format!("there is no part `{name}`: {}", names.join(", ")));
                }
            },
        }
    }
    if wanted.parts.is_empty() {
        wanted.parts.extend(&PARTS);
    }
    Ok(wanted)
}

/// Runs the parts that are named, or all of them.
pub fn run(args: impl Iterator<Item = String>) -> ExitCode {
    let wanted = match wanted(args) {
        Ok(wanted) => wanted,
        Err(why) => {
            eprintln!("{why}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let dir = Path::new(&target).join("prove");
    if let Err(error) = fs::create_dir_all(&dir) {
        eprintln!("{}: {error}", dir.display());
        return ExitCode::FAILURE;
    }
    let mut holds = true;
    for part in wanted.parts {
        let report = dir.join(format!("{}-seed-{}.txt", part.name, wanted.seed));
        if wanted.restart {
            let _ = fs::remove_file(&report);
        }
        holds &= prove(part, wanted.size.unwrap_or(part.size), wanted.seed, &report);
    }
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs slices of a part until it is large enough; `false` when one of them fails.
fn prove(part: &Part, size: u64, seed: u64, report: &Path) -> bool {
    let (mut slices, mut done) = progress_in(&fs::read_to_string(report).unwrap_or_default());
    println!("==> {}: {done} of {size} {} in {}", part.name, part.unit, report.display());
    while done < size {
        let started = Instant::now();
        let Some((count, report_lines)) = slice(part, seed + slices) else {
            eprintln!("==> {}: the slice with seed {} failed", part.name, seed + slices);
            return false;
        };
        if count == 0 {
            println!("==> {}: nothing is left to try", part.name);
            break;
        }
        done += count;
        let seconds = started.elapsed().as_secs();
        let line = format!("slice {slices}: {count} {} in {seconds} s ({report_lines})", part.unit);
        println!("{line}; {done} in all");
        if let Err(error) = note(report, &line) {
            eprintln!("{}: {error}", report.display());
            return false;
        }
        slices += 1;
    }
    println!("==> {}: {done} {}, all as they should be", part.name, part.unit);
    true
}

/// How many slices a report tells of, and how much they did.
fn progress_in(report: &str) -> (u64, u64) {
    let counts = report.lines().filter_map(|line| {
        let (_, rest) = line.strip_prefix("slice ")?.split_once(": ")?;
        rest.split(' ').next()?.parse::<u64>().ok()
    });
    counts.fold((0, 0), |(slices, done), count| (slices + 1, done + count))
}

fn note(report: &Path, line: &str) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(report)?;
    if file.metadata()?.len() == 0 {
        let output = |program: &str, args: &[&str]| {
            let output = Command::new(program).args(args).output();
            output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let commit = output("git", &["rev-parse", "--short", "HEAD"]).unwrap_or_default();
        let machine = output("uname", &["-srm"]).unwrap_or_default();
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let build = if is_release() { "release" } else { "debug" };
        writeln!(file, "commit {commit}, {machine}, {cores} cores, {build} build")?;
    }
    writeln!(file, "{line}")
}

/// Whether the program under test is the one that is shipped: `STATEDIR_PROVE_RELEASE=1`.
fn is_release() -> bool {
    std::env::var_os("STATEDIR_PROVE_RELEASE").is_some_and(|value| value == "1")
}

/// Runs one slice: how much it did, and what it said about it.
fn slice(part: &Part, seed: u64) -> Option<(u64, String)> {
    match part.how {
        How::Test(target, name) => test(target, &[name], part.slice, seed, false),
        How::Properties(names) => test(LIB, names, part.slice, seed, true),
        How::Fuzz => fuzz(part.slice, seed),
    }
}

fn test(
    target: &[&str],
    names: &[&str],
    size: u64,
    seed: u64,
    each: bool,
) -> Option<(u64, String)> {
    let mut command = crate::tools::cargo();
    command.arg("test").args(is_release().then_some("--release")).args(target);
    command.args(["--", "--nocapture"]).args(names);
    command.env("STATEDIR_PROVE_SIZE", size.to_string());
    command.env("STATEDIR_PROVE_SEED", seed.to_string());
    command.env("PROPTEST_CASES", size.to_string()).env("PROPTEST_RNG_SEED", seed.to_string());
    let output = command.stderr(Stdio::inherit()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        eprint!("{text}");
        return None;
    }
    if each {
        let passed = text.lines().filter_map(|line| {
            line.strip_prefix("test result: ok. ")?.split(' ').next()?.parse::<u64>().ok()
        });
        let tests: u64 = passed.sum();
        return Some((tests * size, format!("{tests} properties")));
    }
    let report_lines: Vec<&str> =
        text.lines().filter_map(|line| Some(line.split_once("proved: ")?.1)).collect();
    let counts = report_lines
        .iter()
        .filter_map(|report_lines| report_lines.split(' ').next()?.parse::<u64>().ok());
    let count = counts.sum();
    (!report_lines.is_empty()).then(|| (count, report_lines.join("; ")))
}

/// Each target for its share of the seconds, with the corpus in the tree as a beginning.
fn fuzz(seconds: u64, seed: u64) -> Option<(u64, String)> {
    let targets: Vec<PathBuf> = fs::read_dir("fuzz/fuzz_targets")
        .ok()?
        .filter_map(|file| Some(file.ok()?.path()))
        .collect();
    let share = seconds / targets.len().max(1) as u64;
    let mut runs = 0;
    for target in &targets {
        let name = target.file_stem()?.to_str()?;
        let mut command = crate::tools::cargo();
        // What is found on the way stays out of the tree; the corpus in it is read only.
        let found = format!("target/prove/corpus/{name}");
        fs::create_dir_all(&found).ok()?;
        let begin = format!("fuzz/corpus/{name}");
        command.args(["fuzz", "run", "--sanitizer", "none", name, &found, &begin]);
        command.args(["--", &format!("-max_total_time={share}"), &format!("-seed={seed}")]);
        command.arg("-print_final_stats=1");
        let output = command.output().ok()?;
        let text = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            eprint!("{text}");
            return None;
        }
        let executed = text.lines().find_map(|line| {
            line.strip_prefix("stat::number_of_executed_units:")?.trim().parse::<u64>().ok()
        });
        runs += executed?;
    }
    Some((seconds, format!("{} targets, {runs} inputs", targets.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Wanted, String> {
        wanted(args.iter().map(ToString::to_string))
    }

    #[test]
    fn parts_sizes_and_seeds_are_read() {
        let given = parsed(&["power", "--size", "50_000", "--seed", "7"]).unwrap();
        assert_eq!((given.parts.len(), given.parts[0].name), (1, "power"));
        assert_eq!((given.size, given.seed, given.restart), (Some(50_000), 7, false));
        assert_eq!(parsed(&[]).unwrap().parts.len(), PARTS.len());
        assert!(parsed(&["nothing"]).is_err() && parsed(&["--size"]).is_err());
    }

    #[test]
    fn a_report_is_gone_on_with() {
        let report =
            "commit x\nslice 0: 812 faults in 9 s (812 faults)\nslice 1: 8 faults in 1 s ()\n";
        assert_eq!(progress_in(report), (2, 820));
        assert_eq!(progress_in(""), (0, 0));
    }
}
