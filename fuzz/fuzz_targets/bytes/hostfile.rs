//! A hostfile, which a person wrote, or a tool.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../../../command/src/shown.rs"]
mod shown;

#[allow(dead_code)]
#[path = "../../../command/src/settings/hostfile.rs"]
mod hostfile;

fuzz_target!(|text: &str| {
    let variable = |name: &str| (name.len() < 4).then(|| std::ffi::OsString::from(format!("value of {name}")));
    if let Ok(file) = hostfile::Hostfile::parse(text, &variable) {
        let _ = file.of_this_host(None, &variable);
        let _ = file.others(None).count();
        file.hosts.iter().for_each(|host| drop(hostfile::unused(&host.options)));
    }
});
