//! UCX, measured by its own program: `ucx_perftest` is a server and a client, run once for each test.

use crate::run::experiment::Test;
use crate::run::launch::{Launch, Running, explain};
use crate::stats::samples::Line;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

/// How a launch went: all its tests.
#[derive(Debug)]
pub struct Ended {
    /// From the first start to the last end.
    pub elapsed: Duration,
    /// One line for each test, or why the launch does not count.
    pub lines: Result<Vec<Line>, String>,
}

/// What the program prints at the end of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Figures {
    /// Microseconds: for a latency test half a round trip, for others what a send costs its caller.
    typical_us: f64,
    /// Messages a second.
    rate: f64,
}

/// Runs the tests one after another. `program` is `ucx_perftest` with its environment and deadline.
pub fn run(program: &Launch, tests: &[Test], cores: &[u32], log: &Path) -> Ended {
    let begun = Instant::now();
    let lines = tests
        .iter()
        .map(|test| {
            let figures = pair(program, test, cores, log)
                .map_err(|why| format!("{} of {} B: {why}", test.name, test.size))?;
            Ok(line(test, &figures))
        })
        .collect();
    Ended { elapsed: begun.elapsed(), lines }
}

/// One server and one client, each on its core.
fn pair(program: &Launch, test: &Test, cores: &[u32], log: &Path) -> Result<Figures, String> {
    let port = free_port().map_err(|cause| format!("no port is free: {cause}"))?.to_string();
    let core = |at: usize| cores.get(at).or(cores.first()).copied().unwrap_or(0).to_string();
    let words = |words: &[&str]| words.iter().map(Into::into).collect();
    let mut server = program.clone();
    server.arguments = words(&["-p", &port, "-c", &core(0)]);
    let heard = log.with_extension("server");
    let running = server.begin(&heard).map_err(|cause| format!("cannot start ucx_perftest: {cause}"))?;
    if let Err(why) = listening(&port, &running) {
        let _ = running.end(Duration::ZERO);
        return Err(explain(&why, &heard));
    }
    let mut client = program.clone();
    let (size, count, warm) = (test.size.to_string(), test.count.to_string(), (test.count / 10).to_string());
    client.arguments = words(&["127.0.0.1", "-p", &port, "-c", &core(1), "-t", test.name, "-s", &size]);
    client.arguments.extend(["-n", &count, "-w", &warm, "-O", WINDOW, "-f"].map(Into::into));
    let ended = client.run(log);
    // The server ends with its client; one that lost it is not waited for.
    let patience = if ended.failure.is_some() { Duration::ZERO } else { Duration::from_secs(2) };
    let _ = running.end(patience);
    if let Some(failure) = ended.failure {
        return Err(failure);
    }
    let printed =
        std::fs::read_to_string(log).map_err(|cause| format!("its words cannot be read: {cause}"))?;
    figures(&printed)
}

/// Sends under way at once, where a test is of many.
const WINDOW: &str = "64";

/// A port that nobody had a moment ago; a test fails when somebody takes it meanwhile, and is run again.
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Waits until somebody listens at the port. A connection would be taken for the client, so the kernel's list is read.
fn listening(port: &str, running: &Running) -> Result<(), String> {
    let wanted = format!(":{:04X}", port.parse::<u16>().unwrap_or_default());
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        let sockets =
            ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| std::fs::read_to_string(path).unwrap_or_default());
        if sockets.iter().flat_map(|text| text.lines()).any(|line| is_listener(line, &wanted)) {
            return Ok(());
        }
        if running.is_over() {
            return Err("its server ended at once".into());
        }
        // Nothing tells that a socket listens; to connect would be taken for the client.
        std::thread::sleep(Duration::from_millis(5));
    }
    Err("its server does not listen".into())
}

/// A line of /proc/net/tcp: number, local address, remote address, state; 0A is one that listens.
fn is_listener(line: &str, port: &str) -> bool {
    let mut words = line.split_whitespace().skip(1);
    let local = words.next().is_some_and(|address| address.ends_with(port));
    local && words.nth(1) == Some("0A")
}

/// The last line with numbers: how many messages, three times, two bandwidths, two rates.
fn figures(printed: &str) -> Result<Figures, String> {
    let numbers = |line: &str| -> Option<Vec<f64>> {
        let line = line.trim().trim_start_matches("Final:");
        let found: Vec<f64> = line.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
        (found.len() == 8).then_some(found)
    };
    let last =
        printed.lines().rev().find_map(numbers).ok_or("ucx_perftest printed no line of eight numbers")?;
    let (typical_us, rate) = (last[1], last[7]);
    if rate <= 0.0 || !last.iter().all(|number| number.is_finite()) {
        return Err(format!("ucx_perftest measured {rate} messages a second"));
    }
    Ok(Figures { typical_us, rate })
}

/// One sample that covers so many hops that no digit is lost.
fn line(test: &Test, figures: &Figures) -> Line {
    let (hops, ns) = match test.program {
        "ring" => (1000, figures.typical_us * 1000.0 * 1000.0),
        _ => (1_000_000, 1e9 / figures.rate * 1e6),
    };
    Line {
        program: test.program.into(),
        tasks: 2,
        size: test.size,
        hops: Some(hops),
        samples_ns: vec![ns.round() as u64],
        ..Line::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
+-----------+--------------+-----------------------------+---------------------+-----------------------+
|           |              |       latency (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
+-----------+--------------+---------+---------+---------+----------+----------+-----------+-----------+
|   Stage   | # iterations | 50.0%ile| average | overall |  average |  overall |  average  |  overall  |
+-----------+--------------+---------+---------+---------+----------+----------+-----------+-----------+
[thread 0]             5000     0.410     0.444     0.444      17.18      17.18     2252252     2252252
Final:                20000     0.401     0.425     0.430      17.95      17.74     2352941     2325581
";
    const LATENCY: Test = Test { name: "tag_lat", size: 8, count: 20_000, program: "ring" };

    #[test]
    fn perftest_figures_come_from_last_number_line() {
        let found = figures(PRINTED).unwrap();
        assert_eq!(found, Figures { typical_us: 0.401, rate: 2_325_581.0 });
        assert_eq!(line(&LATENCY, &found).each().collect::<Vec<_>>(), [401.0]);
        // Without its heading words, as -f prints it in other releases.
        assert_eq!(figures(&PRINTED.replace("Final:", "      ")).unwrap(), found);
    }

    #[test]
    fn perftest_rate_keeps_many_digits() {
        let test = Test { name: "tag_bw", program: "rate", ..LATENCY };
        let found = figures(PRINTED).unwrap();
        let ns = line(&test, &found).each().next().unwrap();
        assert!((1e9 / ns - 2_325_581.0).abs() < 10.0, "{ns}");
    }

    #[test]
    fn perftest_output_without_figures_is_refused() {
        for text in
            ["", "UCX  ERROR missing test name\n", "Final: 20000 0.4 0.4\n", &PRINTED.replace("2325581", "0")]
        {
            assert!(figures(text).is_err(), "{text}");
        }
    }

    #[test]
    fn listener_is_distinguished_from_connection() {
        let line = "   0: 00000000:36B0 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0 0 1";
        assert!(is_listener(line, ":36B0"));
        assert!(!is_listener(line, ":36B1"));
        assert!(!is_listener(&line.replace(" 0A ", " 01 "), ":36B0"));
    }

    #[test]
    fn program_that_never_listens_is_reported() {
        let program = Launch {
            program: "/bin/true".into(),
            arguments: vec![],
            environment: vec![],
            deadline: Duration::from_secs(5),
        };
        let log = std::env::temp_dir().join(format!("parvum-lab-perftest-{}.log", std::process::id()));
        let why = run(&program, &[LATENCY], &[0], &log).lines.unwrap_err();
        let _ = std::fs::remove_file(log.with_extension("server"));
        assert!(why.contains("tag_lat of 8 B") && why.contains("server"), "{why}");
    }
}
