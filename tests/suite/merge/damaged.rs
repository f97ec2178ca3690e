//! What is missing or broken is not published.

use std::fs;

use super::repository::Repository;
use crate::builder::FIVE;

#[test]
fn a_damaged_state_is_not_committed() {
    let Some(repository) = Repository::new() else { return };
    let project = &repository.project;
    let head = repository.git(&["rev-parse", "HEAD"]);
    for name in FIVE {
        let before = project.read(name);
        fs::remove_file(project.path(name)).unwrap();
        let refusal = repository.ours_refused(4, "file_missing", &["commit"]);
        assert!(refusal["error"]["hint"].as_str().unwrap().contains("check --fix"), "{refusal}");
        repository.ours_refused(4, "file_missing", &["commit", "--dry-run"]);
        project.write(name, &before);
    }
    let before = project.read("variables.json");
    project.write("variables.json", "{");
    let refusal = repository.ours_refused(4, "unreadable", &["commit"]);
    assert!(refusal["error"]["hint"].as_str().unwrap().contains("statedir diff"), "{refusal}");
    assert!(!refusal.to_string().contains("statedir undo"), "{refusal}");
    project.write("variables.json", &before);
    assert_eq!(repository.git(&["rev-parse", "HEAD"]), head);
    project.ok(&["var", "set", "k", "1"]);
    repository.ours(&["commit"]);
    assert_ne!(repository.git(&["rev-parse", "HEAD"]), head, "a whole one is");
}
