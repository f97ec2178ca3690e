//! Start-up counts: an agent calls us hundreds of times.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") != "linux" || target("ENV") != "gnu" || target("ARCH") != "x86_64" {
        return;
    }
    // Nine thousand relocations of a position-independent program cost a fifth of the time of a
    // read. All code here is safe Rust, and libraries, heap and stack stay at random addresses.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // The unwinder is needed for the backtrace of a bug and for nothing else; loading it as a
    // library of its own takes a tenth of the time of a read.
    if let Some(stand_in) = static_unwinder().and_then(|archive| stand_in(&archive)) {
        println!("cargo::rustc-link-arg-bins=-L{}", stand_in.display());
    }
}

/// The archive that comes with the C compiler that links; without one nothing is changed.
fn static_unwinder() -> Option<PathBuf> {
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let answer = Command::new(linker).arg("-print-file-name=libgcc_eh.a").output().ok()?;
    let path = PathBuf::from(String::from_utf8(answer.stdout).ok()?.trim());
    (path.is_absolute() && path.is_file()).then_some(path)
}

/// A folder in which the linker finds the archive under the name of the library.
fn stand_in(archive: &Path) -> Option<PathBuf> {
    let folder = PathBuf::from(env::var_os("OUT_DIR")?).join("unwinder");
    fs::create_dir_all(&folder).ok()?;
    fs::write(folder.join("libgcc_s.so"), format!("INPUT(\"{}\")\n", archive.to_str()?)).ok()?;
    Some(folder)
}
