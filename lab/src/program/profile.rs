//! Where a program's time goes, seen by the library `libparvum_profile.so` in its processes.

use super::Asked;
use super::left::Left;
use super::measured::Measured;
use super::once::run_once;
use super::systems::Way;
use crate::systems::peers::Own;
use serde::Deserialize;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The name of the library beside Parvum's others.
const LIBRARY: &str = "libparvum_profile.so";

/// The report of one process at its end.
#[derive(Debug, Clone, Deserialize)]
pub struct Process {
    /// Its number in the job, if its launcher says it.
    pub rank: Option<u32>,
    mpi: bool,
    program: String,
    /// Seconds from start to end.
    pub elapsed_s: f64,
    user_s: f64,
    system_s: f64,
    /// The largest resident set.
    pub memory_kib: u64,
    /// Bytes that it sent.
    pub bytes: u64,
    /// Messages that it sent, by the power of two of their bytes.
    pub messages: Vec<u64>,
    /// The functions of MPI that it called.
    pub calls: Vec<Call>,
}

/// One function of MPI.
#[derive(Debug, Clone, Deserialize)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// Whether it may wait for others.
    pub waits: bool,
    /// How often it was called.
    pub calls: u64,
    /// Time in it.
    pub ns: u64,
}

impl Process {
    /// Seconds in calls, of those that may wait or of the others.
    pub fn in_calls(&self, waits: bool) -> f64 {
        let calls = self.calls.iter().filter(|call| call.waits == waits && !is_start(&call.name));
        // Whole numbers have no zero with a minus sign.
        calls.map(|call| call.ns).sum::<u64>() as f64 * 1e-9
    }

    /// Seconds in MPI_Init and MPI_Finalize.
    pub fn starting(&self) -> f64 {
        self.calls.iter().filter(|call| is_start(&call.name)).map(|call| call.ns).sum::<u64>() as f64 * 1e-9
    }

    /// Seconds outside MPI.
    pub fn computing(&self) -> f64 {
        (self.elapsed_s - self.in_calls(true) - self.in_calls(false) - self.starting()).max(0.0)
    }

    /// Seconds of processor time.
    pub fn processor(&self) -> f64 {
        self.user_s + self.system_s
    }
}

/// Whether a call begins or ends MPI.
pub fn is_start(name: &str) -> bool {
    matches!(name, "MPI_Init" | "MPI_Init_thread" | "MPI_Finalize")
}

/// One profiled run.
#[derive(Debug, Clone)]
pub struct Profile {
    /// With how many processes.
    pub processes: u32,
    /// In the order of their ranks.
    pub ranks: Vec<Process>,
}

impl Profile {
    /// The functions, the one with the most time first: name, seconds of all ranks, calls, and whether it may wait.
    pub fn calls(&self) -> Vec<(String, f64, u64, bool)> {
        let mut sums: Vec<(String, f64, u64, bool)> = Vec::new();
        for call in self.ranks.iter().flat_map(|rank| &rank.calls) {
            let seconds = call.ns as f64 * 1e-9;
            match sums.iter_mut().find(|one| one.0 == call.name) {
                Some(sum) => (sum.1, sum.2) = (sum.1 + seconds, sum.2 + call.calls),
                None => sums.push((call.name.clone(), seconds, call.calls, call.waits)),
            }
        }
        sums.sort_by(|a, b| b.1.total_cmp(&a.1));
        sums
    }

    /// Seconds that all ranks together lived.
    pub fn lived(&self) -> f64 {
        self.ranks.iter().map(|rank| rank.elapsed_s).sum()
    }

    /// Processor time of all ranks.
    pub fn processor(&self) -> f64 {
        self.ranks.iter().map(Process::processor).sum()
    }

    /// The largest resident set of a rank, in MiB.
    pub fn memory(&self) -> f64 {
        self.ranks.iter().map(|rank| rank.memory_kib).max().unwrap_or(0) as f64 / 1024.0
    }

    /// Messages of all ranks by size: up to so many bytes, how many.
    pub fn messages(&self) -> Vec<(u64, u64)> {
        let buckets = self.ranks.iter().map(|rank| rank.messages.len()).max().unwrap_or(0);
        let sum = |bucket: usize| self.ranks.iter().filter_map(|rank| rank.messages.get(bucket)).sum::<u64>();
        (0..buckets).map(|bucket| ((1u64 << bucket) - 1, sum(bucket))).filter(|one| one.1 > 0).collect()
    }
}

/// A profile, or why there is none.
pub type Profiled = Result<Profile, String>;

/// Profiles each system that worked, with the largest number of processes that worked there.
pub fn of_each(
    asked: &Asked,
    ways: &[Way],
    measured: &Measured,
    own: &Own,
    place: (&Path, &Left),
    interrupted: &AtomicBool,
) -> Vec<Profiled> {
    let library = own.libraries.as_ref().map(|folder| folder.join(LIBRARY)).filter(|file| file.is_file());
    let (scratch, left) = place;
    let of = |(at, way): (usize, &Way)| {
        let library =
            library.as_deref().ok_or_else(|| format!("{LIBRARY} is missing beside libpvm3.so.3"))?;
        let worked = asked
            .processes
            .iter()
            .rev()
            .find(|processes| measured.failure(**processes, at).is_none())
            .and_then(|processes| Some((*processes, measured.time(*processes, at)?.median)));
        let (processes, seconds) = worked.ok_or("no run succeeded")?;
        let time = Duration::from_secs_f64(seconds);
        if time > asked.budget / 2 {
            return Err("one more run would take too long; help: --budget S gives more seconds".into());
        }
        // The processes of an executor start others, and no library tells the workers from the rest.
        if asked.python.is_some() {
            return Err("executors have no profile".into());
        }
        // A profile costs little, but the computer may be busier than before.
        let patience = asked.patience.unwrap_or((10 * time).max(Duration::from_secs(10)));
        let folder = scratch.join(format!("profile{at}"));
        profiled(asked, (way, processes, patience), library, (&folder, left), interrupted)
    };
    ways.iter().enumerate().map(of).collect()
}

fn profiled(
    asked: &Asked,
    (way, processes, patience): (&Way, u32, Duration),
    library: &Path,
    (folder, left): (&Path, &Left),
    interrupted: &AtomicBool,
) -> Profiled {
    let failed = |why: std::io::Error| format!("{}: {why}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    let mut launch = way.launch(processes, patience);
    launch.environment.push(left.variable());
    launch.environment.push(("PARVUM_PROFILE".into(), folder.into()));
    launch.environment.push(("LD_PRELOAD".into(), library.into()));
    let ended = run_once(&launch, asked, &folder.join("out"), interrupted);
    left.end();
    ended.map_err(|why| format!("the run with the profile failed: {why}"))?;
    let files = fs::read_dir(folder).map_err(failed)?.flatten().map(|file| file.path());
    let all: Vec<Process> = files
        .filter(|file| file.extension().is_some_and(|one| one == "json"))
        .filter_map(|file| serde_json::from_slice(&fs::read(file).ok()?).ok())
        .collect();
    Profile::of(processes, all, &asked.parts[0].words[0].to_string_lossy())
        .ok_or_else(|| "no process of the program loaded the profiling library".into())
}

impl Profile {
    /// The processes of the program among all that reported: a launcher and a shell report too.
    fn of(processes: u32, all: Vec<Process>, program: &str) -> Option<Profile> {
        let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let has_mpi = all.iter().any(|one| one.mpi);
        let mut ranks: Vec<Process> = all
            .into_iter()
            .filter(|one| if has_mpi { one.mpi } else { name(&one.program) == name(program) })
            .collect();
        ranks.sort_by_key(|one| one.rank);
        (!ranks.is_empty()).then_some(Profile { processes, ranks })
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A rank that lived ten seconds, and waited so many of them in a reduction.
    pub fn rank(number: u32, waited: f64) -> Process {
        let call = |name: &str, waits, ns| Call { name: name.into(), waits, calls: 10, ns };
        Process {
            rank: Some(number),
            mpi: true,
            program: "./app".into(),
            elapsed_s: 10.0,
            user_s: 9.0,
            system_s: 0.5,
            memory_kib: 2048,
            bytes: 800,
            messages: vec![0, 0, 0, 0, 10],
            calls: vec![
                call("MPI_Allreduce", true, (waited * 1e9) as u64),
                call("MPI_Isend", false, 500_000_000),
                call("MPI_Init", true, 100_000_000),
            ],
        }
    }

    #[test]
    fn profile_divides_time_of_a_rank() {
        let one = rank(0, 4.0);
        assert!((one.in_calls(true) - 4.0).abs() < 1e-9 && (one.in_calls(false) - 0.5).abs() < 1e-9);
        assert!((one.computing() - 5.4).abs() < 1e-9 && (one.processor() - 9.5).abs() < 1e-9);
    }

    #[test]
    fn profile_leaves_launcher_out() {
        let launcher = Process { mpi: false, program: "/bin/sh".into(), ..rank(0, 0.0) };
        let all = vec![launcher.clone(), rank(1, 1.0), rank(0, 2.0)];
        let profile = Profile::of(2, all, "./app").expect("two ranks");
        assert_eq!(profile.ranks.iter().map(|one| one.rank).collect::<Vec<_>>(), [Some(0), Some(1)]);
        assert_eq!(profile.calls()[0].0, "MPI_Allreduce");
        assert_eq!(profile.messages(), [(15, 20)]);
        // Programs of PVM are known by their name.
        let tasks = vec![launcher, Process { mpi: false, ..rank(0, 0.0) }];
        assert_eq!(Profile::of(1, tasks, "app").expect("one").ranks.len(), 1);
    }
}
