//! Start-up counts: an agent calls us hundreds of times.
//!
//! Finding, loading and relocating shared libraries takes as long as half a read. So the program
//! is linked statically where the archives for it are installed; `crt-static` would do the same,
//! but it can only be asked for together with `--target`, on every command line. Whatever is
//! missing here leaves an ordinary program.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// The libraries that the standard library asks for, and the archives that stand in for each.
const STAND_INS: [(&str, &[&str]); 7] = [
    ("gcc_s", &["libgcc_eh.a"]),
    ("c", &["libc.a", "libgcc_eh.a", "libgcc.a"]),
    ("m", &["libm.a"]),
    ("rt", &["librt.a"]),
    ("pthread", &["libpthread.a"]),
    ("util", &["libutil.a"]),
    ("dl", &["libdl.a"]),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of_target = |name: &str| env::var(format!("CARGO_CFG_{name}")).unwrap_or_default();
    let is_known = of_target("TARGET_OS") == "linux"
        && of_target("TARGET_ENV") == "gnu"
        && of_target("TARGET_ARCH") == "x86_64";
    let is_asked_otherwise =
        of_target("TARGET_FEATURE").contains("crt-static") || !of_target("SANITIZE").is_empty();
    if !is_known || is_asked_otherwise {
        return;
    }
    // Nine thousand relocations of a position-independent program cost a fifth of the time of a
    // read. All code here is safe Rust, and heap and stack stay at random addresses.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    if let Some(folder) = archives().and_then(|archives| stand_in(&archives).ok()) {
        println!("cargo::rustc-link-arg-bins=-static");
        println!("cargo::rustc-link-arg-bins=-L{}", folder.display());
    }
}

/// What the linker is to find under the name of each library; `None` unless all are there.
fn archives() -> Option<Vec<(&'static str, Vec<String>)>> {
    let found = |names: &[&str]| names.iter().map(|name| archive(name)).collect::<Option<_>>();
    STAND_INS.iter().map(|(library, names)| Some((*library, found(names)?))).collect()
}

/// Where the C compiler that links has an archive.
fn archive(name: &str) -> Option<String> {
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let answer = Command::new(linker).arg(format!("-print-file-name={name}")).output().ok()?;
    let path = String::from_utf8(answer.stdout).ok()?.trim().to_owned();
    let is_usable = Path::new(&path).is_absolute() && Path::new(&path).is_file();
    (is_usable && !path.contains('"')).then_some(path)
}

/// A folder of linker scripts, each of which names archives instead of a shared library.
fn stand_in(libraries: &[(&str, Vec<String>)]) -> io::Result<PathBuf> {
    let folder = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("static");
    fs::create_dir_all(&folder)?;
    for (library, archives) in libraries {
        let script = format!("GROUP(\"{}\")\n", archives.join("\" \""));
        // Linkers differ in which of the two they look for after `-static`.
        for ending in ["so", "a"] {
            fs::write(folder.join(format!("lib{library}.{ending}")), &script)?;
        }
    }
    Ok(folder)
}
