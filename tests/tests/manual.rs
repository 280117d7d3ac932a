//! The manual: whole, without mistakes in its form, and true to the headers.

use parvum_tests::stage::{compiler, include_of, mpi_include, own_include, project, stage};
use parvum_tests::{Lack, skip};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn read(path: PathBuf) -> String {
    fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// Further names of pages of section 3, with their pages: `man/names.txt`.
fn names() -> BTreeMap<String, String> {
    let text = read(project().join("man/names.txt"));
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.flat_map(|line| {
        let (page, names) = line.split_once(' ').expect("a page and its names");
        names.split(' ').map(move |name| (name.to_owned(), page.to_owned()))
    });
    pairs.collect()
}

/// The page of a name.
fn page(name: &str, section: u8) -> String {
    let other = names();
    let name = if section == 3 { other.get(name).map_or(name, String::as_str) } else { name };
    read(project().join(format!("man/man{section}/{name}.{section}")))
}

/// Names of pages, with their section.
fn pages() -> Vec<(String, u8)> {
    let sections = [1, 3, 7].into_iter().flat_map(|section| {
        let folder = fs::read_dir(project().join(format!("man/man{section}"))).expect("man");
        folder.flatten().map(move |entry| (entry.file_name(), section))
    });
    let written = sections.map(|(file, section)| {
        let file = file.into_string().expect("a plain name");
        let name = file.strip_suffix(&format!(".{section}")).expect("its section stands behind it");
        (name.to_owned(), section)
    });
    written.chain(names().into_keys().map(|name| (name, 3))).collect()
}

/// The text from one heading to the next.
fn part<'a>(page: &'a str, heading: &str) -> &'a str {
    let after = page.split_once(&format!(".SH {heading}\n")).map_or("", |(_, rest)| rest);
    after.split("\n.SH ").next().unwrap_or_default()
}

/// Functions that the headers declare, and PVM's variable.
fn declared() -> Vec<String> {
    let headers = ["pvm3.h", "pvmtev.h"].map(|header| stage().include.join(header));
    let text: String = headers
        .into_iter()
        .chain([own_include().join("parvum.h"), include_of("cmmd").join("cmmd.h")])
        .map(read)
        .collect();
    let mut names = vec!["pvm_errno".to_owned()];
    for line in text.lines().filter(|line| !line.starts_with([' ', '\t', '#', '/'])) {
        let Some((before, _)) = line.trim_start_matches("int (*").split_once('(') else { continue };
        let name = before.rsplit([' ', '*']).next().expect("a word");
        if name.to_lowercase().starts_with("pvm") || name.starts_with("parvum") || name.starts_with("CMMD_") {
            names.push(name.to_owned());
        }
    }
    names
}

#[test]
fn pvm_functions_have_man_page_with_synopsis() {
    let names = declared();
    assert!(names.len() > 220, "{names:?}");
    for name in names {
        let page = page(&name, 3);
        let synopsis = part(&page, "SYNOPSIS");
        let shown = synopsis.contains(&format!("{name}(")) || synopsis.contains(&format!("{name};"));
        assert!(shown, "{name} is not in the synopsis of its page");
        assert!(part(&page, "NAME").contains(&name), "{name} is not among the names of its page");
    }
}

#[test]
fn nx_calls_have_man_page_with_synopsis() {
    let header = read(include_of("nx").join("nx.h"));
    let both = header.lines().filter_map(|line| line.strip_prefix("NX_BOTH(")?.split(", ").nth(1));
    let mut names: Vec<&str> = both.collect();
    assert!(names.len() > 60, "{names:?}");
    names.extend(["dclock", "mclock", "nx_initve", "nx_buffering"]);
    for name in names {
        let page = page(name, 3);
        assert!(part(&page, "SYNOPSIS").contains(&format!("{name}(")), "{name} is not in the synopsis");
        assert!(part(&page, "NAME").contains(name), "{name} is not among the names of its page");
    }
}

#[test]
fn treadmarks_calls_have_man_page_with_synopsis() {
    let header = read(include_of("treadmarks").join("Tmk.h"));
    let declared = header.lines().filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next());
    let names: Vec<&str> = declared.filter(|name| name.starts_with("Tmk_")).collect();
    assert!(names.len() > 12, "{names:?}");
    for name in names {
        let page = page(name, 3);
        assert!(part(&page, "SYNOPSIS").contains(&format!("{name}(")), "{name} is not in the synopsis");
        assert!(part(&page, "NAME").contains(name), "{name} is not among the names of its page");
    }
}

#[test]
fn containers_calls_have_man_page_with_synopsis() {
    let header = read(include_of("containers").join("containers.h"));
    let words = header.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '(');
    let names: std::collections::BTreeSet<&str> =
        words.filter_map(|word| word.split_once('(').map(|(name, _)| name)).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| name.starts_with("ch_")).collect();
    assert!(names.len() > 45, "{names:?}");
    for name in names {
        let page = page(name, 3);
        assert!(part(&page, "SYNOPSIS").contains(&format!("{name}(")), "{name} is not in the synopsis");
        assert!(part(&page, "NAME").contains(name), "{name} is not among the names of its page");
    }
}

#[test]
fn fortran_calls_have_man_page() {
    let listed = Command::new("nm").arg("--defined-only").arg(stage().lib.join("libfpvm3.a")).output();
    let listed = String::from_utf8(listed.expect("nm (binutils) comes with the compiler").stdout);
    let listed = listed.expect("plain names");
    let symbols = listed.lines().filter_map(|line| line.split_once(" T pvmf")?.1.strip_suffix('_'));
    let mut count = 0;
    for name in symbols {
        let call = format!("call pvmf{name}(");
        assert!(part(&page(&format!("pvmf{name}"), 3), "SYNOPSIS").contains(&call), "{call}");
        count += 1;
    }
    assert!(count > 65, "{count}");
}

#[test]
fn man_pages_refer_to_existing_pages() {
    let all = pages();
    for (name, section) in &all {
        for line in page(name, *section).lines().filter_map(|line| line.strip_prefix(".BR ")) {
            let (other, rest) = line.split_once(" (").expect("a name and a section");
            let wanted = (other.replace("\\-", "-"), rest.as_bytes()[0] - b'0');
            // Pages of the system's own are named too.
            let systems = ["signal"].contains(&other);
            assert!(systems || all.contains(&wanted), "{name}({section}) names {wanted:?}");
        }
    }
}

#[test]
fn man_pages_pass_groff_without_warnings() {
    if Command::new("groff").arg("--version").output().is_err() {
        return skip(Lack::Tools, "no groff is installed");
    }
    for (name, section) in pages().into_iter().filter(|(name, _)| !names().contains_key(name)) {
        let mut groff = Command::new("groff");
        groff.args(["-ww", "-man", "-Tutf8"]).current_dir(project().join("man"));
        let done = groff.arg(format!("man{section}/{name}.{section}")).output().expect("it is there");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && said.is_empty(), "{name}({section}): {said}");
        assert!(!done.stdout.is_empty());
    }
}

/// The pages of MPI's functions, which are made when Parvum is built: by their names, with what is in them.
fn made_pages(folder: &Path) -> BTreeMap<String, String> {
    let man3 = folder.join("man3");
    fs::create_dir_all(&man3).expect("the target directory is writable");
    let mut maker = Command::new(parvum_tests::parvum().with_file_name("mpi-described"));
    let done = maker.arg("manual").arg(&man3).output().expect("it is built with the rest");
    assert!(done.status.success(), "{done:?}");
    let files = fs::read_dir(&man3).expect("made above").flatten().map(|entry| entry.path());
    let name = |file: &Path| file.file_stem().expect("a name").to_str().expect("a plain one").to_owned();
    files.map(|file| (name(&file), read(file))).collect()
}

/// Functions of MPI that the headers declare, for either binary interface.
fn declared_by_mpi() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let source = stage().programs.join(format!("mpi-manual-{}.c", std::process::id()));
    fs::write(&source, "#include <mpi.h>\n").expect("the target directory is writable");
    for define in [None, Some("-DMPI_ABI")] {
        let done =
            compiler("cc").args(define).args(["-E", "-P", "-I"]).arg(mpi_include()).arg(&source).output();
        let text = String::from_utf8(done.expect("a C compiler").stdout).expect("text");
        for (before, _) in text.match_indices('(').map(|(at, _)| text.split_at(at)) {
            let name = before.trim_end().rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
            names.extend(
                name.filter(|name| name.starts_with("MPI_") || name.starts_with("MPIX_")).map(str::to_owned),
            );
        }
    }
    fs::remove_file(&source).expect("it is there");
    // A graphics processor's memory is spoken of in mpi.h alone, and a type stands before a parenthesis too.
    names.retain(|name| {
        !name.starts_with("MPIX_Query_") && !name.starts_with("MPIX_GPU_") && name != "MPI_Fint"
    });
    names
}

#[test]
fn mpi_functions_have_generated_man_page() {
    let folder = stage().programs.join(format!("mpi-manual-{}", std::process::id()));
    let pages = made_pages(&folder);
    let names = declared_by_mpi();
    assert!(names.len() > 670, "{}", names.len());
    for name in &names {
        let text = pages.get(name).unwrap_or_else(|| panic!("{name} has no page"));
        let stem = text.strip_prefix(".so man3/").map(|other| other.trim().trim_end_matches(".3"));
        let page = stem.map_or(text, |stem| &pages[stem]);
        assert!(part(page, "SYNOPSIS").contains(&format!("{name}(")), "{name} is not in the synopsis");
        assert!(part(page, "NAME").contains(name.as_str()), "{name} is not among the names");
        assert!(part(page, "STANDARDS").len() > 4 && part(page, "DESCRIPTION").contains("wait"), "{name}");
        for parameter in
            part(page, "SYNOPSIS").split("\\fI").skip(1).filter_map(|rest| rest.split("\\fR").next())
        {
            let is_listed = page.contains(&format!(".I {parameter}\n"));
            let has_list = !part(page, "PARAMETERS").is_empty();
            assert!(!has_list || is_listed || parameter == "ierror", "{name}: {parameter}");
        }
    }
    let extra: Vec<_> = pages.keys().filter(|name| !names.contains(*name)).collect();
    assert!(extra.is_empty(), "there are no functions {extra:?}");
    // Pages name pages that are there.
    let others: BTreeSet<(String, u8)> = self::pages().into_iter().collect();
    for (name, text) in &pages {
        for (other, rest) in text.lines().filter_map(|line| line.strip_prefix(".BR ")?.split_once(" (")) {
            let wanted = (other.to_owned(), rest.as_bytes()[0] - b'0');
            assert!(pages.contains_key(other) || others.contains(&wanted), "{name} names {wanted:?}");
        }
    }
    fs::remove_dir_all(&folder).expect("it is there");
}

#[test]
fn mpi_man_pages_pass_man_without_warnings() {
    if Command::new("groff").arg("--version").output().is_err() {
        return skip(Lack::Tools, "no groff is installed");
    }
    let folder = stage().programs.join(format!("mpi-manual-form-{}", std::process::id()));
    let pages = made_pages(&folder);
    // Some of them by man itself, which is slow; all of them by what it calls.
    let has_man = Command::new("man").arg("--version").output().is_ok();
    for (place, (name, text)) in pages.iter().enumerate().filter(|(_, (_, text))| !text.starts_with(".so")) {
        let mut groff = Command::new("groff");
        groff.args(["-ww", "-man", "-Tutf8", "-z"]).arg(format!("man3/{name}.3")).current_dir(&folder);
        let mut both = vec![groff];
        if has_man && place % 50 == 0 {
            let mut man = Command::new("man");
            man.args(["-l", "--warnings"])
                .arg(format!("man3/{name}.3"))
                .env("MANPAGER", "cat")
                .current_dir(&folder);
            both.push(man);
        }
        for mut command in both {
            let done = command.output().expect("it is there");
            let said = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success() && said.is_empty(), "{name}: {said}{text}");
        }
    }
    fs::remove_dir_all(&folder).expect("it is there");
}
