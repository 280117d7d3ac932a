//! `parvum algorithms`: which algorithm a collective uses, from the table that the libraries use.

use crate::terminal::out;
use clap::Args;
use parvum_collectives::plans::Order;
use parvum_collectives::table::{self, Case, Hosts, Operation};
use parvum_task::SessionError;

/// What is asked about.
#[derive(Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum algorithms", "all collectives and when each algorithm runs"),
    ("parvum algorithms MPI_Bcast 64K -n 8", "the algorithm of one call"),
]))]
pub struct AlgorithmsArgs {
    /// A collective, such as MPI_Bcast or broadcast [default: all]
    #[arg(value_parser = operation)]
    operation: Option<Operation>,
    /// The length of the data: 65536, 64K, 1M
    #[arg(value_parser = bytes, requires = "tasks")]
    bytes: Option<usize>,
    /// Assume N tasks
    #[arg(short = 'n', long, value_name = "N", requires = "bytes", value_parser = clap::value_parser!(u32).range(1..))]
    tasks: Option<u32>,
    /// Assume N hosts with consecutive tasks
    #[arg(long, value_name = "N", default_value_t = 1, requires = "bytes", value_parser = clap::value_parser!(u32).range(1..))]
    hosts: u32,
    /// Assume a nonblocking call, such as MPI_Ibcast
    ///
    /// The first eight collectives of a communicator use the same algorithms.
    #[arg(long, requires = "bytes")]
    nonblocking: bool,
}

/// Names of MPI's functions differ from the operations' in these.
const OTHER_NAMES: [(&str, Operation); 5] = [
    ("bcast", Operation::Broadcast),
    ("exscan", Operation::ExclusiveScan),
    ("reducescatter", Operation::ReduceScatter),
    ("reducescatterblock", Operation::ReduceScatter),
    ("exclusivescan", Operation::ExclusiveScan),
];

/// A collective, by its own name or that of a function of MPI.
pub(crate) fn operation(said: &str) -> Result<Operation, String> {
    let plain = said.to_lowercase().replace(['-', '_', ' '], "");
    let plain = plain.strip_prefix("mpi").unwrap_or(&plain);
    let own = Operation::ALL.into_iter().map(|operation| (operation.name(), operation));
    let names = own.chain(OTHER_NAMES);
    // MPI_Ibcast is the nonblocking form of MPI_Bcast; MPI_Gatherv has the parts of MPI_Gather in other lengths.
    let forms = [plain, plain.strip_prefix('i').unwrap_or(plain), plain.strip_suffix('v').unwrap_or(plain)];
    let found = |form: &str| names.clone().find(|(name, _)| name.replace('-', "") == form);
    forms.into_iter().find_map(found).map(|(_, operation)| operation).ok_or_else(|| {
        let all: Vec<&str> = Operation::ALL.into_iter().map(Operation::name).collect();
        format!("no such collective; help: use one of {}", all.join(", "))
    })
}

fn bytes(said: &str) -> Result<usize, String> {
    let digits = said.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match said[digits.len()..].to_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return Err("the unit must be K, M or G".to_owned()),
    };
    digits
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_mul(unit))
        .ok_or_else(|| "no number of bytes".to_owned())
}

/// Prints all rules, or the rule that holds.
pub fn algorithms(asked: &AlgorithmsArgs) -> Result<(), SessionError> {
    if let (Some(operation), Some(bytes), Some(tasks)) = (asked.operation, asked.bytes, asked.tasks) {
        let (tasks, hosts) = (tasks as usize, asked.hosts as usize);
        let hosts = match hosts {
            1 => Hosts::One,
            hosts if hosts >= tasks => Hosts::Apart,
            _ => Hosts::Shared { in_rows: true },
        };
        let by_segment = hosts == Hosts::One && !asked.nonblocking && tasks > 1;
        let case = Case {
            hosts,
            has_segment: by_segment,
            has_open_memory: by_segment,
            order: Order::Exact,
            ..Case::new(tasks, bytes)
        };
        let rule = table::rule(operation, &case);
        return out::line(format!("{}: {}", rule.algorithm.name(), rule.why));
    }
    let mut rows = vec![["COLLECTIVE", "IF", "ALGORITHM"].map(String::from).to_vec()];
    for operation in
        Operation::ALL.into_iter().filter(|operation| asked.operation.is_none_or(|one| one == *operation))
    {
        for (place, rule) in table::rules(operation).iter().enumerate() {
            let name = if place == 0 { operation.name() } else { "" };
            rows.push(vec![name.to_owned(), rule.to_string(), rule.algorithm.name().to_owned()]);
        }
    }
    out::table(&rows)?;
    out::line(
        "The first rule that fits holds. Bytes are the data of broadcast, one member's contribution of reductions, one part of gather and scatter,\n\
        all data together of allgather, and what one member gives of alltoall. Example: parvum algorithms MPI_Bcast 64K -n 8",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectives_show_mpi_and_own_names() {
        for (said, meant) in [
            ("MPI_Bcast", Operation::Broadcast),
            ("MPI_Ibcast", Operation::Broadcast),
            ("broadcast", Operation::Broadcast),
            ("MPI_Alltoallv", Operation::Alltoall),
            ("MPI_Exscan", Operation::ExclusiveScan),
            ("reduce-scatter", Operation::ReduceScatter),
            ("MPI_Reduce_scatter", Operation::ReduceScatter),
            ("MPI_Ireduce_scatter_block", Operation::ReduceScatter),
            ("IALLREDUCE", Operation::Allreduce),
        ] {
            assert_eq!(operation(said), Ok(meant), "{said}");
        }
        assert!(operation("MPI_Send").is_err_and(|why| why.contains("use one of barrier, broadcast")));
    }

    #[test]
    fn bytes_print_with_units() {
        assert_eq!((bytes("64K"), bytes("8"), bytes("2MiB")), (Ok(64 << 10), Ok(8), Ok(2 << 20)));
        assert!(bytes("64X").is_err() && bytes("K").is_err() && bytes("99999999999G").is_err());
    }
}
