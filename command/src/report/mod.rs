//! `parvum report`: one file with what a bug report needs.

mod anonymous;
mod collect;

use crate::shown::shown;
use crate::terminal::out;
use anonymous::Names;
use clap::Args;
use collect::File;
use parvum_lab::artifacts::archive;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Args)]
#[command(after_long_help = crate::help::examples(&[
    ("parvum report", "writes parvum-report-DATE.tar.gz here"),
    ("parvum report --anonymous", "without names of users, hosts and paths"),
    ("parvum report -o /tmp/report", "into a folder, to look at first"),
]))]
pub struct ReportArgs {
    /// Write FILE.tar.gz, or a folder [default: parvum-report-DATE.tar.gz]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace names of users, hosts, addresses and paths
    #[arg(long)]
    anonymous: bool,
}

/// Collects, writes, and prints what the file holds.
pub fn report(args: &ReportArgs) -> Result<(), Box<dyn std::error::Error>> {
    let target = match &args.output {
        Some(path) => path.clone(),
        None => format!("parvum-report-{}.tar.gz", date()?).into(),
    };
    if fs::symlink_metadata(&target).is_ok() {
        return Err(failed(
            &target,
            "it exists already",
            "choose another name: `parvum report -o NAME.tar.gz`",
        )
        .into());
    }
    let mut files = collect::all();
    let mut note = None;
    if args.anonymous {
        let mut names = known_names(&files);
        files.iter_mut().for_each(|file| file.text = names.replaced(&file.text));
        note = Some(format!("Names replaced: {}.", names.summary()));
    }
    write(&files, &target)?;
    out::line(format!("{} holds:", target.display()))?;
    for File { name, text } in &files {
        out::line(format!("  {name:<20} {:>9} bytes", text.len()))?;
    }
    if let Some(note) = note {
        out::line(note)?;
    }
    out::line("Read the files before you send them: programs and logs may name what is yours.")?;
    Ok(())
}

fn failed(target: &Path, why: &str, help: &str) -> String {
    format!("E-REPORT: cannot write {}: {why}; help: {help}", target.display())
}

fn date() -> Result<String, String> {
    let done = Command::new("date").arg("+%Y%m%d-%H%M%S").output();
    let done = done
        .map_err(|why| format!("E-REPORT: cannot run `date`: {why}; help: `parvum report -o NAME.tar.gz`"))?;
    Ok(shown(&done.stdout).trim().to_owned())
}

/// Users and hosts that the files themselves name.
fn known_names(files: &[File]) -> Names {
    let mut names = Names::default();
    for variable in ["USER", "LOGNAME"] {
        if let Ok(user) = std::env::var(variable) {
            names.add("user", &user);
        }
    }
    if let Ok(done) = Command::new("id").arg("-un").output() {
        names.add("user", shown(&done.stdout).trim());
    }
    let own = crate::shown::host_name();
    names.add("host", &own);
    names.add("host", own.split('.').next().unwrap_or_default());
    let hosts = files.iter().find(|file| file.name == "hosts.json");
    let hosts: serde_json::Value =
        hosts.and_then(|file| serde_json::from_str(&file.text).ok()).unwrap_or_default();
    for name in hosts["hosts"].as_array().into_iter().flatten().filter_map(|host| host["name"].as_str()) {
        names.add("host", name);
    }
    names
}

/// Writes the files beside the target, and gives them its name when they are whole. Nothing stays of what failed.
fn write(files: &[File], target: &Path) -> Result<(), String> {
    let name = target.file_name().map(|name| name.display().to_string()).unwrap_or_default();
    let inner = name.trim_end_matches(".gz").trim_end_matches(".tar").trim_end_matches(".tgz").to_owned();
    let is_archive = inner != name;
    if name.is_empty() || inner.is_empty() {
        return Err(failed(target, "it is no name of a file", "`parvum report -o NAME.tar.gz`"));
    }
    let result = archive::write(target, OsStr::new(&inner), is_archive, |folder| {
        files.iter().try_for_each(|file| fs::write(folder.join(&file.name), &file.text))
    });
    result.map_err(|why: std::io::Error| {
        failed(
            target,
            &why.to_string(),
            "make room, or name another place: `parvum report -o /tmp/report.tar.gz`",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_of_a_report_that_cannot_be_written() {
        let files = [File { name: "a.txt".into(), text: "a".into() }];
        let folder = std::env::temp_dir().join(format!("parvum-report-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("writable");
        // A file that cannot be made, in the middle of the others.
        let broken = [
            File { name: "a.txt".into(), text: "a".into() },
            File { name: "b/c.txt".into(), text: "c".into() },
        ];
        let why = write(&broken, &folder.join("r.tar.gz")).expect_err("it fails");
        assert!(why.starts_with("E-REPORT: ") && why.contains("; help: "), "{why}");
        assert_eq!(fs::read_dir(&folder).expect("it is there").count(), 0, "nothing stays");
        assert!(write(&files, Path::new("/proc/r.tar.gz")).is_err());
        assert!(write(&files, &folder.join(".tar.gz")).is_err());
        write(&files, &folder.join("r.tar.gz")).expect("an archive");
        write(&files, &folder.join("r")).expect("a folder");
        let listed = Command::new("tar").arg("-tzf").arg(folder.join("r.tar.gz")).output().expect("tar runs");
        let read = fs::read_to_string(folder.join("r/a.txt"));
        fs::remove_dir_all(&folder).expect("ours");
        assert_eq!(shown(&listed.stdout), "r/\nr/a.txt\n");
        assert_eq!(read.expect("a file"), "a");
    }
}
