//! Executors: a Python script that has `main(executor)` runs with the executor of each package.

use crate::error::LabError;
use crate::program::Asked;
use crate::systems::peers::{Kit, Own, Toolbox, in_path};
use crate::systems::sessions::Session;
use crate::systems::system::{Encoding, Family, System};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The script that makes an executor and hands it over.
const RUNNER: &str = include_str!("executor.py");

/// A package with an executor.
#[derive(Debug)]
struct Package {
    /// The name on pages.
    name: &'static str,
    /// The name of the package in `executor.py`.
    key: &'static str,
    /// The module that has the executor.
    module: &'static str,
    /// The command that installs the package.
    install: &'static str,
    /// Its colour.
    class: &'static str,
    /// The MPI whose ranks are the workers.
    mpi: Option<Family>,
}

/// A package whose executor needs no MPI.
const fn package(
    name: &'static str,
    key: &'static str,
    module: &'static str,
    install: &'static str,
    class: &'static str,
) -> Package {
    Package { name, key, module, install, class, mpi: None }
}

const MPI4PY: &str = "python3 -m pip install mpi4py";

/// All of them, Parvum first.
const PACKAGES: [Package; 9] = [
    package("Parvum", "parvum", "parvum", "`./x build` makes the package", "s-parvum"),
    package("ProcessPoolExecutor", "processes", "concurrent.futures", "", "s-pvm"),
    package("loky", "loky", "loky", "python3 -m pip install loky", "s-ucx"),
    Package {
        mpi: Some(Family::Mpi),
        ..package("mpi4py.futures", "mpi4py", "mpi4py.futures", MPI4PY, "s-parvum")
    },
    Package {
        mpi: Some(Family::Mpich),
        ..package("mpi4py.futures", "mpi4py", "mpi4py.futures", MPI4PY, "s-mpich")
    },
    package("Dask", "dask", "distributed", "python3 -m pip install distributed", "s-openmpi"),
    package("executorlib", "executorlib", "executorlib", "python3 -m pip install executorlib", "s-engine"),
    package("Parsl", "parsl", "parsl", "python3 -m pip install parsl", "s-nx"),
    package("HyperQueue", "hyperqueue", "hyperqueue", "python3 -m pip install hyperqueue", "s-cmmd"),
];

/// An executor that can be used here.
#[derive(Debug)]
pub struct Executor {
    package: &'static Package,
    /// With the version.
    pub name: String,
    python: PathBuf,
    runner: PathBuf,
    /// The script.
    script: PathBuf,
    kit: Option<Kit>,
    /// Parvum's daemon, for packages that use one.
    session: Option<Session>,
    environment: Vec<(String, OsString)>,
}

/// A script that has `main(executor)`: workers import the script by its name.
pub fn check(script: &Path) -> Result<PathBuf, LabError> {
    let refused = |why: &str| Err(LabError::Program(format!("--python {}: {why}", script.display())));
    if !script.is_file() {
        return refused("there is no such file");
    }
    let name = script.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_module = name.chars().all(is_name) && !name.starts_with(|c: char| c.is_ascii_digit());
    if !is_module || script.extension().is_none_or(|ending| ending != "py") {
        return refused(
            "workers import the script, so its name has letters, digits and _ only, and ends in .py",
        );
    }
    let text = std::fs::read_to_string(script).map_err(LabError::file("read", script))?;
    if !text.lines().any(|line| line.starts_with("def main(") || line.starts_with("main =")) {
        return refused(
            "the script has no main(executor). help: def main(executor): print(sum(executor.map(f, range(100))))",
        );
    }
    script.canonicalize().map_err(LabError::file("read", script))
}

/// The installed executors, and the missing executors, each with a remedy.
pub fn find(
    asked: &Asked,
    script: &Path,
    own: &Own,
    scratch: &Path,
) -> Result<(Vec<Executor>, Vec<String>), LabError> {
    let python = in_path("python3")
        .ok_or_else(|| LabError::Program("python3 is not in PATH. help: apt-get install python3".into()))?;
    if !asked.hosts.is_empty() {
        return Err(LabError::Program(
            "--host goes with programs of MPI; executors are compared on one host".into(),
        ));
    }
    let runner = scratch.join("executor.py");
    std::fs::write(&runner, RUNNER).map_err(LabError::file("write", &runner))?;
    let toolbox = Toolbox::find(own, &[Family::Parvum, Family::Mpich]).has_programs(own);
    let (mut found, mut absent) = (Vec::new(), Vec::new());
    for (at, package) in PACKAGES.iter().enumerate() {
        let folder = scratch.join(format!("executor{at}"));
        match package.find(&toolbox, own, (&python, &runner, script), &folder) {
            Ok(executor) => found.push(executor),
            Err(why) => absent.push(format!("{}{}: {why}", package.name, package.below())),
        }
    }
    Ok((found, absent))
}

impl Package {
    /// The MPI below a package, for its name.
    fn below(&self) -> &'static str {
        match self.mpi {
            Some(Family::Mpi) => " on Parvum",
            Some(_) => " on MPICH",
            None => "",
        }
    }

    fn find(
        &'static self,
        toolbox: &Toolbox,
        own: &Own,
        (python, runner, script): (&Path, &Path, &Path),
        folder: &Path,
    ) -> Result<Executor, String> {
        let failed = |why: std::io::Error| format!("cannot make {}: {why}", folder.display());
        std::fs::create_dir_all(folder).map_err(failed)?;
        let wanted = self.mpi.or((self.key == "parvum").then_some(Family::Parvum));
        let (mut kit, mut session) = (None, None);
        if let Some(family) = wanted {
            let own_kit = toolbox.kit(family).ok_or("not installed; help: ./x peers")?;
            let system = System::new(family, "shm", Encoding::None);
            let begun = Session::start(own_kit, &system, None, folder, &[]);
            session = Some(begun.map_err(|why| format!("cannot be started: {why}"))?);
            kit = Some(own_kit.clone());
        }
        let mut environment = session.as_ref().map(|one| one.environment.clone()).unwrap_or_default();
        environment.push(("TMPDIR".into(), folder.into()));
        let mut path = script.parent().unwrap_or(Path::new("/")).as_os_str().to_owned();
        // A build of Parvum has its package beside its libraries.
        let beside = own.libraries.as_ref().and_then(|folder| Some(folder.parent()?.join("python")));
        let known = std::env::var_os("PYTHONPATH");
        for folder in beside.filter(|one| one.is_dir()).map(PathBuf::into_os_string).into_iter().chain(known)
        {
            path.push(":");
            path.push(folder);
        }
        environment.push(("PYTHONPATH".into(), path));
        if self.mpi == Some(Family::Mpich)
            && let Some(prefix) = kit.as_ref().and_then(|kit| kit.starter.parent()?.parent())
        {
            environment.push(("LD_LIBRARY_PATH".into(), prefix.join("lib").into()));
        }
        if self.mpi.is_some() {
            // The wheel of mpi4py serves several MPIs.
            environment.push(("MPI4PY_MPIABI".into(), "mpich".into()));
        }
        let version = self.version(python, &environment).map_err(|why| match self.install {
            "" => why,
            install => format!("{why}; help: {install}"),
        })?;
        let name =
            format!("{} {version}{}", self.name, self.below()).replace("  ", " ").trim_end().to_owned();
        let (python, runner, script) = (python.to_owned(), runner.to_owned(), script.to_owned());
        Ok(Executor { package: self, name, python, runner, script, kit, session, environment })
    }

    /// The version, if the module can be imported.
    fn version(&self, python: &Path, environment: &[(String, OsString)]) -> Result<String, String> {
        let package = self.module.split('.').next().unwrap_or_default();
        let asks = format!(
            "import importlib.metadata as m, importlib.util as u, platform, sys\n\
             u.find_spec({package:?}) or sys.exit(1)\n\
             try: print(m.version({package:?}))\n\
             except m.PackageNotFoundError: print(platform.python_version() if {package:?} == 'concurrent' else '')"
        );
        let mut command = Command::new(python);
        command.args(["-c", &asks]).envs(environment.iter().map(|(name, value)| (name, value)));
        let done = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
        let done = done.map_err(|why| format!("{} cannot be run: {why}", python.display()))?;
        match done.status.success() {
            true => Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned()),
            false => Err("not installed".to_owned()),
        }
    }
}

impl Executor {
    /// Its colour.
    pub fn class(&self) -> &'static str {
        self.package.class
    }

    /// Whether it is Parvum's own executor.
    pub fn is_ours(&self) -> bool {
        self.package.key == "parvum"
    }

    /// Variables of its processes.
    pub fn environment(&self) -> Vec<(String, OsString)> {
        self.environment.clone()
    }

    /// The command that runs the script with a number of workers.
    pub fn words(&self, workers: u32, arguments: &[OsString]) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        if let (Some(family), Some(kit)) = (self.package.mpi, &self.kit) {
            words.push(kit.starter.clone().into());
            if family.is_ours() {
                words.push("mpiexec".into());
            }
            // One rank runs the script.
            words.extend(["-n".into(), (workers + 1).to_string().into()]);
        }
        words.push(self.python.clone().into());
        if self.package.mpi.is_some() {
            words.extend(["-m", "mpi4py.futures"].map(OsString::from));
        }
        words.extend([self.runner.clone().into(), self.package.key.into(), workers.to_string().into()]);
        words.push(self.script.clone().into());
        words.extend(arguments.iter().cloned());
        words
    }

    /// After a run that failed.
    pub fn tidy(&self) {
        if let Some(session) = &self.session {
            session.reset();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_without_main_or_with_another_name_is_refused() {
        let folder = std::env::temp_dir().join(format!("parvum-executors-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let script = |name: &str, text: &str| {
            std::fs::write(folder.join(name), text).expect("a file");
            check(&folder.join(name)).map_err(|why| why.to_string())
        };
        let good = "def main(executor):\n    pass\n";
        assert!(script("good.py", good).is_ok());
        for (name, text, wanted) in [
            ("my-script.py", good, "letters, digits and _ only"),
            ("1st.py", good, "letters, digits and _ only"),
            ("script.txt", good, "ends in .py"),
            ("other.py", "def run(executor): pass\n", "has no main(executor)"),
        ] {
            let why = script(name, text).expect_err(name);
            assert!(why.contains(wanted), "{name}: {why}");
        }
        let why = check(&folder.join("none.py")).expect_err("none").to_string();
        assert!(why.contains("there is no such file"), "{why}");
        std::fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn tests_of_the_executor_over_hyperqueue_pass() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/program/systems/executor_test.py");
        let Ok(done) = Command::new("python3").arg(file).env("PYTHONDONTWRITEBYTECODE", "1").output() else {
            eprintln!("skipped: there is no python3");
            return;
        };
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    #[test]
    fn every_package_has_its_function_in_the_runner() {
        for package in &PACKAGES {
            assert!(RUNNER.contains(&format!("def with_{}(workers)", package.key)), "{}", package.name);
            assert!(
                package.install.is_empty() || package.install.contains("install") || package.key == "parvum",
                "{}",
                package.name
            );
        }
    }
}
