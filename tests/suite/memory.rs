//! How much memory commands need for a large variables.json.

use std::process::Command;

use serde_json::{Map, Value, json};

use crate::{builder::Project, needs};

/// Runs a command and prints the most memory that it had, in KiB.
const MEASURE: &str = "import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)";

/// The most memory that a command had, in MB.
fn peak(project: &Project, args: &[&str]) -> u64 {
    let command = project.command(args);
    let mut python = Command::new("python3");
    python.args(["-c", MEASURE]).arg(command.get_program()).args(command.get_args());
    let output = python.current_dir(project.root()).env_remove("STATEDIR").output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let kibibytes: u64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
    kibibytes * 1024 / 1_000_000
}

/// With a file of 15 MB, what a command needs beyond what it needs with a small one. It once was about
/// 60 MB for `var get` and 240 MB for `state`.
#[test]
fn large_variables_need_little_more_memory_than_their_file() {
    let is_measured = cfg!(target_os = "linux") && needs::program("python3");
    if !needs::met(is_measured, "the memory of a child", "it takes Linux and python3") {
        return;
    }
    let project = Project::new();
    let commands: [(&[&str], u64); 2] =
        [(&["var", "get", "extracted_data.key5.value"], 57), (&["state"], 190)];
    let record = |number: usize| {
        let value = json!({ "name": format!("item {number}"), "value": number,
            "tags": ["a", "b"], "text": "x".repeat(60) });
        (format!("key{number}"), value)
    };
    let write = |count: usize| {
        let mut variables: Value = serde_json::from_str(&project.read("variables.json")).unwrap();
        variables["extracted_data"] = (0..count).map(record).collect::<Map<_, _>>().into();
        let text = serde_json::to_string_pretty(&variables).unwrap();
        project.write("variables.json", &text);
        text.len() / 1_000_000
    };
    write(10);
    let small = commands.map(|(args, _)| peak(&project, args));
    let size = write(74_000);
    assert!((14..16).contains(&size), "{size} MB");
    for ((args, limit), small) in commands.into_iter().zip(small) {
        let large = peak(&project, args);
        println!("{args:?}: {small} MB, {large} MB with {size} MB of variables");
        // The control: the file is in memory, so a measurement that works shows at least that.
        assert!(large >= small + size as u64, "{args:?}: {small} MB, {large} MB");
        assert!(large <= small + limit, "{args:?}: {small} MB, {large} MB");
    }
}
