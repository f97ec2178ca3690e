//! Start-up counts: an agent calls us hundreds of times.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    // Nine thousand relocations of a position-independent program cost a fifth of the time of a
    // read. All code here is safe Rust, and libraries, heap and stack stay at random addresses.
    if target("OS") == "linux" && target("ENV") == "gnu" && target("ARCH") == "x86_64" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
