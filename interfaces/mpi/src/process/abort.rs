//! How a process ends its job: by `MPI_Abort`, or because of an error that the program does not handle.

use crate::errors::{Error, name_of, text_of};
use crate::process::launcher;
use crate::process::machine::{machine, machine_notes};
use parvum_errors::{Message, Style};
use parvum_wire::control::Request;
use std::io::Write;

/// Ends the job, saying why, as it is done by default.
pub(crate) fn fatal(error: &Error) -> ! {
    end_job(error, "MPI_ERRORS_ARE_FATAL is set, as it is by default")
}

/// The same, because that is set.
pub(crate) fn end_job(error: &Error, wherefore: &str) -> ! {
    let own = machine().ok().map(|machine| machine.rank().to_string());
    // Before MPI_Init only the launcher knows.
    let rank = own.or_else(|| std::env::var("PARVUM_RANK").ok());
    let who = rank.map_or("an MPI program".to_owned(), |rank| format!("rank {rank}"));
    let program = std::env::args_os().next().unwrap_or_default();
    let style = Style::of_stderr();
    let ends = format!("the job ends: {wherefore}");
    let said = match with_code(&error.text) {
        Some((call, what)) => {
            let call = call.map_or_else(String::new, |call| format!("in {call}, "));
            let mut message = Message::read(what);
            message.notes.extend([format!("{call}{who} of {}", program.display()), ends]);
            message.shown("libmpi", style).into_bytes()
        }
        None if style.is_terminal && !error.text.is_empty() => {
            let message = Message::new(name_of(error.class()), &error.text);
            message
                .note(format!("{who} of {}", program.display()))
                .note(ends)
                .shown("libmpi", style)
                .into_bytes()
        }
        None => {
            let text = match error.text.is_empty() {
                true => text_of(error.code).unwrap_or_default(),
                false => format!("{} ({})", error.text, name_of(error.class())).into_bytes(),
            };
            [who.as_bytes(), b": ", &text, b"\n    ", ends.as_bytes()].concat()
        }
    };
    // Nobody can be told when even that fails.
    let _ = std::io::stderr().write_all(&[&said, &b"\n"[..]].concat());
    abort(1)
}

/// The call in which something failed, and what: a text with a code of Parvum's begins with that.
fn with_code(text: &str) -> Option<(Option<&str>, &str)> {
    let is_code = |at: &usize| {
        let code = text[*at..].strip_prefix("E-").and_then(|rest| rest.split_once(':')).map(|(code, _)| code);
        let begins = *at == 0 || text[..*at].ends_with(' ');
        begins && code.is_some_and(|code| code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-'))
    };
    let at = text.match_indices("E-").map(|(at, _)| at).find(is_code)?;
    let call = text[..at].split(": ").next().filter(|call| call.starts_with("MPI_"));
    Some((call, &text[at..]))
}

/// Ends the job, and this process with that code.
pub(crate) fn abort(code: i32) -> ! {
    if let Ok(machine) = machine()
        && machine.is_joined()
    {
        let signal = libc::SIGTERM;
        // Whoever has no job has nobody else to end.
        // SAFETY: ignoring a signal concerns this process alone, and it is about to end.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
        let _ = machine.api.ask(&Request::SignalJob { signal }, &machine_notes());
    }
    let low = code & 0xff;
    launcher::abort(if low == 0 { 1 } else { low });
    // SAFETY: ends the process, without what was to be done at its end: others may be inside MPI.
    unsafe { libc::_exit(if low == 0 { 1 } else { low }) }
}

#[cfg(test)]
mod tests {
    use super::with_code;

    #[test]
    fn text_with_error_code_splits_at_the_code() {
        let text = "MPI_Init: NoMachine: E-OPTION: PARVUM_ROUTE=foo: not a transport; help: use auto";
        assert_eq!(
            with_code(text),
            Some((Some("MPI_Init"), "E-OPTION: PARVUM_ROUTE=foo: not a transport; help: use auto"))
        );
        assert_eq!(with_code("the machine is lost: E-LOST: gone"), Some((None, "E-LOST: gone")));
        for none in ["MPI_Send: the rank is not valid", "a file NAME-E-1: x", "E-mail: none", ""] {
            assert_eq!(with_code(none), None, "{none}");
        }
    }
}
