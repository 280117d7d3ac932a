//! Times on the command line: 90s, 15m, 1h, 7d.

/// The units and their seconds.
const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// The seconds of a time.
pub fn parse(text: &str) -> Result<u64, String> {
    let unit = UNITS.iter().find_map(|(letter, seconds)| Some((text.strip_suffix(*letter)?, seconds)));
    let (number, seconds) = unit.unwrap_or((text, &1));
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse::<u64>().ok().filter(|number| digits && *number > 0);
    number.and_then(|number| number.checked_mul(*seconds)).ok_or_else(|| {
        format!("{text} is not a time; help: use a number and a unit, such as 90s, 15m, 1h, 7d")
    })
}

/// A time for people, in the largest unit that fits.
pub fn shown(seconds: u64) -> String {
    let unit = UNITS.iter().find(|(_, unit)| seconds.is_multiple_of(*unit) && seconds > 0);
    unit.map_or_else(|| format!("{seconds}s"), |(letter, unit)| format!("{}{letter}", seconds / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_shown() {
        for (text, seconds, again) in [
            ("90s", 90, "90s"),
            ("15m", 900, "15m"),
            ("1h", 3600, "1h"),
            ("7d", 604_800, "7d"),
            ("120", 120, "2m"),
        ] {
            assert_eq!(parse(text), Ok(seconds));
            assert_eq!(shown(seconds), again);
        }
        for wrong in ["", "h", "0s", "-1h", "+1h", "1w", "1.5h", "9999999999999999999d", "1 h"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
