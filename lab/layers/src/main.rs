//! What each layer adds to the way of an empty message, by peeling: the same exchange between two pinned threads over the
//! bare hardware, then with each layer of Parvum's laid on it in turn. The laboratory starts this like any other program
//! (`parvum compare --suite overhead`) and takes the differences; the library and the interfaces above these layers it
//! measures by programs of `apps/`.
//!
//! The layers take turns in bouts, so that a disturbance of the machine falls on all of them.

#![deny(unsafe_code)]

use clap::Parser;
use parvum_layers::Layer;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Measure the half round trip of an empty message, layer by layer.
#[derive(Debug, Parser)]
#[command(name = "layers")]
struct Options {
    /// The threads that exchange messages; there are always two
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..=2))]
    tasks: u32,
    /// The core of each thread
    #[arg(long, value_delimiter = ',', default_value = "0,1")]
    cpus: Vec<usize>,
    /// How often each layer has its turn
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    bouts: u32,
    /// Samples of each layer in each bout
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Where the samples go, a line of JSON for each layer; standard output without it
    #[arg(long)]
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    // A thread that fails leaves the other waiting for ever: the first one to fail ends both.
    std::panic::set_hook(Box::new(|why| {
        eprintln!("layers: {why}");
        std::process::exit(1);
    }));
    match measure(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("layers: {why}");
            ExitCode::FAILURE
        }
    }
}

fn measure(options: &Options) -> Result<(), String> {
    let [first, second] = options.cpus[..] else {
        return Err(format!("two cores are needed, --cpus names {}", options.cpus.len()));
    };
    if first == second {
        return Err("the threads need a core each: name two different ones with --cpus".into());
    }
    let mut layers = parvum_layers::all()?;
    let mut samples: Vec<Vec<u64>> = vec![Vec::new(); layers.len()];
    for bout in 0..options.bouts as usize {
        for turn in 0..layers.len() {
            // Another one begins each time.
            let at = (bout + turn) % layers.len();
            samples[at].extend((layers[at].bout)([first, second], options.samples)?);
        }
    }
    let said = match &options.out {
        Some(path) => File::create(path).and_then(|mut file| write(&mut file, &layers, &samples)),
        None => write(&mut io::stdout().lock(), &layers, &samples),
    };
    said.map_err(|why| format!("cannot write the samples: {why}"))
}

fn write(out: &mut impl Write, layers: &[Layer], samples: &[Vec<u64>]) -> io::Result<()> {
    for (layer, samples) in layers.iter().zip(samples) {
        let &Layer { route, name, trips, .. } = layer;
        let hops = 2 * trips;
        write!(
            out,
            "{{\"program\":\"layers\",\"layer\":\"{name}\",\"route\":\"{route}\",\"tasks\":2,\"size\":0,\"hops\":{hops},\"samples_ns\":["
        )?;
        for (at, sample) in samples.iter().enumerate() {
            write!(out, "{}{sample}", if at == 0 { "" } else { "," })?;
        }
        writeln!(out, "]}}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(words: &[&str]) -> Options {
        Options::parse_from(["layers"].iter().chain(words))
    }

    #[test]
    fn layers_require_two_different_cores() {
        let refused = |cpus| measure(&options(&["--cpus", cpus])).expect_err("refused");
        assert!(refused("0").contains("two cores"));
        assert!(refused("1,1").contains("a core each"));
        assert!(Options::try_parse_from(["layers", "--tasks", "3"]).is_err());
    }

    #[test]
    fn line_names_its_layer_and_route() {
        let layers = [Layer { route: "shm", name: "cell", trips: 4, bout: Box::new(|_, _| Ok(vec![])) }];
        let mut out = Vec::new();
        write(&mut out, &layers, &[vec![80, 90]]).expect("written");
        assert_eq!(
            String::from_utf8(out).expect("text"),
            "{\"program\":\"layers\",\"layer\":\"cell\",\"route\":\"shm\",\"tasks\":2,\"size\":0,\"hops\":8,\"samples_ns\":[80,90]}\n"
        );
    }
}
