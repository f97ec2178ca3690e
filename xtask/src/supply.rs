//! What the program is made of: licences of all crates, and whether two builds give the same bytes.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, ExitCode},
};

/// The licences that `deny.toml` allows.
fn allowed(deny: &str) -> Vec<&str> {
    let list = deny.lines().find_map(|line| line.strip_prefix("allow = ["));
    let list = list.and_then(|list| list.split(']').next()).unwrap_or_default();
    list.split(',')
        .map(|name| name.trim().trim_matches('"'))
        .filter(|name| !name.is_empty())
        .collect()
}

/// Whether the allowed licences satisfy an expression such as `MIT OR Apache-2.0`.
fn is_satisfied(expression: &str, allowed: &[&str]) -> bool {
    let plain = expression.replace('/', " OR ").replace(['(', ')'], " ");
    plain.split(" AND ").all(|all| all.split(" OR ").any(|one| allowed.contains(&one.trim())))
}

/// Every crate of a build, `name version` and licence, as cargo lists them.
fn licences() -> Option<BTreeMap<String, String>> {
    let mut command = crate::tools::cargo();
    command.args(["tree", "--locked", "--edges", "normal,build", "--prefix", "none"]);
    let output = command.args(["--target", "all", "--format", "{p}|{l}"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let crates = text.lines().filter_map(|line| {
        let (name, licence) = line.split_once('|')?;
        let name: Vec<&str> = name.split(' ').take(2).collect();
        Some((name.join(" "), licence.trim_end_matches(" (*)").trim().to_owned()))
    });
    Some(crates.collect())
}

/// Prints the licences of all crates; fails when one is not allowed.
pub fn list_licences() -> ExitCode {
    let Some(crates) = licences() else {
        eprintln!("cargo tree failed");
        return ExitCode::FAILURE;
    };
    let deny = fs::read_to_string("deny.toml").unwrap_or_default();
    let allowed = allowed(&deny);
    let mut is_clean = !crates.is_empty();
    for (name, licence) in &crates {
        println!("{name}: {licence}");
        if !is_satisfied(licence, &allowed) {
            eprintln!("{name}: `{licence}` is not allowed by deny.toml");
            is_clean = false;
        }
    }
    if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Builds the program twice, in two directories and from two copies of the tree, and compares.
/// `--debug` compares debug builds, which takes less time.
pub fn build_twice(args: &[String]) -> ExitCode {
    let is_debug = args.iter().any(|arg| arg == "--debug");
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let mut built = Vec::new();
    for name in ["one", "another-place"] {
        let place = Path::new(&target).join("reproducible").join(name);
        let Some(bytes) = build_in(&place, is_debug) else {
            eprintln!("the build in {} failed", place.display());
            return ExitCode::FAILURE;
        };
        built.push(bytes);
    }
    let [one, other] = &built[..] else { return ExitCode::FAILURE };
    if one == other {
        println!("both builds are the same {} bytes", one.len());
        return ExitCode::SUCCESS;
    }
    let first = one.iter().zip(other).position(|(one, other)| one != other);
    eprintln!("the builds have {} and {} bytes, and differ at {first:?}", one.len(), other.len());
    ExitCode::FAILURE
}

fn build_in(place: &Path, is_debug: bool) -> Option<Vec<u8>> {
    let source = place.join("source");
    let _ = fs::remove_dir_all(&source);
    fs::create_dir_all(place).ok()?;
    let cloned = Command::new("git").args(["clone", "--quiet", "."]).arg(&source).status();
    cloned.ok().filter(std::process::ExitStatus::success)?;
    let source = source.canonicalize().ok()?;
    let home = std::env::var("CARGO_HOME")
        .or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")));
    let flags = format!(
        "--remap-path-prefix={}=. --remap-path-prefix={}=cargo",
        source.display(),
        home.ok()?
    );
    let mut command = Command::new("cargo");
    command.args(["build", "--locked", "--bin", "statedir", "--quiet"]);
    command.args((!is_debug).then_some("--release")).current_dir(&source);
    command.env("RUSTFLAGS", flags).env("SOURCE_DATE_EPOCH", "0").env("CARGO_INCREMENTAL", "0");
    command.env("CARGO_TARGET_DIR", source.join("target"));
    command.status().ok().filter(std::process::ExitStatus::success)?;
    let profile = if is_debug { "debug" } else { "release" };
    fs::read(source.join("target").join(profile).join("statedir")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_met_by_one_of_its_alternatives() {
        let allowed = allowed("[licenses]\nallow = [\"MIT\", \"Apache-2.0\"]\n");
        assert_eq!(allowed, ["MIT", "Apache-2.0"]);
        for met in ["MIT", "Apache-2.0/MIT", "GPL-3.0 OR MIT", "(MIT OR GPL-2.0) AND Apache-2.0"] {
            assert!(is_satisfied(met, &allowed), "{met}");
        }
        for unmet in ["", "GPL-3.0", "MIT AND GPL-3.0"] {
            assert!(!is_satisfied(unmet, &allowed), "{unmet}");
        }
    }
}
