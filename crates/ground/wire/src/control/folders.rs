//! The folders that PVM programs are searched in. The library of PVM and the console send them with a spawn request, because the
//! daemon's environment may be older than the caller's.

use super::Blob;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The folders of `PVM_PATH`, of an installed PVM, and of `PATH`, in the order of the search. The daemon searches
/// its `PATH` after them. `variable` reads an environment variable of the caller.
pub fn program_folders(variable: impl Fn(&str) -> Option<OsString>) -> Vec<Blob> {
    let listed = |name: &str| {
        let list = variable(name).unwrap_or_default();
        let folders: Vec<_> = std::env::split_paths(&list).filter(|folder| folder.is_absolute()).collect();
        folders.into_iter().map(|folder| folder.into_os_string().into_vec())
    };
    let arch = variable("PVM_ARCH").unwrap_or_else(|| "LINUX64".into());
    let below = |root: &OsStr, rest: &str| [root.as_bytes(), rest.as_bytes(), b"/", arch.as_bytes()].concat();
    let home = variable("HOME").map(|home| below(&home, "/pvm3/bin"));
    let root = variable("PVM_ROOT").map(|root| below(&root, "/bin"));
    // The folder of Debian's PVM programs that only a daemon starts.
    let debian = below(OsStr::new("/usr/lib/pvm3"), "/bin");
    let own = home.into_iter().chain(root).chain([debian]);
    listed("PVM_PATH").chain(own).chain(listed("PATH")).map(Blob).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_in_the_order_of_the_search() {
        let variable = |name: &str| match name {
            "PVM_PATH" => Some("/a:relative:/b".into()),
            "HOME" => Some("/home/me".into()),
            "PATH" => Some("/bin:".into()),
            _ => None,
        };
        let folders = program_folders(variable);
        let folders: Vec<&str> = folders.iter().filter_map(|one| std::str::from_utf8(&one.0).ok()).collect();
        assert_eq!(folders, ["/a", "/b", "/home/me/pvm3/bin/LINUX64", "/usr/lib/pvm3/bin/LINUX64", "/bin"]);
    }

    #[test]
    fn name_of_a_folder_keeps_its_bytes() {
        let odd = OsString::from_vec(b"/\xff/x".to_vec());
        let folders = program_folders(|name| (name == "PVM_ROOT").then(|| odd.clone()));
        assert!(folders.contains(&Blob(b"/\xff/x/bin/LINUX64".to_vec())), "{folders:?}");
    }
}
