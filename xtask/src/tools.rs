//! External tools of the check, and how CI installs them.

use std::process::{Command, Stdio};

/// What the tests start, a line each: program, arguments that show that it works, package, why.
const PROGRAMS: &str = include_str!("../../tests/programs.txt");

/// How the dependency audit went.
pub enum Audit {
    Passed,
    Failed,
    /// Licences and sources are fine; the list of advisories could not be fetched.
    WithoutAdvisories,
    Skipped,
}

/// Cargo, without the variables that `cargo run` set about the package `xtask`: build scripts that read
/// them would run again, and everything that depends on them would be rebuilt.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let starts = |with| name.to_str().is_some_and(|name| name.starts_with(with));
        if starts("CARGO_MANIFEST_") || starts("CARGO_PKG_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Whether nothing may be skipped.
pub fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

/// Installs what is missing, where that is possible. What is missing afterwards is reported by the
/// tests that need it: under CI they fail.
pub fn install_missing() {
    for (component, command) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        if !succeeds("cargo", &[command, "--version"]) {
            println!("==> installing the component {component}");
            report(component, succeeds_visibly("rustup", &["component", "add", component]));
        }
    }
    let packages = missing_packages(PROGRAMS, succeeds);
    if !packages.is_empty() {
        println!("==> installing {}", packages.join(", "));
        let install = [&["install", "--no-install-recommends"], &packages[..]].concat();
        report(&packages.join(", "), apt_get(&["update"]) && apt_get(&install));
    }
}

/// Checks licences, advisories and sources of the dependencies by `deny.toml`.
pub fn audit() -> Audit {
    if !succeeds("cargo", &["deny", "--version"]) {
        return Audit::Skipped;
    }
    println!("==> dependency audit: cargo deny check");
    if !succeeds_visibly("cargo", &["deny", "--workspace", "check", "licenses", "bans", "sources"])
    {
        return Audit::Failed;
    }
    match advisories() {
        Some(true) => Audit::Passed,
        Some(false) => Audit::Failed,
        None => Audit::WithoutAdvisories,
    }
}

/// Whether no advisory applies; `None` where their list cannot be fetched.
fn advisories() -> Option<bool> {
    let mut command = Command::new("cargo");
    command.args(["deny", "--workspace", "check", "advisories"]);
    let output = command.output().ok()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && stderr.contains("failed to fetch advisory database") {
        return None;
    }
    eprint!("{stderr}");
    Some(output.status.success())
}

/// The packages of the programs that do not work, each once.
fn missing_packages(programs: &str, works: impl Fn(&str, &[&str]) -> bool) -> Vec<&str> {
    let mut packages = Vec::new();
    for line in programs.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [program, probe, package, _why] = columns[..] else { continue };
        let probe: Vec<&str> = probe.split_whitespace().collect();
        if !packages.contains(&package) && !works(program, &probe) {
            packages.push(package);
        }
    }
    packages
}

/// As root, or as somebody who may become root without being asked.
fn apt_get(args: &[&str]) -> bool {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    let sudo: &[&str] = if is_root { &[] } else { &["sudo", "--non-interactive"] };
    let words = [sudo, &["apt-get", "--quiet", "--yes"], args].concat();
    succeeds_visibly(words[0], &words[1..])
}

fn report(what: &str, is_installed: bool) {
    if !is_installed {
        eprintln!("==> {what} could not be installed");
    }
}

/// Whether the program succeeds with these arguments, in silence.
fn succeeds(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The same, with its output shown.
fn succeeds_visibly(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packages_of_programs_that_do_not_work_are_missing() {
        let list = "# a | b | c | d\none | x y | pack | why\ntwo | - | pack | why\nsix | - | p | w";
        assert_eq!(missing_packages(list, |_, _| false), ["pack", "p"]);
        assert_eq!(
            missing_packages(list, |name, args| name != "one" || args != ["x", "y"]),
            ["pack"]
        );
        assert!(missing_packages(list, |_, _| true).is_empty());
    }

    #[test]
    fn every_line_of_the_list_has_its_columns() {
        let lines = PROGRAMS.lines().filter(|line| !line.starts_with('#'));
        assert!(lines.clone().count() >= 8);
        assert_eq!(lines.clone().find(|line| line.split('|').count() != 4), None);
    }
}
