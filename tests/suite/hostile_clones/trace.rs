//! What a command and everything it started did to files, read out of a trace.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::{call::Call, links::Links};

/// The calls that start programs, open files, or change names and attributes.
const CALLS: &str = "execve,execveat,?open,openat,?openat2,?creat,?unlink,unlinkat,?rmdir,\
    ?rename,?renameat,renameat2,?link,linkat,?symlink,symlinkat,?mkdir,mkdirat,?mknod,mknodat,\
    truncate,ftruncate,fallocate,?chmod,fchmod,fchmodat,?fchmodat2,?chown,fchown,?lchown,fchownat,\
    utimensat,?utime,?utimes,?futimesat,setxattr,lsetxattr,fsetxattr,removexattr,lremovexattr,\
    fremovexattr,chdir,fchdir,connect,bind,?fork,?vfork,clone,?clone3";

/// Something that was done.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// A program was started.
    Start(PathBuf),
    /// A file was opened for reading by this program.
    Read { program: PathBuf, path: PathBuf },
    /// Opened for writing, created, renamed, linked, truncated, removed, or its attributes changed.
    Change { call: String, path: PathBuf },
    /// A connection to another machine.
    Connect(String),
    /// A port that is listened on.
    Listen(String),
}

/// The words before a command that is to be traced into files `prefix.PID`.
pub fn words(prefix: &Path) -> Vec<String> {
    let trace = format!("trace={CALLS}");
    let prefix = prefix.display().to_string();
    ["strace", "-ff", "--seccomp-bpf", "-y", "-s", "8192", "-e", "signal=none"]
        .into_iter()
        .chain(["-e", &trace, "-o", &prefix])
        .map(str::to_owned)
        .collect()
}

/// Reads the traces of all processes, beginning with the first.
pub fn read(prefix: &Path, cwd: &Path, links: Links) -> Vec<Action> {
    let mut processes = BTreeMap::new();
    let stem = format!("{}.", prefix.file_name().unwrap().to_string_lossy());
    for entry in fs::read_dir(prefix.parent().unwrap()).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(pid) = name.strip_prefix(&stem).and_then(|pid| pid.parse::<u32>().ok()) {
            let text = String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned();
            processes.insert(pid, text);
        }
    }
    let mut reader = Reader { processes, links, actions: Vec::new() };
    // Process numbers can wrap: the first is the one that no other has started.
    let started: Vec<u32> = reader
        .processes
        .values()
        .flat_map(|text| text.lines().filter_map(Call::parse))
        .filter(|call| starts_process(&call.name))
        .filter_map(|call| call.child())
        .collect();
    let first: Vec<u32> =
        reader.processes.keys().copied().filter(|pid| !started.contains(pid)).collect();
    for pid in first {
        reader.process(pid, cwd.to_owned(), PathBuf::new());
    }
    assert!(reader.processes.is_empty(), "processes that nobody started");
    reader.actions
}

fn starts_process(name: &str) -> bool {
    ["fork", "vfork", "clone", "clone3"].contains(&name)
}

struct Reader {
    processes: BTreeMap<u32, String>,
    links: Links,
    actions: Vec<Action>,
}

impl Reader {
    /// Follows a process and, where it starts one, that one.
    fn process(&mut self, pid: u32, mut cwd: PathBuf, mut program: PathBuf) {
        let Some(text) = self.processes.remove(&pid) else { return };
        for call in text.lines().filter_map(Call::parse) {
            if call.args.first().is_some_and(|arg| arg.starts_with("AT_FDCWD<")) {
                cwd = call.descriptor(0).unwrap_or(cwd);
            }
            match call.name.as_str() {
                name if starts_process(name) => {
                    if let Some(child) = call.child() {
                        self.process(child, cwd.clone(), program.clone());
                    }
                }
                "chdir" => {
                    let path = PathBuf::from(call.text(0).unwrap_or_default());
                    cwd = self.links.resolve(&cwd, &path, true);
                }
                "fchdir" => cwd = call.descriptor(0).unwrap_or(cwd),
                "execve" | "execveat" => {
                    let at = usize::from(call.name == "execveat");
                    let path = PathBuf::from(call.text(at).unwrap_or_default());
                    program = self.links.resolve(&cwd, &path, true);
                    self.actions.push(Action::Start(program.clone()));
                }
                "connect" | "bind" => self.socket(&call, &cwd),
                "open" | "openat" | "openat2" | "creat" => self.open(&call, &program),
                _ => self.change(&call, &cwd),
            }
        }
    }

    fn open(&mut self, call: &Call, program: &Path) {
        let Some(path) = call.opened() else { return };
        let flags = call.args.join(" ");
        let flags = flags.rsplit_once('"').map_or("", |(_, flags)| flags);
        let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_TMPFILE"];
        if call.name == "creat" || writes.iter().any(|flag| flags.contains(flag)) {
            self.actions.push(Action::Change { call: call.name.clone(), path });
        } else if !flags.contains("O_PATH") {
            self.actions.push(Action::Read { program: program.to_owned(), path });
        }
    }

    fn socket(&mut self, call: &Call, cwd: &Path) {
        let address = call.args.get(1).map(String::as_str).unwrap_or_default();
        if address.contains("AF_INET") && call.name == "bind" {
            self.actions.push(Action::Listen(address.to_owned()));
        } else if address.contains("AF_INET") {
            self.actions.push(Action::Connect(address.to_owned()));
        } else if call.name == "bind"
            && let Some((_, rest)) = address.split_once("sun_path=\"")
        {
            let path = rest.split('"').next().unwrap_or_default();
            let path = self.links.resolve(cwd, path.as_ref(), false);
            self.actions.push(Action::Change { call: call.name.clone(), path });
        }
    }

    fn change(&mut self, call: &Call, cwd: &Path) {
        let mut paths = Vec::new();
        for named in named(&call.name) {
            let base = match named.dir {
                Some(at) => call.descriptor(at).unwrap_or_else(|| cwd.to_owned()),
                None => cwd.to_owned(),
            };
            // Without a path, or with an empty one, the descriptor itself is meant.
            let path = named.path.and_then(|at| call.text(at)).unwrap_or_default();
            let path = self.links.resolve(&base, path.as_ref(), named.follow);
            self.actions.push(Action::Change { call: call.name.clone(), path: path.clone() });
            paths.push(path);
        }
        match (call.name.as_str(), &paths[..]) {
            ("unlink" | "unlinkat" | "rmdir", [path]) => self.links.removed(path),
            ("rename" | "renameat" | "renameat2", [from, to]) => self.links.renamed(from, to),
            ("symlink" | "symlinkat", [path]) => {
                let target = call.text(0).unwrap_or_default();
                self.links.made(path, target.as_ref());
            }
            _ => {}
        }
    }
}

/// Where a call names a path: the argument with the directory, the one with the path, and
/// whether a link at its end is followed.
struct Named {
    dir: Option<usize>,
    path: Option<usize>,
    follow: bool,
}

fn named(call: &str) -> Vec<Named> {
    let plain = |at, follow| Named { dir: None, path: Some(at), follow };
    let within = |dir, follow| Named { dir: Some(dir), path: Some(dir + 1), follow };
    match call {
        "unlink" | "rmdir" | "mkdir" | "mknod" | "lchown" | "lsetxattr" | "lremovexattr" => {
            vec![plain(0, false)]
        }
        "truncate" | "chmod" | "chown" | "utime" | "utimes" | "setxattr" | "removexattr" => {
            vec![plain(0, true)]
        }
        "rename" | "link" => vec![plain(0, false), plain(1, false)],
        "symlink" => vec![plain(1, false)],
        "unlinkat" | "mkdirat" | "mknodat" => vec![within(0, false)],
        "fchmodat" | "fchmodat2" | "fchownat" | "utimensat" | "futimesat" => {
            vec![within(0, true)]
        }
        "renameat" | "renameat2" | "linkat" => vec![within(0, false), within(2, false)],
        "symlinkat" => vec![within(1, false)],
        "ftruncate" | "fallocate" | "fchmod" | "fchown" | "fsetxattr" | "fremovexattr" => {
            vec![Named { dir: Some(0), path: None, follow: false }]
        }
        other => panic!("a call that is traced and not understood: {other}"),
    }
}
