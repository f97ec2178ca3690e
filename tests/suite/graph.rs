//! `plan graph` and `plan tracks`.

use serde_json::{Value, json};

use crate::builder::Project;

/// Two lines of work that come together, under any lifecycle.
fn project() -> Project {
    let project = Project::new();
    let changes = json!([
        { "op": "step.add", "title": "Collect <b>benchmarks</b>", "time": "5m" },
        { "op": "step.add", "title": "Measure", "depends_on": ["1"], "time": "30m" },
        { "op": "step.add", "title": "Read", "depends_on": ["1"], "time": "10m" },
        { "op": "step.add", "title": "Compare", "depends_on": ["1", "2", "3"], "time": "20m" },
    ]);
    project.ok_with_input(&["apply", "-"], &changes.to_string());
    project.ok(&["step", "start", "1"]);
    project.ok(&["step", "done", "1", "--time", "7m"]);
    project.ok(&["--actor", "ada", "step", "start", "2"]);
    project
}

fn document(project: &Project, words: &[&str]) -> Value {
    serde_json::from_str(&project.ok(words).stdout).unwrap()
}

#[test]
fn the_graph_leaves_out_what_follows_and_names_the_critical_path() {
    let project = project();
    let graph = document(&project, &["plan", "graph", "--json"]);
    assert_eq!(graph["steps"][3]["depends_on"], json!([2, 3]));
    assert_eq!(graph["steps"][3]["implied"], json!([1]));
    assert_eq!(graph["steps"][0]["time_ms"], 7 * 60_000, "measured, not estimated");
    assert_eq!(graph["critical_path"]["steps"], json!([2, 4]));
    assert_eq!(graph["critical_path"]["time_ms"], 50 * 60_000);
    assert_eq!(graph["ready"], json!([3]));
    let roles: Vec<&str> = graph["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["done", "active", "open", "open"]);
    let same = document(&project, &["plan", "graph", "--format", "json"]);
    assert_eq!(same["steps"], graph["steps"]);
}

#[test]
fn the_graph_is_drawn_for_terminals_github_and_pages() {
    let project = project();
    let text = project.ok(&["plan", "graph"]).stdout;
    insta::assert_snapshot!(text, @r"
    Compare three vector databases: 1 of 4 steps finished

        1 ✓ Collect <b>benchmarks</b>                     7m
    *   2 ▶ Measure                                       ← 1  30m  ada
        3 · Read                                          ← 1  10m
    *   4   Compare                                       ← 2 3  20m

    critical path*  2 → 4 (50m)
    running         2
    can start now   3
    ");
    let mermaid = project.ok(&["plan", "graph", "--format", "mermaid"]).stdout;
    assert!(mermaid.starts_with("flowchart LR\n") && mermaid.contains("n1 ==> n3"), "{mermaid}");
    assert!(!mermaid.contains("<b>"), "{mermaid}");
    let svg = project.ok(&["plan", "graph", "--format", "svg"]).stdout;
    assert!(svg.starts_with("<svg ") && svg.contains("&lt;b&gt;"), "{svg}");
    assert!(!svg.contains("<b>") && !svg.contains("href"), "{svg}");
    let dot = project.ok(&["plan", "graph", "--format", "dot"]).stdout;
    assert!(dot.starts_with("digraph ") && dot.contains("n1 -> n3;"), "{dot}");
}

#[test]
fn tracks_say_who_could_take_what_next() {
    let project = project();
    let tracks = document(&project, &["plan", "tracks", "--json"]);
    assert_eq!(tracks["tracks"][0]["steps"], json!([2]));
    assert_eq!(tracks["tracks"][0]["actor"], "ada");
    assert_eq!(tracks["tracks"][1]["command"], "statedir step start 3");
    assert_eq!(tracks["joins"], json!([{ "step": 4, "tracks": [1, 2] }]));
    let text = project.ok(&["plan", "tracks"]).stdout;
    insta::assert_snapshot!(text, @r"
    track 1   ada            2 Measure (30m) *
    track 2   free           3 Read (10m)  statedir step start 3
    after tracks 1, 2: 4 Compare (20m)
    ");
    project.ok(&["step", "start", "3"]);
}

#[test]
fn groups_frame_their_steps() {
    let project = project();
    project.ok(&["step", "set", "1", "layer=0-setup"]);
    project.ok(&["step", "set", "2", "layer=1-core"]);
    let mermaid =
        project.ok(&["plan", "graph", "--group-by", "layer", "--format", "mermaid"]).stdout;
    assert!(mermaid.contains("subgraph g1[\"1-core\"]"), "{mermaid}");
    let text = project.ok(&["plan", "graph", "--group-by", "layer"]).stdout;
    assert!(text.contains("\n0-setup:\n"), "{text}");
}

#[test]
fn review_notes_contain_the_graph() {
    let project = project();
    let git = |words: &[&str]| {
        let ran = std::process::Command::new("git")
            .args(words)
            .current_dir(project.root())
            .output()
            .unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    };
    if !crate::needs::program("git") {
        return;
    }
    git(&["init", "-q"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"]);
    git(&["add", "-A"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "y"]);
    project.ok(&["--actor", "ada", "step", "done", "2"]);
    let notes = project.ok(&["review-notes", "HEAD"]).stdout;
    assert!(notes.contains("## Plan\n\n```mermaid\nflowchart LR\n"), "{notes}");
    assert!(notes.trim_end().ends_with("```"), "{notes}");
}
