//! Networks that a bed's hosts can be joined by: those of the papers, today's, and what a file describes.

use std::path::Path;
use std::time::Duration;

/// What a network is like, for every frame of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Emulated {
    /// Its name, or the file's.
    pub name: String,
    /// Mbit/s of one link, or of all together where the medium is shared.
    pub rate: f64,
    /// Microseconds that a frame takes besides.
    pub delay: f64,
    /// The longest packet, in bytes.
    pub mtu: u32,
    /// Whether one frame at a time is under way among all hosts; else each host has a link of its own to a switch, for both directions.
    pub shared: bool,
    /// The share of frames that are lost.
    pub loss: f64,
    /// Bytes that each frame takes on the wire besides what hosts see: preamble, check, gap, and what contention costs.
    pub overhead: f64,
}

/// What the sockets of a paper's hosts got of such a network (Fatoohi, Tables 1 and 2).
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The network's name here.
    pub name: &'static str,
    /// MiB/s one way.
    pub r_max: f64,
    /// Microseconds of a message of 8 bytes, one way.
    pub t_zero: f64,
    /// MiB/s of each link with four machines, two sending.
    pub four: f64,
    /// The socket's buffer with which they were got, in KiB.
    pub buffer: u32,
    /// MiB/s of PVM 3.3, direct (Table 3).
    pub pvm: f64,
}

/// Which the emulation is held against.
pub const KNOWN: [Known; 5] = [
    Known { name: "ethernet10", r_max: 1.0, t_zero: 550.0, four: 0.5, buffer: 8, pvm: 1.0 },
    Known { name: "fddi", r_max: 8.4, t_zero: 561.0, four: 5.1, buffer: 128, pvm: 3.1 },
    Known { name: "hippi", r_max: 77.6, t_zero: 593.0, four: 76.7, buffer: 1024, pvm: 3.1 },
    Known { name: "atm", r_max: 10.4, t_zero: 455.0, four: 10.4, buffer: 64, pvm: 3.2 },
    Known { name: "fc", r_max: 6.0, t_zero: 850.0, four: 6.0, buffer: 64, pvm: 2.5 },
];

/// A named one: name, Mbit/s, microseconds, MTU, shared, loss, overhead. Rates and delays of the papers' are what their hosts got out of them,
/// not what the wire could: HiPPI's wire had 800 Mbit/s, Fibre Channel's 200.
type Row = (&'static str, f64, f64, u32, bool, f64, f64);

const NAMED: [Row; 10] = [
    ("ethernet10", 10.0, 388.0, 1500, true, 0.0, 100.0),
    ("fddi", 73.0, 503.0, 4352, true, 0.0, 24.0),
    // Lewis and Cline's, of the same time: what a switch of FDDI's rate and frames gives, with no figure of theirs to hold it against.
    ("fddi-switch", 100.0, 200.0, 4352, false, 0.0, 24.0),
    ("hippi", 660.0, 557.0, 65280, false, 0.0, 24.0),
    ("atm", 89.0, 410.0, 9180, false, 0.0, 24.0),
    ("fc", 53.0, 784.0, 2048, false, 0.0, 24.0),
    ("allnode", 68.0, 30.0, 8192, false, 0.0, 24.0),
    ("gigabit", 1000.0, 0.0, 1500, false, 0.0, 24.0),
    ("lan", 100.0, 30.0, 1500, false, 0.0, 24.0),
    ("wan", 50.0, 20000.0, 1500, false, 0.001, 24.0),
];

impl Emulated {
    /// One of the named, or what a file says.
    pub fn find(word: &str) -> Result<Emulated, String> {
        if let Some(row) = NAMED.iter().find(|row| row.0 == word) {
            let &(name, rate, delay, mtu, shared, loss, overhead) = row;
            return Ok(Emulated { name: name.to_owned(), rate, delay, mtu, shared, loss, overhead });
        }
        let known = NAMED.map(|row| row.0).join(", ");
        if !Path::new(word).is_file() {
            return Err(format!("no network is called \"{word}\", and no file; the networks are {known}"));
        }
        let text = std::fs::read_to_string(word).map_err(|why| format!("{word}: {why}"))?;
        Emulated::parse(word, &text)
    }

    /// Reads `NAME = VALUE` lines: rate (Mbit/s; without it nothing limits), delay (us), mtu, medium (shared or switch), loss (a share), overhead (bytes).
    pub fn parse(name: &str, text: &str) -> Result<Emulated, String> {
        let mut found = Emulated {
            name: name.to_owned(),
            rate: f64::INFINITY,
            delay: 0.0,
            mtu: 1500,
            shared: false,
            loss: 0.0,
            overhead: 24.0,
        };
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let wrong = |why: String| format!("{name}, line {}: {why}", number + 1);
            let (key, value) = line
                .split_once('=')
                .map(|(key, value)| (key.trim(), value.trim()))
                .ok_or_else(|| wrong("a line is NAME = VALUE".into()))?;
            let within = |least: f64, most: f64| {
                let number = value.parse::<f64>().ok().filter(|number| (least..=most).contains(number));
                number.ok_or_else(|| {
                    wrong(format!("{key} is a number from {least} to {most}, not \"{value}\""))
                })
            };
            match key {
                "rate" => found.rate = within(0.01, 100_000.0)?,
                "delay" => found.delay = within(0.0, 10_000_000.0)?,
                "mtu" => found.mtu = within(1280.0, 65280.0)? as u32,
                "loss" => found.loss = within(0.0, 0.9)?,
                "overhead" => found.overhead = within(0.0, 10_000.0)?,
                "medium" if value == "shared" => found.shared = true,
                "medium" if value == "switch" => found.shared = false,
                "medium" => {
                    return Err(wrong(format!("the medium is \"shared\" or \"switch\", not \"{value}\"")));
                }
                _ => {
                    return Err(wrong(format!(
                        "\"{key}\"? There are rate, delay, mtu, medium, loss, overhead"
                    )));
                }
            }
        }
        Ok(found)
    }

    /// What it is like, in words behind its name.
    pub fn words(&self) -> String {
        let Emulated { name, rate, delay, mtu, loss, .. } = self;
        // Nobody else has the file.
        let name = if NAMED.iter().any(|row| row.0 == name) { name.clone() } else { format!("file {name}") };
        let medium = if self.shared { "shared medium" } else { "switch" };
        let rate = if rate.is_finite() { format!("{rate} Mbit/s, ") } else { String::new() };
        let loss = if *loss > 0.0 { format!(", {loss} of packets lost") } else { String::new() };
        format!("{name}: {rate}{delay} us of delay, packets of {mtu} bytes, {medium}{loss}")
    }

    /// The file that says the same.
    pub fn text(&self) -> String {
        let Emulated { rate, delay, mtu, loss, overhead, .. } = self;
        let medium = if self.shared { "shared" } else { "switch" };
        let rate = if rate.is_finite() { format!("rate = {rate}\n") } else { String::new() };
        format!(
            "{rate}delay = {delay}\nmtu = {mtu}\nmedium = {medium}\nloss = {loss}\noverhead = {overhead}\n"
        )
    }

    /// Whether the kernel's token bucket can do it: a switch that only limits the rate, and that to so much that many packets in one are a little
    /// of it. All else the relay does.
    pub fn is_rate_alone(&self) -> bool {
        (500.0..f64::INFINITY).contains(&self.rate) && !self.shared && self.delay == 0.0 && self.loss == 0.0
    }

    /// How long a frame of so many bytes occupies a link.
    pub fn airtime(&self, bytes: usize) -> Duration {
        Duration::from_secs_f64((bytes as f64 + self.overhead) * 8.0 / (self.rate * 1e6))
    }

    /// How long a frame takes besides.
    pub fn lag(&self) -> Duration {
        Duration::from_secs_f64(self.delay / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emulated_network_prints_its_properties() {
        let words = |name| Emulated::find(name).expect("known").words();
        assert_eq!(words("fddi"), "fddi: 73 Mbit/s, 503 us of delay, packets of 4352 bytes, shared medium");
        let lossy = Emulated::parse("mine", "loss = 0.01\n").expect("well made").words();
        assert_eq!(lossy, "file mine: 0 us of delay, packets of 1500 bytes, switch, 0.01 of packets lost");
    }

    #[test]
    fn named_networks_equal_their_files() {
        for row in NAMED {
            let named = Emulated::find(row.0).expect("it is named");
            assert_eq!(Emulated::parse(row.0, &named.text()), Ok(named));
        }
        for known in KNOWN {
            assert!(Emulated::find(known.name).is_ok(), "{}", known.name);
        }
        let bare = Emulated::parse("bare", "# nothing limits\n\n").expect("defaults");
        assert_eq!(Emulated::parse("bare", &bare.text()), Ok(bare.clone()));
        assert_eq!(bare.airtime(1500), Duration::ZERO);
        assert!(!bare.is_rate_alone() && Emulated::find("gigabit").expect("named").is_rate_alone());
    }

    #[test]
    fn emulated_network_refuses_invalid_line_with_cause() {
        let refused = |text| Emulated::parse("net", text).expect_err("refused");
        assert!(refused("rate = 10\nrate 10").contains("net, line 2: a line is NAME = VALUE"));
        assert!(
            refused("rate = fast").contains("line 1: rate is a number from 0.01 to 100000, not \"fast\"")
        );
        assert!(refused("mtu = 500").contains("mtu is a number from 1280"));
        assert!(refused("medium = token").contains("\"shared\" or \"switch\", not \"token\""));
        assert!(refused("\n\njitter = 3").contains("line 3: \"jitter\"?"));
        assert!(
            Emulated::find("token-ring")
                .expect_err("refused")
                .contains("ethernet10, fddi, fddi-switch, hippi")
        );
    }
}
