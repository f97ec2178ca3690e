//! Files that make a directory look like a git repository.

use std::path::Path;

use super::ground::Ground;

/// Makes a directory look like a repository that names a program wherever git takes one.
pub fn make_fake_repository(ground: &Ground, dir: &Path, bare: bool) {
    let program = ground.program().display().to_string();
    let tree = if bare { "bare = true" } else { "bare = false\n worktree = ." };
    let config = format!(
        "[core]\n repositoryformatversion = 0\n {tree}\n fsmonitor = {program}\n\
         pager = {program}\n editor = {program}\n sshCommand = {program}\n askPass = {program}\n\
         hooksPath = {hooks}\n attributesFile = {attributes}\n\
         [diff]\n external = {program}\n [diff \"x\"]\n command = {program}\n textconv = {program}\n\
         [filter \"x\"]\n clean = {program}\n smudge = {program}\n process = {program}\n\
         [merge \"x\"]\n driver = {program}\n [gpg]\n program = {program}\n\
         [commit]\n gpgSign = true\n [uploadpack]\n packObjectsHook = {program}\n\
         [sequence]\n editor = {program}\n [interactive]\n diffFilter = {program}\n",
        hooks = dir.join("hooks").display(),
        attributes = dir.join("attributes").display(),
    );
    ground.put(&dir.join("HEAD"), "ref: refs/heads/main\n");
    ground.put(&dir.join("config"), config);
    ground.put(&dir.join("attributes"), "* filter=x diff=x merge=x\n");
    ground.put(&dir.join("objects/keep"), "");
    ground.put(&dir.join("refs/heads/keep"), "");
    for hook in ["pre-commit", "post-commit", "post-checkout", "post-index-change"] {
        ground.link(&dir.join("hooks").join(hook), &ground.program());
    }
}
