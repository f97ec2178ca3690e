//! What the private directory has lost is noticed, and never leads to a wrong undo.

use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};

use crate::builder::Project;

#[test]
fn a_private_directory_that_others_can_read_is_noticed_and_closed() {
    let project = Project::new();
    let private = project.path(".statedir");
    let mode = || std::fs::metadata(&private).unwrap().permissions().mode() & 0o7777;
    project.ok(&["check"]);
    std::fs::set_permissions(&private, Permissions::from_mode(0o755)).unwrap();
    let checked = project.json(&["check"]);
    assert_eq!(checked["findings"][0]["code"], "exposed", "{checked}");
    assert_eq!(checked["findings"][0]["severity"], "warning");
    assert_eq!(mode(), 0o755);
    project.ok(&["check", "--fix"]);
    assert_eq!(mode(), 0o700);
}
