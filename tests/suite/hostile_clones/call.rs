//! One line of a trace: the name of a system call, its arguments, and its result.

use std::path::{Path, PathBuf};

/// A system call that succeeded.
#[derive(Debug)]
pub struct Call {
    pub name: String,
    pub args: Vec<String>,
    pub result: String,
}

impl Call {
    /// Reads a line of `strace -y`; `None` for calls that failed and lines that are no calls.
    pub fn parse(line: &str) -> Option<Self> {
        let (left, result) = line.rsplit_once(" = ")?;
        let (name, args) = left.trim_end().strip_suffix(')')?.split_once('(')?;
        let is_call = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !is_call || result.starts_with("-1") || result.starts_with('?') {
            return None;
        }
        Some(Self { name: name.to_owned(), args: split(args), result: result.to_owned() })
    }

    /// An argument that is a string; `None` for NULL.
    pub fn text(&self, at: usize) -> Option<String> {
        let quoted = self.args.get(at)?.trim_end_matches('.').strip_prefix('"')?;
        Some(unescape(quoted.strip_suffix('"')?))
    }

    /// The path of an argument that is a descriptor, as the kernel resolved it.
    pub fn descriptor(&self, at: usize) -> Option<PathBuf> {
        annotation(self.args.get(at)?)
    }

    /// The path of the descriptor that the call returned.
    pub fn opened(&self) -> Option<PathBuf> {
        annotation(&self.result)
    }

    /// The process that the call returned.
    pub fn child(&self) -> Option<u32> {
        let digits = self.result.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    }
}

/// The path in `3</path>` or `AT_FDCWD</path>`.
fn annotation(text: &str) -> Option<PathBuf> {
    let (_, rest) = text.split_once('<')?;
    let path = rest[..rest.rfind('>')?].trim_end_matches("(deleted)").trim_end();
    path.starts_with('/').then(|| Path::new(&unescape(path)).to_owned())
}

/// Splits arguments at the commas that are in no string, list, structure or annotation.
fn split(text: &str) -> Vec<String> {
    let (mut args, mut arg) = (Vec::new(), String::new());
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '<' | '[' | '{' => depth += 1,
            '>' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                args.push(std::mem::take(&mut arg).trim().to_owned());
                continue;
            }
            _ => {}
        }
        arg.push(c);
    }
    args.push(arg.trim().to_owned());
    args
}

fn unescape(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.bytes().peekable());
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(digit @ b'0'..=b'7') => {
                let mut code = u32::from(digit - b'0');
                while let Some(next) = rest.next_if(|b| (b'0'..=b'7').contains(b)) {
                    code = code * 8 + u32::from(next - b'0');
                }
                bytes.push(code.to_le_bytes()[0]);
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn a_line_is_read_with_its_paths() {
    let line = r#"openat(AT_FDCWD</a b>, "x, \"y\"", O_RDONLY) = 3</tmp/x>"#;
    let call = Call::parse(line).unwrap();
    assert_eq!(call.name, "openat");
    assert_eq!(call.descriptor(0).unwrap(), Path::new("/a b"));
    assert_eq!(call.text(1).unwrap(), "x, \"y\"");
    assert_eq!(call.opened().unwrap(), Path::new("/tmp/x"));
    assert!(Call::parse(r#"unlink("x") = -1 ENOENT (No such file or directory)"#).is_none());
    assert!(Call::parse("+++ exited with 0 +++").is_none());
    assert_eq!(Call::parse(r#"chdir("a\7b")       = 0"#).unwrap().text(0).unwrap(), "a\u{7}b");
    assert_eq!(Call::parse("clone3({flags=X|Y, z=1}, 88) = 22700").unwrap().child(), Some(22700));
}
