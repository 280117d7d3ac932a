//! Files of keys: whole, private, or refused.

use crate::Machine;
use parvum_mesh::keys::{Authority, HostCertificate, HostKeys, Identity, KeyError, SignRequest};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A directory that goes with the test.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Dir {
        let path = std::env::temp_dir().join(format!("parvum-keys-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Dir(path)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
}

#[test]
fn saved_keys_load_and_are_private() {
    let (dir, machine) = (Dir::new("save"), Machine::new());
    let identity = machine.identity(7, 3);
    identity.save(&dir.0).expect("saved");
    machine.0.save(&dir.0).expect("saved");
    // Again, over the old ones.
    machine.0.save(&dir.0).expect("saved");
    assert_eq!(Identity::load(&dir.0).expect("loaded").name(), identity.name());
    assert_eq!(Authority::load(&dir.0).expect("loaded").to_bytes(), machine.0.to_bytes());
    assert_eq!(mode(&dir.0), 0o700);
    let mut files: Vec<_> =
        fs::read_dir(&dir.0).expect("listed").map(|one| one.expect("one").file_name()).collect();
    files.sort();
    assert_eq!(files, ["authority.key", "host.key"], "nothing else is left there");
    for file in files {
        assert_eq!(mode(&dir.0.join(file)), 0o600);
    }
}

#[test]
fn files_and_directories_open_to_others_are_refused() {
    let (dir, machine) = (Dir::new("open"), Machine::new());
    machine.identity(7, 3).save(&dir.0).expect("saved");
    let file = dir.0.join("host.key");
    for bad in [0o644, 0o640, 0o620, 0o604] {
        fs::set_permissions(&file, Permissions::from_mode(bad)).expect("set");
        let error = Identity::load(&dir.0).err().expect("refused");
        assert!(matches!(&error, KeyError::Open { path, .. } if *path == file));
        let text = error.to_string();
        assert!(text.starts_with("E-KEYS: ") && text.contains(&format!("mode {bad:o}")), "{text}");
    }
    fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("set");
    Identity::load(&dir.0).expect("loaded");
    fs::set_permissions(&dir.0, Permissions::from_mode(0o755)).expect("set");
    for refused in [Identity::load(&dir.0).err(), machine.0.save(&dir.0).err()] {
        assert!(matches!(refused, Some(KeyError::Open { path, .. }) if path == dir.0));
    }
}

#[test]
fn key_file_that_is_symlink_is_refused() {
    let (dir, machine) = (Dir::new("link"), Machine::new());
    machine.identity(7, 3).save(&dir.0).expect("saved");
    fs::rename(dir.0.join("host.key"), dir.0.join("elsewhere")).expect("moved");
    std::os::unix::fs::symlink("elsewhere", dir.0.join("host.key")).expect("linked");
    assert!(matches!(Identity::load(&dir.0), Err(KeyError::System { .. })));
}

#[test]
fn truncated_and_garbled_key_files_are_refused_with_remedy() {
    let (dir, machine) = (Dir::new("garbled"), Machine::new());
    machine.identity(7, 3).save(&dir.0).expect("saved");
    machine.0.save(&dir.0).expect("saved");
    for name in ["host.key", "authority.key"] {
        let file = dir.0.join(name);
        let whole = fs::read(&file).expect("read");
        let refused = |bytes: &[u8], what: String| {
            fs::write(&file, bytes).expect("written");
            let error = match name {
                "host.key" => Identity::load(&dir.0).err(),
                _ => Authority::load(&dir.0).err(),
            };
            let text = error.unwrap_or_else(|| panic!("{name} {what} was taken")).to_string();
            assert!(text.starts_with("E-KEYS: ") && text.contains(" is damaged ("), "{text}");
            assert!(text.ends_with("remove it and add this host again"), "{text}");
        };
        for end in (0..whole.len()).step_by(7).chain([whole.len() - 1]) {
            refused(&whole[..end], format!("cut to {end} bytes"));
        }
        for at in (0..whole.len()).step_by(5) {
            let mut bytes = whole.clone();
            // Another digit where there was one.
            bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
            refused(&bytes, format!("with another byte {at}"));
        }
        refused(&[&whole[..], b"more\n"].concat(), "with more behind it".into());
        refused(&vec![b'x'; 100_000], "of noise".into());
        fs::write(&file, &whole).expect("written");
    }
    Identity::load(&dir.0).expect("the whole one is good");
    Authority::load(&dir.0).expect("the whole one is good");
}

#[test]
fn missing_key_file_error_names_cause() {
    let dir = Dir::new("missing");
    let text = Identity::load(&dir.0).err().expect("refused").to_string();
    assert!(text.contains("No such file"), "{text}");
}

#[test]
fn authority_handed_over_signs_for_same_machine() {
    let machine = Machine::new();
    let handed = Authority::from_bytes(&machine.0.to_bytes()).expect("whole");
    let keys = HostKeys::make().expect("keys");
    let signed = handed.sign(&SignRequest::new(keys.public(), 4, 1, "delta")).expect("signed");
    let signed = HostCertificate::from_bytes(&signed.to_bytes()).expect("whole");
    let name = Identity::new(keys, signed).expect("fits").name();
    assert_eq!((name.machine, name.host, name.incarnation), (machine.0.machine(), 4, 1));
}

#[test]
fn foreign_keys_and_certificates_are_refused() {
    let (machine, other) = (Machine::new(), Machine::new());
    let (mine, yours) = (HostKeys::make().expect("keys"), HostKeys::make().expect("keys"));
    let certificate = machine.0.sign(&SignRequest::new(yours.public(), 1, 1, "x")).expect("signed");
    let text = Identity::new(mine, certificate).err().expect("refused").to_string();
    assert!(text.contains("certifies another key"), "{text}");
    let bytes = machine.0.to_bytes();
    let (text, theirs) =
        (String::from_utf8(bytes).expect("text"), String::from_utf8(other.0.to_bytes()).expect("text"));
    let key = |text: &str| text.lines().nth(2).expect("a key").to_owned();
    let mixed = text.replace(&key(&text), &key(&theirs));
    assert!(Authority::from_bytes(mixed.as_bytes()).is_err(), "a key of one and a root of another");
}
