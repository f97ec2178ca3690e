//! The library without the command line.
//!
//! First the lossless text layer alone: change one field of a markdown document and see which
//! bytes change. Then a whole state directory: open it, make several changes as one operation.
//!
//!     cargo run --example library

use std::error::Error;

use statedir::{
    Change, Environment, GitControl, InitOptions, Options, Workspace, text::markdown::Document,
};

const SOURCE: &str = "\
# Plan: *anything* goes

## Metadata
*   **status**:   PENDING   <!-- ask Ada first -->
*   **owner**: ada

```text
- **status**: this is code, not a field
```
";

fn main() -> Result<(), Box<dyn Error>> {
    edit_one_field()?;
    let root = tempfile::tempdir()?;
    change_a_state(&root.path().join("workspace").join("state"))
}

/// Everything but the value stays as it was written: bullets, spaces, comment, code.
fn edit_one_field() -> Result<(), Box<dyn Error>> {
    let document = Document::parse(SOURCE)?;
    let metadata = document.find(&["Metadata"])?;
    let status = document.field(metadata, "status")?.ok_or("there is no status")?;
    println!("status is {:?} at {}", document.value(status), place(&document, status));

    let mut edit = document.edit();
    edit.set_value(status, "RUNNING");
    let edited = edit.finish()?;
    for splice in &edited.splices {
        let old = &document.source()[splice.at.clone()];
        println!("bytes {:?}: {old:?} becomes {:?}", splice.at, splice.new);
    }
    println!("status is {:?} now", edited.document.value(status));
    Ok(())
}

fn place(document: &Document, item: statedir::text::markdown::ItemId) -> String {
    document.place(document.item(item).value_span.start).to_string()
}

/// Changes are data, the same as those that `statedir apply` reads.
fn change_a_state(dir: &std::path::Path) -> Result<(), Box<dyn Error>> {
    // Fixed, so that this example prints the same every time; else `Environment::real("ada")`.
    let environment = Environment::fixed(jiff::Timestamp::UNIX_EPOCH, "ada", 7);
    let workspace = Workspace::new(dir, environment, Options::new(GitControl));
    let goal = Some("Compare three vector databases".to_owned());
    workspace.init(&InitOptions { goal, ..InitOptions::default() })?;

    let changes: Vec<Change> = serde_json::from_str(
        r#"[{"op": "step.add", "title": "Collect benchmarks", "tool": "WebFetch"},
            {"op": "step.start", "step": 1},
            {"op": "var.set", "path": "extracted_data.flags.ready", "value": true}]"#,
    )?;
    let outcome = workspace.apply(&changes)?;
    for answer in &outcome.answers {
        println!("{}", answer.message);
    }
    let changed: Vec<String> = outcome.changed.iter().map(ToString::to_string).collect();
    println!("one operation changed {}", changed.join(" and "));

    let state = workspace.read()?.state(false);
    println!("the plan has {} step", state.steps.len());

    // The second change is refused, so the first is not made either.
    let refused: Vec<Change> = serde_json::from_str(
        r#"[{"op": "var.set", "path": "x", "value": 1}, {"op": "step.start", "step": 9}]"#,
    )?;
    let before = workspace.read()?.revision().clone();
    let error = workspace.apply(&refused).expect_err("there is no step 9");
    println!("refused: {error}");
    println!("nothing changed: {}", workspace.read()?.revision() == &before);
    Ok(())
}
