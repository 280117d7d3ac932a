// Read by build scripts and by the tests: what tools/shipped.sh reads for scripts.

/// The lines of all files shipped.txt, the engine's first: the folder's name, and the three words of the line.
fn shipped(project: &std::path::Path) -> Vec<(String, [String; 3])> {
    let folders = std::fs::read_dir(project.join("interfaces")).expect("the folder of interfaces").flatten();
    let mut folders: Vec<_> = folders.map(|folder| folder.path()).collect();
    folders.sort();
    folders.insert(0, project.join("crates/engine/runtime"));
    folders.push(project.join("lab"));
    let mut all = Vec::new();
    for folder in folders {
        let Ok(text) = std::fs::read_to_string(folder.join("shipped.txt")) else { continue };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let words = words.try_into().unwrap_or_else(|_| panic!("{}: {line}", folder.display()));
            let name = folder.file_name().and_then(std::ffi::OsStr::to_str).expect("a plain name");
            all.push((name.to_owned(), words));
        }
    }
    all
}

/// Has Cargo run a build script again when one of the files changes, or there is another interface: that changes Cargo.lock.
#[allow(dead_code, reason = "the tests read the files when they run")]
fn watch_shipped(project: &std::path::Path) {
    println!("cargo:rerun-if-changed={}", project.join("Cargo.lock").display());
    let interfaces = std::fs::read_dir(project.join("interfaces")).expect("the folder of interfaces").flatten();
    for folder in interfaces.map(|folder| folder.path()).chain([project.join("crates/engine/runtime"), project.join("lab")]) {
        println!("cargo:rerun-if-changed={}", folder.join("shipped.txt").display());
    }
}
