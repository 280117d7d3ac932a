//! The suite's source: fetched from the archive that this system has its packages from, unpacked in the cache, configured and made there.

use crate::stopping;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// By which binary interface programs call the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// MPICH's: libmpi.so.12, with Debian's MPICH.
    Mpich,
    /// The MPI standard's: libmpi_abi.so.1, with PyPI's MPICH.
    Standard,
}

/// A suite that can be made.
pub struct Source {
    pub interface: Interface,
    /// Where its first list of tests lies.
    pub root: PathBuf,
    /// The folder of the cache for suites.
    home: PathBuf,
    /// Of this interface.
    pub name: String,
}

impl Source {
    /// Brings what is missing.
    pub fn bring(interface: Interface) -> Result<Source, String> {
        let home = cache()?.join("suites");
        fs::create_dir_all(&home).map_err(|why| format!("{}: {why}", home.display()))?;
        let version = version()?;
        let upstream = version.rsplit_once('-').map_or(version.as_str(), |it| it.0).to_owned();
        let folder = match interface {
            Interface::Mpich => "mpich",
            Interface::Standard => "standard",
        };
        let name = format!("{folder}-{upstream}");
        let root = home.join(&name).join(format!("mpich-{upstream}/test/mpi"));
        let source = Source { interface, root, home, name };
        if !source.root.join("configured").exists() {
            source.unpack(&version, &upstream)?;
            source.configure()?;
        }
        Ok(source)
    }

    fn unpack(&self, version: &str, upstream: &str) -> Result<(), String> {
        let archive = self.home.join(format!("mpich_{upstream}.orig.tar.xz"));
        if !archive.exists() {
            println!("suites: fetching the source package of mpich {version}");
            fetch(&self.home, version)?;
        }
        let place = self.home.join(&self.name);
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).map_err(|why| format!("{}: {why}", place.display()))?;
        let mut tar = Command::new("tar");
        tar.arg("xf").arg(&archive).arg("-C").arg(&place).arg(format!("mpich-{upstream}/test/mpi"));
        done(&mut tar, "cannot unpack the source")
    }

    fn configure(&self) -> Result<(), String> {
        println!("suites: configuring it");
        let mut configure = Command::new("./configure");
        configure.current_dir(&self.root).args([
            "--disable-cxx",
            "--disable-ft-tests",
            "--disable-dependency-tracking",
            "--enable-threads=multiple",
            // The suite's own warnings are its authors' affair.
            "CFLAGS=-O1 -w",
        ]);
        match self.interface {
            Interface::Mpich => {
                configure.arg("--enable-fortran=all");
                let flags = "-O1 -w -fallow-argument-mismatch";
                configure.args([format!("FFLAGS={flags}"), format!("FCFLAGS={flags}")]);
                for (name, compiler) in [
                    ("MPICC", "mpicc.mpich"),
                    ("MPICXX", "mpicxx.mpich"),
                    ("MPIFC", "mpif90.mpich"),
                    ("MPIF77", "mpif77.mpich"),
                ] {
                    configure.env(name, compiler);
                }
            }
            Interface::Standard => {
                configure.arg("--enable-fortran=no");
                let bin = pypi()?.join("bin");
                configure.env("MPICC", bin.join("mpicc_abi")).env("MPICXX", bin.join("mpicxx_abi"));
                configure.env("LD_LIBRARY_PATH", pypi()?.join("lib"));
            }
        }
        logged(&mut configure, &self.root.join("configure.log"))?;
        fs::write(self.root.join("configured"), "").map_err(|why| why.to_string())
    }

    /// Makes the programs of these folders, or of all. A program that does not compile is missing afterwards.
    pub fn build(&self, folders: &[String]) -> Result<(), String> {
        let logs = self.outputs();
        fs::create_dir_all(&logs).map_err(|why| format!("{}: {why}", logs.display()))?;
        let folders: Vec<String> = if folders.is_empty() { self.folders()? } else { folders.to_vec() };
        println!("suites: making {}", folders.join(" "));
        for (folder, needed) in [("dtpools", true), ("util", true)]
            .into_iter()
            .chain(folders.iter().map(|folder| (folder.as_str(), false)))
        {
            if !self.root.join(folder).join("Makefile").exists() {
                return Err(format!("the suite has no folder {folder}"));
            }
            let mut make = Command::new("make");
            make.current_dir(&self.root).args(["-k", "-j1", "-C", folder]);
            let made = logged(&mut make, &logs.join(format!("make-{}.log", folder.replace('/', "-"))));
            stopping::refuse()?;
            if needed {
                made?;
            }
        }
        Ok(())
    }

    /// The folders that the first list names.
    fn folders(&self) -> Result<Vec<String>, String> {
        let list = self.root.join("testlist");
        let text = fs::read_to_string(&list).map_err(|why| format!("{}: {why}", list.display()))?;
        let names = text.lines().map(str::trim).filter(|name| !name.is_empty() && !name.starts_with('#'));
        Ok(names.filter(|name| self.root.join(name).join("Makefile").exists()).map(str::to_owned).collect())
    }

    /// Where the output of tests is kept.
    pub fn outputs(&self) -> PathBuf {
        self.home.join(&self.name).join("outputs")
    }
}

/// The user's cache for Parvum.
fn cache() -> Result<PathBuf, String> {
    let given = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = given.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    Ok(cache.ok_or("neither XDG_CACHE_HOME nor HOME is set")?.join("parvum"))
}

/// PyPI's MPICH.
pub fn pypi() -> Result<PathBuf, String> {
    let place = cache()?.join("peers/mpich");
    if place.join("bin/mpicc_abi").exists() {
        return Ok(place);
    }
    Err("PyPI's MPICH is not installed: ./x peers".to_owned())
}

/// Of the source package that Debian's MPICH was made from.
fn version() -> Result<String, String> {
    let mut query = Command::new("dpkg-query");
    query.args(["-W", "-f", "${source:Version}", "libmpich-dev"]);
    match query.output() {
        Ok(said) if said.status.success() => Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned()),
        _ => Err("Debian's MPICH is not installed; as root: apt-get install mpich libmpich-dev".to_owned()),
    }
}

/// Brings the source package into the folder. The lists of sources that apt reads for it lie there, and not among the system's.
fn fetch(home: &Path, version: &str) -> Result<(), String> {
    let lists = home.join("lists");
    fs::create_dir_all(lists.join("partial")).map_err(|why| why.to_string())?;
    fs::create_dir_all(home.join("archives/partial")).map_err(|why| why.to_string())?;
    let sources = home.join("sources.list");
    fs::write(&sources, source_lines()?).map_err(|why| why.to_string())?;
    let apt = || {
        let mut apt = Command::new("apt-get");
        for (name, path) in [
            ("Dir::Etc::SourceList", sources.as_path()),
            ("Dir::Etc::SourceParts", Path::new("/dev/null")),
            ("Dir::State::Lists", lists.as_path()),
            ("Dir::Cache::Archives", &home.join("archives")),
            ("Dir::Cache::pkgcache", Path::new("")),
            ("Dir::Cache::srcpkgcache", Path::new("")),
        ] {
            apt.arg("-o").arg(format!("{name}={}", path.display()));
        }
        apt.current_dir(home).arg("-qq");
        apt
    };
    done(apt().arg("update"), "apt-get cannot read the lists of source packages")?;
    let package = format!("mpich={version}");
    done(apt().args(["source", "--download-only", &package]), "apt-get cannot fetch the source of mpich")
}

/// The archives of the system's own sources, for source packages.
fn source_lines() -> Result<String, String> {
    let format = "deb-src $(SITE) $(RELEASE) $(COMPONENT)";
    let said =
        Command::new("apt-get").args(["indextargets", "--format", format, "Created-By: Packages"]).output();
    let said = said.map_err(|why| format!("apt-get: {why}"))?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    if text.trim().is_empty() {
        return Err("apt-get names no archive of packages: add one in /etc/apt/sources.list".to_owned());
    }
    Ok(text)
}

/// Runs it; on failure its words are the reason.
fn done(command: &mut Command, what: &str) -> Result<(), String> {
    let said = command.stdin(Stdio::null()).output().map_err(|why| format!("{what}: {why}"))?;
    if said.status.success() {
        return Ok(());
    }
    Err(format!("{what}: {}", String::from_utf8_lossy(&said.stderr).trim()))
}

/// Runs it, with its output in a file.
fn logged(command: &mut Command, log: &Path) -> Result<(), String> {
    let name = command.get_program().display().to_string();
    let file = File::create(log).map_err(|why| format!("{}: {why}", log.display()))?;
    let other = file.try_clone().map_err(|why| why.to_string())?;
    command.stdin(Stdio::null()).stdout(file).stderr(other).process_group(0);
    let mut child = command.spawn().map_err(|why| format!("{name}: {why}"))?;
    if stopping::await_end(&mut child, None).is_some_and(|status| status.success()) {
        return Ok(());
    }
    stopping::refuse()?;
    Err(format!("{name} failed; see {}", log.display()))
}
