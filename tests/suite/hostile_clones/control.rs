//! The checker itself: it must report every forbidden thing that a script does.

use super::{
    acts,
    ground::{Carrier, Ground},
};
use crate::needs;

/// What a script does by a system call, and what must be reported: a word, and a path.
const FORBIDDEN: [(&str, &str, &str); 24] = [
    ("echo x > OUT/victim", "openat of", "outside/victim"),
    ("echo x >> OUT/victim", "openat of", "outside/victim"),
    ("echo x > OUT/new", "openat of", "outside/new"),
    ("echo x > precious.txt", "openat of", "clone/precious.txt"),
    ("echo x > STATE/way/victim", "openat of", "outside/victim"),
    ("echo x > STATE/dangling", "openat of", "outside/new"),
    ("cd STATE/way && rm victim", "unlink", "outside/victim"),
    ("cd STATE && rm ../../../outside/victim", "unlink", "outside/victim"),
    ("rm -r STATE/way/victims", "unlink", "outside/victims/inner/file"),
    ("rmdir OUT/empty", "rmdir of", "outside/empty"),
    ("mv OUT/victim STATE/taken", "rename", "outside/victim"),
    ("mv STATE/plan.md OUT/given", "rename", "outside/given"),
    ("mkdir OUT/made", "mkdir", "outside/made"),
    ("ln STATE/plan.md OUT/linked", "link", "outside/linked"),
    ("ln -s x OUT/linked", "symlink", "outside/linked"),
    ("mkfifo OUT/pipe", "mknod", "outside/pipe"),
    ("truncate -s 0 OUT/victim", "openat of", "outside/victim"),
    ("chmod 600 OUT/victim", "chmod", "outside/victim"),
    ("chmod 600 STATE/way/victim", "chmod", "outside/victim"),
    ("chown 0 OUT/victim", "chown", "outside/victim"),
    ("touch -d 2020-01-01 OUT/victim", "utimensat", "outside/victim"),
    ("cat OUT/victim", "read", "outside/victim"),
    ("OUT/program", "started", "outside/program"),
    ("cat STATE/plan.md", "started", "cat"),
];

#[test]
fn the_checker_reports_every_forbidden_thing() {
    if !needs::program("strace") {
        return;
    }
    let clean = Ground::new(Carrier::Copy, |ground| {
        ground.link(&ground.state().join("way"), "../../../outside".as_ref());
        ground.link(&ground.state().join("dangling"), &ground.place().join("outside/new"));
        std::fs::create_dir(ground.place().join("outside/empty")).unwrap();
    });
    for (script, word, path) in FORBIDDEN {
        let ground = clean.again();
        let outside = ground.place().join("outside").display().to_string();
        let state = ground.state().display().to_string();
        let line = script.replace("OUT", &outside).replace("STATE", &state);
        let words = ["sh".to_owned(), "-c".to_owned(), line];
        let finish = ground.trace(&words, b"", false);
        let harm = ground.forbidden(&finish.actions, &[]);
        let found = harm.iter().any(|harm| harm.contains(word) && harm.ends_with(path));
        assert!(found, "`{script}` is not reported: {harm:#?}\n{}", finish.output);
        let changes = !["cat", "chown"].iter().any(|harmless| script.starts_with(harmless))
            && !path.ends_with("cat");
        assert_eq!(changes, !ground.damage().is_empty(), "{script}: {:?}", ground.damage());
    }
}

#[test]
fn the_checker_lets_every_command_pass_in_an_ordinary_repository() {
    if !needs::program("strace") {
        return;
    }
    let clean = Ground::new(Carrier::Copy, |_| ());
    for act in acts::all(&clean.clone_dir()) {
        assert_eq!(clean.again().harm(&act), Vec::<String>::new(), "{act:?}");
    }
}
