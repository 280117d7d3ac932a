//! Checks of this host: its kernel, its limits, its container.

use super::finding::Finding;
use crate::look::views::bytes;
use parvum_task::MachineDirectory;
use parvum_transport::RemoteMemory;
use rustix::process::{Resource, getrlimit};
use std::fs;
use std::io::{BufRead, BufReader, IoSliceMut};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Programs of other MPI libraries need more than the 64 MB that Docker gives.
const ROOM: u64 = 256 << 20;
/// A task keeps a few descriptors for each peer.
const DESCRIPTORS: u64 = 1024;
const PROCESSES: u64 = 1024;

pub fn all() -> Vec<Finding> {
    let mut all = vec![directory(), shared_memory(Path::new("/dev/shm")), single_copy(), ptrace(), memlock()];
    all.extend(limits());
    all.push(cgroup(
        Path::new("/sys/fs/cgroup"),
        &fs::read_to_string("/proc/self/cgroup").unwrap_or_default(),
    ));
    all.push(huge_pages());
    all
}

/// The directory of the machine, and whether a daemon answers there.
fn directory() -> Finding {
    let place = MachineDirectory::from_env();
    let dir = place.dir().display();
    if let Err(error) = place.check()
        && place.dir().exists()
    {
        let message = parvum_errors::Message::read(&error.to_string());
        let help =
            message.help.first().cloned().unwrap_or_else(|| format!("`parvum explain {}`", message.code));
        return Finding::error("machine", message.what, help);
    }
    match crate::tool() {
        Ok(session) => Finding::ok("machine", format!("a daemon runs on {} in {dir}", session.me.host)),
        Err(parvum_task::SessionError::NoDaemon(_)) => {
            Finding::ok("machine", format!("none runs in {dir}; the next program starts one"))
        }
        Err(error) => {
            let message = parvum_errors::Message::read(&error.to_string());
            let text = format!("{}: {}", message.code, message.what);
            let mut finding = Finding::error("machine", text, format!("`parvum explain {}`", message.code));
            finding.help.splice(0..0, message.help);
            finding
        }
    }
}

fn shared_memory(folder: &Path) -> Finding {
    let shown = folder.display();
    let Ok(file) = rustix::fs::statvfs(folder) else {
        let text = format!("{shown} is missing; Parvum needs none, other MPI libraries do");
        return Finding::warning("shm", text, format!("as root, `mount -t tmpfs -o mode=1777 shm {shown}`"));
    };
    let (size, free) = (file.f_blocks * file.f_frsize, file.f_bavail * file.f_frsize);
    let probe = folder.join(format!("parvum-doctor-{}", std::process::id()));
    let written = fs::write(&probe, b"x");
    let _ = fs::remove_file(&probe);
    if let Err(error) = written {
        let text = format!("{shown} is not writable ({error}); Parvum needs none, other MPI libraries do");
        return Finding::warning("shm", text, format!("as root, `chmod 1777 {shown}`"));
    }
    let is_noexec = file.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC);
    let mode = if is_noexec { ", noexec" } else { "" };
    let text = format!("{shown} has {}, {} free{mode}", bytes(size), bytes(free));
    match free < ROOM {
        true => Finding::warning(
            "shm",
            format!("{text}; Parvum uses memfd instead, other MPI libraries may fail"),
            format!("as root, `mount -o remount,size=2G {shown}`; in Docker, `--shm-size=2g`"),
        ),
        false => Finding::ok("shm", text),
    }
}

/// Copies from a child as a task copies from another.
fn single_copy() -> Finding {
    let failed = |why: &str| {
        let text = format!("process_vm_readv is refused ({why}); long messages take two copies");
        Finding::warning(
            "single-copy",
            text,
            "in Docker, `--cap-add=SYS_PTRACE`, or a seccomp profile that permits process_vm_readv",
        )
        .help("as root, `sysctl -w kernel.yama.ptrace_scope=1`")
    };
    let child = std::env::current_exe().and_then(|own| {
        let mut child = Command::new(own);
        child.args(["doctor", "--victim"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
    });
    let Ok(mut child) = child else { return failed("no child could be started") };
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        let _ = BufReader::new(output).read_line(&mut line);
    }
    let mut copy = [0; VICTIM.len()];
    let result = line.trim().parse().map(|address| {
        let from = [RemoteMemory { address, length: copy.len() }];
        parvum_shm::single_copy::read(child.id(), &from, &mut [IoSliceMut::new(&mut copy)])
    });
    // The child ends when its input does.
    drop(child.stdin.take());
    let _ = child.wait();
    match result {
        Ok(Ok(_)) if copy == VICTIM => {
            Finding::ok("single-copy", "process_vm_readv works: long messages take one copy")
        }
        Ok(Ok(_)) => failed("it read other bytes"),
        Ok(Err(why)) => failed(&format!("{why:?}")),
        Err(_) => failed("the child printed no address"),
    }
}

/// The memory that the parent copies.
static VICTIM: [u8; 32] = *b"Parvum's doctor reads this text.";

/// The child of the check: says where its text is, and ends with its input.
pub fn victim() {
    println!("{}", VICTIM.as_ptr() as usize);
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}

/// The file in which Yama says which processes may read another process.
pub const YAMA: &str = "/proc/sys/kernel/yama/ptrace_scope";

/// The scope in that file. An error: this kernel has no Yama.
pub fn ptrace_scope() -> std::io::Result<String> {
    fs::read_to_string(YAMA).map(|text| text.trim().to_owned())
}

fn ptrace() -> Finding {
    match ptrace_scope().as_deref() {
        Err(_) => Finding::ok("ptrace", "this kernel has no Yama"),
        Ok(scope @ ("0" | "1")) => Finding::ok("ptrace", format!("ptrace_scope is {scope}")),
        Ok(scope) => Finding::warning(
            "ptrace",
            format!(
                "ptrace_scope is {scope}: only root may read another process; long messages take two copies"
            ),
            "as root, `sysctl -w kernel.yama.ptrace_scope=1`",
        ),
    }
}

fn shown_limit(limit: Option<u64>) -> String {
    limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string())
}

fn memlock() -> Finding {
    let limit = getrlimit(Resource::Memlock).current;
    let text = limit.map_or_else(|| "unlimited".to_owned(), bytes);
    Finding::ok("memlock", format!("{text}; Parvum locks no memory"))
}

fn limits() -> [Finding; 2] {
    let files = getrlimit(Resource::Nofile);
    let text = format!("{} open files, at most {}", shown_limit(files.current), shown_limit(files.maximum));
    let files = match files.maximum {
        Some(most) if most < DESCRIPTORS => Finding::warning(
            "nofile",
            format!("{text}; jobs of some hundred tasks fail with E-RESOURCES"),
            "as root, add `* hard nofile 65536` to /etc/security/limits.conf, and log in again",
        ),
        _ => Finding::ok("nofile", text),
    };
    let processes = getrlimit(Resource::Nproc).current;
    let text = format!("{} processes", shown_limit(processes));
    let processes = match processes {
        Some(most) if most < PROCESSES => Finding::warning(
            "nproc",
            format!("{text}; large jobs fail with E-RESOURCES"),
            "`ulimit -u unlimited`; if that is refused, as root in /etc/security/limits.conf",
        ),
        _ => Finding::ok("nproc", text),
    };
    [files, processes]
}

/// Limits of a control group.
#[derive(Debug, Default, PartialEq)]
struct Quota {
    cpus: Option<f64>,
    memory: Option<u64>,
}

/// The tightest quota of the group and of those around it. `own` is /proc/self/cgroup.
fn quota(root: &Path, own: &str) -> Quota {
    let mut found = Quota::default();
    let number = |path: PathBuf| fs::read_to_string(path).ok()?.trim().parse::<f64>().ok();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let base = if controllers.is_empty() { root.to_owned() } else { root.join(controllers) };
        // In a container the path may be another's; the root of the mount counts then.
        for group in Path::new(path.trim_start_matches('/')).ancestors() {
            let folder = base.join(group);
            let two = fs::read_to_string(folder.join("cpu.max")).ok();
            let two = two.as_deref().and_then(|text| text.trim().split_once(' '));
            let two = two
                .and_then(|(quota, period)| Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?));
            let one = number(folder.join("cpu.cfs_quota_us"))
                .filter(|quota| *quota > 0.0)
                .and_then(|quota| Some(quota / number(folder.join("cpu.cfs_period_us"))?));
            for cpus in two.into_iter().chain(one) {
                found.cpus = Some(found.cpus.map_or(cpus, |other| other.min(cpus)));
            }
            let memory =
                number(folder.join("memory.max")).or_else(|| number(folder.join("memory.limit_in_bytes")));
            // Version 1 writes a huge number for no limit.
            if let Some(memory) = memory.filter(|memory| *memory < 1e18) {
                let memory = memory as u64;
                found.memory = Some(found.memory.map_or(memory, |other| other.min(memory)));
            }
        }
    }
    found
}

fn cgroup(root: &Path, own: &str) -> Finding {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let Quota { cpus: quota, memory } = quota(root, own);
    let memory =
        memory.map_or_else(|| "no memory limit".to_owned(), |memory| format!("{} memory", bytes(memory)));
    match quota {
        Some(quota) if quota < cpus as f64 => Finding::warning(
            "cgroup",
            format!(
                "a quota of {quota:.1} CPUs where {cpus} are visible, {memory}; more tasks than that are throttled"
            ),
            format!(
                "`parvum run -n {}`, or raise the quota (`docker run --cpus {cpus}`)",
                quota.floor().max(1.0)
            ),
        ),
        Some(quota) => Finding::ok("cgroup", format!("{quota:.1} CPUs, {memory}")),
        None => Finding::ok("cgroup", format!("no CPU quota ({cpus} CPUs), {memory}")),
    }
}

fn huge_pages() -> Finding {
    let chosen = |name: &str| {
        let text = fs::read_to_string(format!("/sys/kernel/mm/transparent_hugepage/{name}")).ok()?;
        text.split_once('[')?.1.split_once(']').map(|(chosen, _)| chosen.to_owned())
    };
    let (usual, shared) = (chosen("enabled"), chosen("shmem_enabled"));
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "not there".into());
    let said = format!("transparent huge pages: {}, for shared memory: {}", text(&usual), text(&shared));
    let wanted = std::env::var("TMK_HUGE").is_ok_and(|value| value == "yes");
    match shared.as_deref() {
        Some("never" | "deny") | None if wanted => Finding::error(
            "hugepages",
            format!("{said}; TMK_HUGE=yes needs them"),
            "as root, `echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled`",
        ),
        _ => Finding::ok("hugepages", said),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn tightest_quota_of_group_counts() {
        let root = std::env::temp_dir().join(format!("parvum-doctor-test-{}", std::process::id()));
        let inner = root.join("a/b");
        fs::create_dir_all(&inner).expect("writable");
        fs::write(root.join("a/cpu.max"), "150000 100000\n").expect("writable");
        fs::write(inner.join("cpu.max"), "max 100000\n").expect("writable");
        fs::write(inner.join("memory.max"), "1073741824\n").expect("writable");
        let found = quota(&root, "0::/a/b\n");
        let warned = cgroup(&root, "0::/a/b\n");
        fs::remove_dir_all(&root).expect("ours");
        assert_eq!(found, Quota { cpus: Some(1.5), memory: Some(1 << 30) });
        if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1) {
            assert_eq!(warned.state, State::Warning);
            assert!(warned.help[0].contains("`parvum run -n 1`"), "{warned:?}");
        }
        assert_eq!(quota(Path::new("/nowhere"), "0::/a\n"), Quota::default());
    }

    #[test]
    fn missing_or_closed_shm_is_a_warning_with_cure() {
        let missing = shared_memory(Path::new("/nowhere/shm"));
        assert_eq!((missing.state, missing.help.len()), (State::Warning, 1));
        let closed = shared_memory(Path::new("/proc"));
        assert_eq!(closed.state, State::Warning);
        assert!(closed.text.contains("not writable"), "{closed:?}");
    }
}
