//! The rule as a table of commands that agents type, and that no text takes long.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::domain::StateFile;

/// A work tree with a state in `workspace/state`, committed or not.
fn project(committed: bool) -> (tempfile::TempDir, GuardedState) {
    let root = tempfile::tempdir().unwrap();
    let state = root.path().join("workspace/state");
    for dir in ["workspace/state/.statedir/log", ".git", "src/deep", "docs", "target"] {
        std::fs::create_dir_all(root.path().join(dir)).unwrap();
    }
    std::fs::write(state.join(".statedir/.gitignore"), "*\n").unwrap();
    let mut index = String::new();
    for file in StateFile::FIVE {
        std::fs::write(state.join(file.name()), "# X\n").unwrap();
        index.push_str(&format!("\0workspace/state/{}\0", file.name()));
    }
    std::fs::write(root.path().join(".git/index"), if committed { &index } else { "" }).unwrap();
    let guarded = GuardedState::new(&state);
    (root, guarded)
}

fn verdict_in(committed: bool, source: &str) -> (&'static str, Option<GuardFinding>) {
    let (root, guarded) = project(committed);
    // The root is named by its real path, as a client names it.
    let cwd = root.path().canonicalize().unwrap();
    let found = examine(&guarded, &cwd, source);
    let verdict =
        found.as_ref().map_or("silent", |found| if found.denied { "deny" } else { "ask" });
    (verdict, found)
}

fn check(expected: &str, sources: &[&str]) {
    let wrong: Vec<String> = (sources.iter())
        .map(|source| (source, verdict_in(true, source)))
        .filter(|(_, (verdict, _))| *verdict != expected)
        .map(|(source, (verdict, found))| format!("{verdict}: {source}\n    {found:?}"))
        .collect();
    assert!(wrong.is_empty(), "not {expected}:\n{}", wrong.join("\n"));
}

#[test]
fn plain_writes_of_the_history_are_denied() {
    check(
        "deny",
        &[
            "echo x > workspace/state/history.md",
            "echo x >> ./workspace/state/history.md",
            "cat a | tee -a workspace/state/history.md",
            "cd workspace/state && echo x >>history.md",
            "sed -i 's/a/b/' workspace/state/history.md",
            "perl -pi -e 's/a/b/' workspace/state/history.md",
            "rm -f workspace/state/history.md",
            "sudo -n rm workspace/state/'history.md'",
            "mv workspace/state/history.md /tmp/x",
            "cp /tmp/history.md workspace/state/",
            "cp -t workspace/state /tmp/history.md",
            "truncate -s 0 workspace/state/history.md",
            "dd if=/dev/null of=workspace/state/history.md",
            "bash -c 'echo x > workspace/state/history.md'",
            "x=$(rm workspace/state/history.md)",
            "rm workspace/state/*.md",
            "rm \"$PWD/workspace/state/history.md\"",
            "rm w*/state/history.md",
            "rm workspace/state/{plan,history}.md",
            "git rm workspace/state/history.md",
            "git -C workspace rm -q -- state/history.md",
            "git mv workspace/state/history.md old.md",
            "curl --output=workspace/state/history.md http://x",
            "curl -oworkspace/state/history.md http://x",
            "curl -fsSLo workspace/state/history.md http://x",
            "wget -qO workspace/state/history.md http://x",
            "sort -oworkspace/state/history.md a",
            "rm $SOMEWHERE/workspace/state/history.md",
            "uniq a workspace/state/history.md",
            "uniq -f 1 a workspace/state/history.md",
            "xxd -r a workspace/state/history.md",
            "tree -o workspace/state/history.md",
            "less -o workspace/state/history.md a",
            "git diff --output=workspace/state/history.md",
            "git log --output workspace/state/history.md",
        ],
    );
}

#[test]
fn plain_writes_of_the_private_directory_are_denied() {
    check(
        "deny",
        &[
            "rm -rf workspace/state/.statedir",
            "rm -rf workspace/state/.statedir/*",
            "rm -rf workspace/state/.s*",
            "rm -r */*/.stat*",
            "echo > workspace/state/.statedir/head",
            "find workspace/state/.statedir -delete",
            "rm -rf $X/.statedir",
        ],
    );
}

#[test]
fn taking_the_state_away_is_denied() {
    check(
        "deny",
        &[
            "rm -rf workspace",
            "rm -rf workspace/state",
            "rm -rf workspace/*",
            "rm -rf *",
            "rm -rf .",
            "rm -r ./w*/",
            "rm -rf {src,workspace/{x,state}}",
            "git rm -rf workspace",
            "mv workspace/state /tmp",
        ],
    );
}

/// What the guard did not see before it had a rule.
#[test]
fn what_agents_really_type_is_denied_where_it_is_plain() {
    check(
        "deny",
        &[
            "rm -rf \"$PWD/workspace\"",
            "rm -rf ${PWD}/workspace/state",
            "rm -rf $(pwd)/workspace",
            "sudo rm -rf workspace",
            "sudo -u root rm -rf workspace",
            "doas rm workspace/state/history.md",
            "nice -n 5 rm -rf workspace",
            "timeout -k 5 30 rm -rf workspace",
            "env -u X A=b rm -rf workspace",
            "if rm -rf workspace; then echo ok; fi",
            "while rm workspace/state/history.md; do :; done",
            "if true; then rm -rf workspace; fi",
            "for f in plan history; do rm workspace/state/$f.md; done",
            "for f in workspace/state/*.md; do sed -i 's/a/b/' \"$f\"; done",
            "D=workspace/state; rm -rf $D",
            "S=workspace; rm \"$S/state/history.md\"",
            "export D=workspace/state && rm -rf $D/.statedir",
            "case $x in a) rm -rf workspace;; esac",
            "function f { rm -rf workspace; }; f",
            "f() { rm -rf workspace; }; f",
            "bash <<'EOF'\nrm -rf workspace\nEOF",
            "sh <<EOF\ncd workspace/state\nrm history.md\nEOF",
            "cat <<EOF | bash\nrm -rf workspace\nEOF",
            "echo 'rm -rf workspace' | sh",
            "bash <<< 'rm -rf workspace'",
            "bash -lc 'cd workspace && rm -rf state'",
            "eval \"rm -rf workspace\"",
            "git checkout -- workspace/state/history.md",
            "git checkout HEAD~1 workspace/state/history.md",
            "git checkout main -- workspace/state/history.md",
            "git restore workspace/state/history.md",
            "git restore --source=HEAD~2 workspace/state/history.md",
            "git -C workspace/state checkout -- history.md",
            "git clean -fdx workspace/state/.statedir",
            "find workspace/state/.statedir -type f -exec rm {} +",
            "echo workspace/state/history.md | xargs rm",
            "ls workspace/state/*.md | xargs -n 1 rm",
            "rsync -a /tmp/history.md workspace/state/history.md",
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: workspace/state/history.md\nEOF",
            "(cd src && ls) && rm -rf workspace",
        ],
    );
}

#[test]
fn commands_that_act_on_whole_trees_are_asked_about() {
    check(
        "ask",
        &[
            "git clean -fdx",
            "git clean -xdf .",
            "git clean -fX",
            "cd workspace && git clean -ffdx",
            "git -C workspace clean -fdx",
            "git clean -fdx && cargo build",
            "git stash -u",
            "git stash push --include-untracked -m wip",
            "git stash --all",
            "git checkout .",
            "git checkout -- .",
            "git checkout HEAD -- workspace",
            "git checkout -f",
            "git checkout -f main",
            "git restore .",
            "git restore :/",
            "git restore --staged --worktree .",
            "git reset --hard",
            "git reset --hard HEAD~1",
            "cd src && git reset --hard origin/main",
            "git switch --discard-changes main",
            "rsync -a --delete ../other/ .",
            "rsync -a --delete backup/ workspace/",
            "cp -r /backup/workspace .",
            "find . -type f -exec chmod 644 {} \\;",
            "find . -name '*.md' -exec sed -i 's/a/b/' {} +",
            "find . -name '*.md' -delete",
            "find . -mtime +30 -delete",
            "find . -type f | xargs sed -i 's/old/new/'",
            "grep -rl old . | xargs sed -i 's/old/new/g'",
            "chmod -R a+w .",
            "sudo chown -R me workspace",
            "tar xzf backup.tgz workspace",
        ],
    );
}

#[test]
fn what_is_not_known_to_read_is_asked_about() {
    check(
        "ask",
        &[
            "echo x > workspace/state/plan.md",
            "sed -i 's/PENDING/COMPLETED/' workspace/state/plan.md",
            "rm workspace/state/plan.md",
            "mv workspace/state/plan.md /tmp",
            "cp /tmp/plan.md workspace/state/plan.md",
            "cp notes.md workspace/state/",
            "git checkout -- workspace/state/plan.md",
            "git restore workspace/state/variables.json",
            "git stash push -- workspace/state/plan.md",
            "vim workspace/state/plan.md",
            "touch workspace/state/history.md",
            "chmod 600 workspace/state/history.md",
            "prettier --write workspace/state",
            "python3 fix.py workspace/state/history.md",
            "python3 -c \"open('workspace/state/history.md','w').write('')\"",
            "python3 - <<'EOF'\nopen(\"workspace/state/plan.md\", \"w\").write(\"x\")\nEOF",
            "node -e \"fs.rmSync('workspace/state/.statedir',{recursive:true})\"",
            "mytool --state=workspace/state/variables.json",
            "tar xf x.tar -C workspace/state",
            "unzip x.zip -d workspace/state",
            "git clean -fdx -e workspace/other",
            "git update-index --assume-unchanged workspace/state/plan.md",
            "rm $X/workspace/state/plan.md",
            "awk '{print > \"workspace/state/history.md\"}' a",
            "gawk 'BEGIN { print \"x\" >> \"workspace/state/plan.md\" }'",
            "awk '{print | \"tee workspace/state/plan.md\"}' a",
            "awk 'BEGIN {system(\"rm workspace/state/plan.md\")}'",
            "awk '{print $0 > FILENAME}' workspace/state/plan.md",
            "sed -n 'w workspace/state/history.md' a",
            "sed -e 's/a/b/gw workspace/state/plan.md' a",
            "sed '/x/w workspace/state/plan.md' a",
        ],
    );
}

#[test]
fn looking_is_free() {
    check(
        "silent",
        &[
            "cat workspace/state/history.md",
            "grep -n rm workspace/state/history.md > /tmp/out",
            "tail -f workspace/state/history.md | tee /tmp/copy",
            "cp workspace/state/history.md /tmp/backup.md",
            "cp workspace/state/*.md backup/",
            "cp -r . ../backup",
            "cp -r workspace/state /tmp/state",
            "tar czf backup.tgz .",
            "tar -czf backup.tgz workspace/state",
            "tar tzf backup.tgz workspace",
            "rsync -a workspace/state/ /tmp/state/",
            "ls -la workspace/state/.statedir",
            "ls -R",
            "sed -n 1,5p workspace/state/history.md",
            "sed 's/a/b/' workspace/state/history.md",
            "awk '{print $1}' workspace/state/history.md",
            "awk '$2 > 3' workspace/state/history.md",
            "awk '/now x/ {print \"a > b\"}' workspace/state/history.md",
            "sed -n '/how to/p' workspace/state/history.md",
            "uniq -c workspace/state/history.md",
            "xxd -l 16 workspace/state/history.md",
            "tree workspace/state",
            "less workspace/state/history.md",
            "git diff --stat workspace/state",
            "jq .x workspace/state/variables.json",
            "diff <(cat workspace/state/history.md) other",
            "wc -l < workspace/state/history.md",
            "sort workspace/state/history.md",
            "grep -r foo .",
            "find . -name x",
            "find workspace/state -type f",
            "find . -name '*.md' -exec grep -l foo {} +",
            "find . -name '*.md' -exec cp {} /tmp/x \\;",
            "find . -type f | xargs grep foo",
            "[ -f workspace/state/plan.md ] && echo yes",
            "[[ -f workspace/state/plan.md && -d workspace/state ]]",
            "if test -d workspace/state; then statedir status; fi",
            "git log -- workspace/state/history.md",
            "git diff workspace/state",
            "git show HEAD:workspace/state/plan.md",
            "git blame workspace/state/plan.md",
            "sudo cat workspace/state/history.md",
            "for f in workspace/state/*.md; do cat \"$f\"; done",
            "statedir -C workspace/state status",
            "STATEDIR=workspace/state statedir check --fix",
        ],
    );
}

#[test]
fn daily_work_is_free() {
    check(
        "silent",
        &[
            "cargo test",
            "cd project && cargo test",
            "cargo fmt --all && cargo clippy -- -D warnings",
            "npm install && npm run build",
            "make -j8 all",
            "pytest -q tests/",
            "eslint --fix .",
            "prettier --write .",
            "git add -A && git commit -m 'x' && git push",
            "git add workspace/state && git commit -qm state",
            "git commit -m 'mv workspace/state/history.md away'",
            "git stash",
            "git stash pop",
            "git stash list",
            "git checkout main",
            "git checkout -b feature/x",
            "git checkout -b workspace",
            "git checkout -- src/main.rs",
            "git switch main",
            "git restore src/main.rs",
            "git restore --staged .",
            "git restore --staged workspace/state/plan.md",
            "git reset",
            "git reset --soft HEAD~1",
            "git reset HEAD workspace/state/plan.md",
            "git rm --cached workspace/state/history.md",
            "git clean -n -fdx",
            "git clean -fdx target",
            "git clean -fdx -e workspace",
            "git clean -fdx --exclude=/workspace/",
            "git clean -fd",
            "git checkout -- . ':!workspace'",
            "git stash -u -- ':(exclude)workspace/state'",
            "git pull --rebase && git merge main",
            "rm -rf target docs/history.md",
            "rm -rf src/* **/target */*.o",
            "rm -rf node_modules dist",
            "rm workspace/state/*.bak",
            "rm -rf workspace/{tmp,cache}",
            "rm *",
            "echo x > history.md",
            "echo x > src/plan.md",
            "echo 'rm workspace/state/history.md'",
            "echo {a,b} '{x,workspace/state/history.md}'",
            "statedir history add 'rm > workspace/state/history.md'",
            "cat <<EOF > notes.md\nrm workspace/state/history.md\nEOF",
            "cat > src/main.rs <<'EOF'\nfn main() { /* rm -rf workspace */ }\nEOF",
            "curl -so out http://x/workspace/state/history.md",
            "sed -i 's/a/b/' src/*.rs",
            "find . -name '*.rs' -exec sed -i 's/a/b/' {} +",
            "find . -name '*.pyc' -delete",
            "find . -name target -type d -exec rm -rf {} +",
            "find . -type d -empty -delete",
            "find src -delete",
            "find . -path ./workspace -prune -o -type f -exec chmod 644 {} +",
            "grep -rl old src | xargs sed -i 's/old/new/'",
            "grep -rl --include='*.rs' old . | xargs sed -i 's/old/new/'",
            "rsync -a --delete src/ /tmp/src/",
            "rsync -a --delete --exclude=workspace ../other/ .",
            "cp -r templates/* .",
            "cp ../x.toml .",
            "mv src/a.rs src/b.rs",
            "chmod +x run.sh",
            "chmod -R a+r src",
            "tar xzf node.tgz",
            "mkdir -p workspace/state",
            "cd \"$(mktemp -d)\" && rm -rf *",
            "cd /tmp && rm -rf workspace",
            "(cd workspace/state && ls) && rm -f history.md",
            "rm -rf \"$BUILD_DIR\"",
            "python3 -m venv .venv && . .venv/bin/activate",
            "docker run --rm -v $PWD:/app image make",
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: workspace/state/plan.md\nEOF",
        ],
    );
}

#[test]
fn git_clean_without_ignored_files_depends_on_what_git_tracks() {
    assert_eq!(verdict_in(true, "git clean -fd").0, "silent");
    assert_eq!(verdict_in(false, "git clean -fd").0, "ask");
    assert_eq!(verdict_in(false, "git clean -fd src").0, "silent");
}

#[test]
fn a_question_names_the_word_and_what_it_reaches() {
    let (_, found) = verdict_in(true, "make && vim workspace/state/plan.md");
    let found = found.unwrap();
    assert_eq!((found.program.as_str(), found.word.as_str()), ("vim", "workspace/state/plan.md"));
    assert_eq!(found.reach, Reach::File("plan.md"));
    let (_, found) = verdict_in(true, "vim workspace/state/plan.md; rm -rf workspace");
    assert!(found.unwrap().denied, "what is denied comes before a question");
}

#[test]
fn commands_that_only_look_are_known() {
    assert!(is_read_only("cd src && ls -la | grep x 2>/dev/null"));
    assert!(is_read_only("git status; statedir review list"));
    for source in ["cargo build", "git push", "ls > out", "sed -i s/a/b/ x", "find . -delete"] {
        assert!(!is_read_only(source), "{source}");
    }
}

/// The longest text that is judged; a shorter one where the code is not optimised.
const LENGTH: usize = if cfg!(debug_assertions) { 16 << 10 } else { 64 << 10 };

/// How long it may take. Without optimisation the number only tells what grows out of hand.
const MOST: Duration = Duration::from_millis(if cfg!(debug_assertions) { 1000 } else { 10 });

fn takes(source: &str) -> Duration {
    let (root, guarded) = project(true);
    let examined = || {
        let began = Instant::now();
        examine(&GuardedState::new(guarded.directory()), root.path(), source);
        is_read_only(source);
        began.elapsed()
    };
    // Another process may have had the processor.
    let runs = (0..5).map(|_| examined());
    let mut best = Duration::MAX;
    for taken in runs {
        best = best.min(taken);
        if best < MOST {
            break;
        }
    }
    best
}

#[test]
fn texts_made_to_take_long_do_not() {
    let short = [
        "$(", "`", "\"", "'", "\"$(", "(", ")", "{", "{a,b}", "{a,", "a/", "../", "rm a;", "x a ",
        "rm */*/*?* ", "cd a;", "A=$A$A;", "<<E\n", "<<E ", "<(", ">(", "cp a ", "git -c ", "-x ",
        "sudo ", "sh -c '", "eval ", "bash <<E\n", "echo x|sh|", "${", "$A", "for a in b;", "\0",
        "git clean -fd;", "ls|xargs ls ",
    ];
    let long = [
        "rm {a,b}{c,d}{e,f}/* ",
        "A=$A$A{a,b};rm $A;",
        "find . -exec find ",
        "find -exec a {} ",
        "find . -name *a*a*a*a -delete;",
        "echo a | xargs rm ",
    ];
    for part in short.iter().chain(&long) {
        for head in ["", "x "] {
            let source: String = head.chars().chain(part.chars().cycle()).take(LENGTH).collect();
            let taken = takes(&source);
            assert!(taken < MOST, "{head:?} {part:?} took {taken:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_judged_in_time(
        parts in prop::collection::vec(prop_oneof![
            "\\PC{1,8}",
            "[ $(){}\"'`;|&<>\n\\\\,*/.~=-]{1,12}",
            prop::sample::select(vec![
                "rm -rf ", "workspace/state/", "history.md ", "<<EOF\n", "\nEOF\n", "git ", "find . ",
                "-exec ", "$PWD/", "for f in ", "do ", "sudo ", "xargs ", "bash ", "cd ", "{a,b}",
            ]).prop_map(str::to_owned),
        ], 1..60),
        times in 1..2000_usize,
    ) {
        let source: String = parts.concat().repeat(times).chars().take(LENGTH).collect();
        let taken = takes(&source);
        prop_assert!(taken < MOST, "took {:?}", taken);
    }
}
