//! Hosts to compare on, made of this one: network namespaces that are connected by a bridge, each with a name and an address of its
//! own. Root makes them, or whoever may make a user namespace; util-linux and iproute2 are needed.
//!
//! All of it is below one process, which ends when this one does, however that is; with it end the namespaces and all that runs
//! in them. What passes between two hosts goes through the kernel's whole network but its hardware.

use crate::run::shell;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// So many can be asked for.
pub const COUNTS: [u32; 3] = [2, 4, 8];

/// What the process does above all hosts: its arguments are a folder and their names. It waits until its input ends.
const ABOVE: &str = r#"set -e
folder=$1; shift
mount -t proc proc /proc
ip link set lo up
ip link add hub type bridge
ip link set hub up
at=0
for name in "$@"; do
    at=$((at + 1))
    unshare --net --uts --ipc --mount -- sh -c 'set -e
        hostname "$2"
        mount --bind "$1/hosts" /etc/hosts
        mount -t tmpfs none /dev/shm
        ip link set lo up
        echo $$ >"$1/$2.new"
        mv "$1/$2.new" "$1/$2.pid"
        exec sleep infinity' sh "$folder" "$name" </dev/null >/dev/null &
    while [ ! -e "$folder/$name.pid" ]; do
        kill -0 $!
        sleep 0.01
    done
    pid=$(cat "$folder/$name.pid")
    ip link add "port$at" type veth peer name eth0 netns "$pid"
    ip link set "port$at" master hub up
    nsenter --target "$pid" --net -- sh -c "ip address add 10.93.7.$at/24 dev eth0 && ip link set eth0 up"
done
echo ready
exec cat
"#;

/// Hosts, as long as it lives.
#[derive(Debug)]
pub struct Hosts {
    above: Child,
    /// A program that runs another on the first host.
    pub on_first: PathBuf,
    /// Their names, the first one's too.
    pub names: Vec<String>,
    /// The program `rsh HOST COMMAND`, for those of the hosts.
    pub rsh: PathBuf,
    /// Where the first's machine has its directory.
    pub directory: PathBuf,
    /// How its daemon starts those of the others: `PARVUM_START_BY`.
    pub start_by: OsString,
}

impl Hosts {
    /// Makes so many hosts, whose programs get this environment. `folder` is there, and empty.
    pub fn make(count: u32, folder: &Path, environment: &[(String, OsString)]) -> Result<Hosts, String> {
        let names: Vec<String> = (1..=count).map(|at| format!("lab{at}")).collect();
        let lines = names.iter().enumerate().map(|(at, name)| format!("10.93.7.{} {name}\n", at + 1));
        let known: String = std::iter::once("127.0.0.1 localhost\n".to_owned()).chain(lines).collect();
        write(&folder.join("hosts"), &known)?;
        let user: &[&str] =
            if rustix::process::geteuid().is_root() { &[] } else { &["--user", "--map-root-user"] };
        let mut command = Command::new("unshare");
        command.args(user).args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--", "sh", "-c"]);
        command.arg(ABOVE).arg("sh").arg(folder).args(&names);
        let log = std::fs::File::create(folder.join("hosts.log")).map_err(|why| why.to_string())?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut above = command.spawn().map_err(|why| format!("hosts need unshare(1): {why}"))?;
        let mut said = String::new();
        let output = above.stdout.take().map(BufReader::new);
        let _ = output.map(|mut output| output.read_line(&mut said));
        let inner = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", above.id()));
        let inner = inner.unwrap_or_default().trim().to_owned();
        let mut hosts = Hosts {
            above,
            on_first: folder.join("on-first"),
            names,
            rsh: folder.join("rsh"),
            directory: folder.join("lab1"),
            start_by: format!("{} {{host}}", folder.join("rsh").display()).into(),
        };
        if said.trim() != "ready" || inner.is_empty() {
            hosts.end();
            let why = std::fs::read_to_string(folder.join("hosts.log")).unwrap_or_default();
            return Err(format!(
                "no hosts out of namespaces (root can make them, with ip(8)): {}",
                why.lines().last().unwrap_or("nothing was said")
            ));
        }
        let enters = if user.is_empty() { "" } else { "--user --preserve-credentials " };
        let here = folder.display();
        let first = format!(
            "#!/bin/sh\nexec nsenter --target {inner} {enters}--mount --pid -- nsenter --target \"$(cat {here}/lab1.pid)\" \
             --net --uts --ipc --mount -- \"$@\"\n"
        );
        script(&hosts.on_first, &first)?;
        // Another host's programs know nothing of the first's but what is said here.
        let settings: String = environment
            .iter()
            .map(|(name, value)| format!("{name}={} ", String::from_utf8_lossy(&shell::word(value))))
            .collect();
        let rsh = format!(
            "#!/bin/sh\nhost=$1\nshift\nexec nsenter --target \"$(cat {here}/\"$host\".pid)\" --net --uts --ipc --mount -- \
             env {settings}PARVUM_DIR={here}/\"$host\" sh -c \"$*\"\n"
        );
        script(&folder.join("rsh"), &rsh)?;
        Ok(hosts)
    }

    fn end(&mut self) {
        // Its input ends, and it with that, and all below it.
        drop(self.above.stdin.take());
        let _ = self.above.wait();
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        self.end();
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|why| format!("cannot write {}: {why}", path.display()))
}

fn script(path: &Path, text: &str) -> Result<(), String> {
    write(path, text)?;
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(path, mode).map_err(|why| format!("cannot write {}: {why}", path.display()))
}

/// How many hosts a route's name says: `2-hosts`, or with a way between them, `daemon-2-hosts`.
pub fn of_route(route: &str) -> Option<u32> {
    route.strip_suffix("-hosts")?.rsplit('-').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn route_name_gives_host_count() {
        assert_eq!([of_route("4-hosts"), of_route("shm"), of_route("")], [Some(4), None, None]);
        assert_eq!(
            [of_route("daemon-2-hosts"), of_route("daemon"), of_route("-hosts")],
            [Some(2), None, None]
        );
    }

    /// Each has a name and a network of its own, and reaches the others.
    #[test]
    fn hosts_reach_each_other_and_end() {
        let folder = std::env::temp_dir().join(format!("parvum-lab-hosts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        match Hosts::make(2, &folder, &[("WORD".to_owned(), "it's so".into())]) {
            Err(why) => eprintln!("skipped: hosts_reach_each_other_and_end: {why}"),
            Ok(hosts) => {
                let run = |words: &[&str]| {
                    let done = Command::new(&hosts.on_first).args(words).output().expect("it runs");
                    String::from_utf8_lossy(&done.stdout).trim().to_owned()
                };
                assert_eq!((run(&["hostname"]), hosts.names[1].as_str()), ("lab1".to_owned(), "lab2"));
                let rsh = folder.join("rsh").display().to_string();
                let said = run(&[&rsh, "lab2", "hostname; echo", "\"$WORD\"; ip -o address show eth0"]);
                assert!(said.starts_with("lab2\nit's so\n") && said.contains("10.93.7.2/24"), "{said}");
                // A listener on the one is reached from the other by name.
                let talk = format!(
                    "{rsh} lab2 'python3 -c \"import socket; s = socket.create_server((chr(0)[:0], 7777)); print(1, flush=True); s.accept()[0].send(b\\\"heard\\\")\"' | \
                     {{ read one; python3 -c 'import socket; print(socket.create_connection((\"lab2\", 7777)).recv(9).decode())'; }}"
                );
                assert_eq!(run(&["sh", "-c", &talk]), "heard");
            }
        }
        std::fs::remove_dir_all(&folder).expect("nobody is in it");
    }
}
