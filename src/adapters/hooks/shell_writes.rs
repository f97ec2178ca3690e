//! What a shell command writes of what only `statedir` may write, as far as it is obvious.

use std::path::{Path, PathBuf};

use super::{
    place::{Guarded, Protected},
    shell::{Simple, Word, commands},
    shell_pattern::{alternatives, fitting, matches},
    shell_targets::{is_flag, targets},
};

/// Words before the command that is really run.
const WRAPPERS: [&str; 15] = [
    "sudo", "env", "command", "builtin", "exec", "nohup", "time", "nice", "timeout", "xargs", "!",
    "then", "do", "else", "{",
];

/// What the command line would write, if any of it is protected.
pub fn written(guarded: &Guarded, cwd: &Path, source: &str) -> Option<Protected> {
    look(guarded, cwd, source, 0)
}

fn look(guarded: &Guarded, cwd: &Path, source: &str, depth: usize) -> Option<Protected> {
    let mut here = cwd.to_owned();
    for simple in commands(source) {
        for word in &simple.writes {
            if let Some(found) = judge(guarded, &here, word, false) {
                return Some(found);
            }
        }
        let words: Vec<Word> = command_words(&simple).iter().flat_map(alternatives).collect();
        let Some((name, args)) = words.split_first() else { continue };
        let name = name.text.rsplit('/').next().unwrap_or_default();
        if matches!(name, "bash" | "sh" | "zsh" | "dash" | "eval") && depth < 4 {
            let script = args.iter().filter(|word| !word.text.starts_with('-'));
            let script: Vec<&str> = script.map(|word| word.text.as_str()).collect();
            let takes_script = name == "eval" || args.iter().any(|word| is_flag(word, 'c'));
            if takes_script
                && let found @ Some(_) = look(guarded, &here, &script.join(" "), depth + 1)
            {
                return found;
            }
        }
        for (word, removes) in targets(name, args) {
            if let Some(found) = judge(guarded, &here, &word, removes) {
                return Some(found);
            }
        }
        if matches!(name, "cd" | "pushd")
            && let Some(dir) = args.first().filter(|dir| !dir.dynamic)
        {
            here.push(&dir.text);
        }
    }
    None
}

/// The words from the command's name on.
fn command_words(simple: &Simple) -> &[Word] {
    let mut words = simple.words.as_slice();
    let mut wrapped = false;
    while let [first, rest @ ..] = words {
        let text = first.text.as_str();
        let name = text.rsplit('/').next().unwrap_or_default();
        let number = text.starts_with(|c: char| c.is_ascii_digit());
        let option = wrapped && (text.starts_with('-') || number);
        if !option && !is_assignment(text) && !WRAPPERS.contains(&name) {
            break;
        }
        wrapped |= WRAPPERS.contains(&name);
        words = rest;
    }
    words
}

fn is_assignment(text: &str) -> bool {
    let name = text.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn judge(guarded: &Guarded, cwd: &Path, word: &Word, removes: bool) -> Option<Protected> {
    let mean = |text: &str| match removes {
        true => guarded.removes(cwd, text),
        false => guarded.writes(cwd, text),
    };
    if word.dynamic {
        return by_its_words(&word.text);
    }
    if !word.glob {
        return mean(&word.text);
    }
    let fits = fitting(guarded.state(), cwd, &word.text);
    if let found @ Some(_) = fits.iter().find_map(|path| mean(&path.to_string_lossy())) {
        return found;
    }
    // Another state than this one, or a beginning that is not known: by the last part, or by words.
    let path = PathBuf::from(&word.text);
    let dir = path.parent().map(|dir| dir.to_string_lossy().into_owned()).unwrap_or_default();
    let pattern = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let pattern = pattern.unwrap_or_default();
    let dir = if dir.is_empty() { ".".to_owned() } else { dir };
    let names = ["history.md", ".statedir"].into_iter().filter(|name| {
        matches(&pattern, name) && (!name.starts_with('.') || pattern.starts_with('.'))
    });
    let fitting = names.map(|name| format!("{dir}/{name}")).find_map(|path| mean(&path));
    fitting.or_else(|| by_its_words(&word.text))
}

/// A path whose beginning is not known here, judged by what is written of it.
fn by_its_words(text: &str) -> Option<Protected> {
    let text = text.to_lowercase();
    if text.split('/').any(|part| part == ".statedir") {
        return Some(Protected::Private);
    }
    text.ends_with("workspace/state/history.md").then_some(Protected::History)
}

/// Whether a command line only looks, so that nobody needs to be asked about it.
pub fn only_looks(source: &str) -> bool {
    commands(source).iter().all(|simple| {
        let quiet = simple.writes.iter().all(|word| word.text == "/dev/null");
        let words = command_words(simple);
        let name = words.first().map(|word| word.text.rsplit('/').next().unwrap_or_default());
        let second = words.get(1).map(|word| word.text.as_str()).unwrap_or_default();
        let looks = match name.unwrap_or_default() {
            "git" => {
                matches!(
                    second,
                    "status" | "log" | "diff" | "show" | "blame" | "rev-parse" | "ls-files"
                )
            }
            "sed" | "find" | "sort" => targets(name.unwrap_or_default(), &words[1..]).is_empty(),
            name => LOOKS.contains(&name),
        };
        quiet && looks
    })
}

const LOOKS: [&str; 30] = [
    "", "ls", "cat", "head", "tail", "grep", "egrep", "rg", "wc", "pwd", "echo", "printf", "stat",
    "file", "which", "uniq", "cut", "tr", "jq", "diff", "cmp", "tree", "du", "df", "date", "true",
    "test", "[", "cd", "statedir",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(source: &str) -> Option<Protected> {
        let root = tempfile::tempdir().unwrap();
        let state = root.path().join("workspace/state");
        std::fs::create_dir_all(state.join(".statedir")).unwrap();
        written(&Guarded::new(&state), root.path(), source)
    }

    #[test]
    fn obvious_writes_are_seen() {
        use Protected::{History, Private, Whole};
        for (source, expected) in [
            ("echo x > workspace/state/history.md", History),
            ("echo x >> ./workspace/state/history.md", History),
            ("cat a | tee -a workspace/state/history.md", History),
            ("cd workspace/state && echo x >>history.md", History),
            ("sed -i 's/a/b/' workspace/state/history.md", History),
            ("perl -pi -e 's/a/b/' workspace/state/history.md", History),
            ("rm -f workspace/state/history.md", History),
            ("sudo -n rm workspace/state/'history.md'", History),
            ("mv workspace/state/history.md /tmp/x", History),
            ("cp /tmp/history.md workspace/state/", History),
            ("cp -t workspace/state /tmp/history.md", History),
            ("truncate -s 0 workspace/state/history.md", History),
            ("dd if=/dev/null of=workspace/state/history.md", History),
            ("bash -c 'echo x > workspace/state/history.md'", History),
            ("x=$(rm workspace/state/history.md)", History),
            ("rm workspace/state/*.md", History),
            ("rm \"$PWD/workspace/state/history.md\"", History),
            ("rm -rf workspace/state/.statedir", Private),
            ("rm -rf workspace/state/.statedir/*", Private),
            ("rm -rf workspace/state/.s*", Private),
            ("echo > workspace/state/.statedir/head", Private),
            ("find workspace/state/.statedir -delete", Private),
            ("rm -rf workspace", Whole),
            ("rm -rf workspace/*", Whole),
            ("rm -rf *", Whole),
            ("rm -r ./w*/", Whole),
            ("rm w*/state/history.md", History),
            ("rm -r */*/.stat*", Private),
            ("rm workspace/state/{plan,history}.md", History),
            ("rm -rf {src,workspace/{x,state}}", Whole),
            ("git rm workspace/state/history.md", History),
            ("git -C workspace rm -q -- state/history.md", History),
            ("git mv workspace/state/history.md old.md", History),
            ("git rm -rf workspace", Whole),
            ("curl --output=workspace/state/history.md http://x", History),
            ("curl -oworkspace/state/history.md http://x", History),
            ("curl -fsSLo workspace/state/history.md http://x", History),
            ("wget -qO workspace/state/history.md http://x", History),
            ("sort -oworkspace/state/history.md a", History),
            ("mv workspace/state /tmp", Whole),
        ] {
            assert_eq!(verdict(source), Some(expected), "{source}");
        }
    }

    #[test]
    fn looking_and_other_files_are_free() {
        for source in [
            "cat workspace/state/history.md",
            "grep -n rm workspace/state/history.md > /tmp/out",
            "tail -f workspace/state/history.md | tee /tmp/copy",
            "cp workspace/state/history.md /tmp/backup.md",
            "ls -la workspace/state/.statedir",
            "sed -n 1,5p workspace/state/history.md",
            "sed 's/a/b/' workspace/state/history.md",
            "diff <(cat workspace/state/history.md) other",
            "echo 'rm workspace/state/history.md'",
            "statedir history add 'rm > workspace/state/history.md'",
            "git commit -m 'mv workspace/state/history.md away'",
            "cat <<EOF > notes.md\nrm workspace/state/history.md\nEOF",
            "rm -rf target docs/history.md",
            "rm workspace/state/*.bak",
            "echo x > history.md",
            "wc -l < workspace/state/history.md",
            "cp workspace/state/*.md backup/",
            "rm *",
            "rm -rf src/* **/target */*.o",
            "rm -rf workspace/{tmp,cache}",
            "echo {a,b} '{x,workspace/state/history.md}'",
            "git rm --cached workspace/state/history.md",
            "git log -- workspace/state/history.md",
            "curl -so out http://x/workspace/state/history.md",
            "sort workspace/state/history.md",
        ] {
            assert_eq!(verdict(source), None, "{source}");
        }
    }

    #[test]
    fn commands_that_only_look_are_known() {
        assert!(only_looks("cd src && ls -la | grep x 2>/dev/null"));
        assert!(only_looks("git status; statedir review list"));
        for source in ["cargo build", "git push", "ls > out", "sed -i s/a/b/ x", "find . -delete"] {
            assert!(!only_looks(source), "{source}");
        }
    }
}
