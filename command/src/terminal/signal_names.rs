//! Signals by name and number.

/// The signals of Linux, by number; the first name of one number is the one that is shown.
const NAMES: [(&str, i32); 34] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ILL", 4),
    ("TRAP", 5),
    ("ABRT", 6),
    ("IOT", 6),
    ("BUS", 7),
    ("FPE", 8),
    ("KILL", 9),
    ("USR1", 10),
    ("SEGV", 11),
    ("USR2", 12),
    ("PIPE", 13),
    ("ALRM", 14),
    ("TERM", 15),
    ("STKFLT", 16),
    ("CHLD", 17),
    ("CONT", 18),
    ("STOP", 19),
    ("TSTP", 20),
    ("TTIN", 21),
    ("TTOU", 22),
    ("URG", 23),
    ("XCPU", 24),
    ("XFSZ", 25),
    ("VTALRM", 26),
    ("PROF", 27),
    ("WINCH", 28),
    ("IO", 29),
    ("POLL", 29),
    ("PWR", 30),
    ("SYS", 31),
    ("CLD", 17),
];

/// Reads a signal: `KILL`, `SIGKILL`, `kill` or `9`.
pub fn parse(text: &str) -> Result<i32, String> {
    let upper = text.to_ascii_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    let named = NAMES.iter().find(|(known, _)| *known == name).map(|(_, number)| *number);
    let number = named.or_else(|| text.parse().ok().filter(|number| (0..=64).contains(number)));
    number.ok_or_else(|| "a signal is a name such as KILL or SIGKILL, or a number from 0 to 64".into())
}

/// A signal for people: `SIGKILL (9)`.
pub fn name(signal: i32) -> String {
    match NAMES.iter().find(|(_, number)| *number == signal) {
        Some((name, number)) => format!("SIG{name} ({number})"),
        None => format!("signal {signal}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_parse_by_name_and_number() {
        for text in ["KILL", "SIGKILL", "kill", "sigkill", "9"] {
            assert_eq!(parse(text), Ok(9), "{text}");
        }
        assert!(parse("KILLED").is_err() && parse("65").is_err() && parse("-1").is_err());
        assert_eq!((name(15), name(40)), ("SIGTERM (15)".into(), "signal 40".into()));
    }
}
