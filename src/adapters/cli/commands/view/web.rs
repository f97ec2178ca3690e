use std::{net::IpAddr, path::PathBuf};

use crate::adapters::cli::{CliResult, Session};

/// Show states in the browser, and change them there
///
/// Prints its address on one line, then serves until it is stopped: progress, board, graph,
/// timeline, context, history, operations and reviews of the state, or of every state below DIR.
/// Changes by others appear by themselves. What you change there runs the commands of the command
/// line, on condition that the state is still at the revision shown; the history says that they
/// came from the page.
///
/// It listens on this machine only and requires the token in the address.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  statedir web
  statedir web --open
  statedir web ~/projects --read-only --port 8080")]
pub(in crate::adapters) struct Args {
    /// Show every state below this directory; else the state that other commands would use
    #[arg(value_name = "DIR")]
    root: Option<PathBuf>,
    /// The port [default: any that is free]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Open it in the browser
    #[arg(long)]
    open: bool,
    /// Show, and change nothing
    #[arg(long)]
    read_only: bool,
    /// Listen on another address than 127.0.0.1; traffic is not encrypted
    #[arg(long, value_name = "ADDR")]
    listen: Option<IpAddr>,
}

#[cfg(not(feature = "web"))]
pub(in crate::adapters::cli) fn run(_: &mut Session<'_>, _: &Args) -> CliResult {
    let failure = crate::adapters::cli::Failure::usage("this statedir was built without the page");
    Err(failure.hint("build it with the feature `web`; `statedir report` writes a page to read"))
}

#[cfg(feature = "web")]
pub(in crate::adapters::cli) fn run(session: &mut Session<'_>, args: &Args) -> CliResult {
    use std::net::Ipv4Addr;

    use serde_json::json;

    use crate::{
        adapters::{
            choose,
            cli::{Failure, in_process::Caller},
            web::{Server, Settings},
        },
        domain::ErrorCode,
    };

    let chosen = choose(session.named_dir().as_deref(), false).ok().filter(|dir| dir.exists());
    let (state, root) = match (&args.root, chosen) {
        (Some(root), _) => (None, root.clone()),
        (None, Some(dir)) => (Some(dir.clone()), dir),
        (None, None) => (None, PathBuf::from(".")),
    };
    if !root.is_dir() {
        let message = format!("there is no directory `{}`", root.display());
        return Err(Failure::new(ErrorCode::NotFound, message));
    }
    // The actor's name is checked before any request is served.
    session.environment()?;
    let address = args.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let port = args.port.unwrap_or(0);
    let caller = Caller::of_person(session.global.actor.clone(), "page");
    let settings = Settings { address, port, state, root, is_read_only: args.read_only };
    let server = Server::bind(settings, caller).map_err(|error| {
        let message = format!("cannot listen on {address} port {port}: {error}");
        Failure::new(ErrorCode::Io, message)
            .hint("`statedir web` without --port takes any that is free")
    })?;
    let line = match session.output.is_json() {
        true => json!({ "ok": true, "url": server.url() }).to_string(),
        false => server.url(),
    };
    session.output.stream(format!("{line}\n").as_bytes());
    if args.open && !open(&server.url_once()) {
        session.output.note("no browser could be opened; the address above does the same");
    }
    let error = server.serve();
    Err(Failure::new(ErrorCode::Io, format!("the server failed: {error}")))
}

/// Opens an address in the user's browser.
#[cfg(feature = "web")]
fn open(url: &str) -> bool {
    let named = std::env::var("BROWSER").ok().filter(|name| !name.trim().is_empty());
    let usual = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = std::process::Command::new(named.as_deref().unwrap_or(usual));
    let quiet = std::process::Stdio::null;
    command.arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().is_ok()
}
