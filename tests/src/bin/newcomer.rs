//! A program for the tests: `parvum join` of a release whose daemons speak a later protocol with each other.

#![forbid(unsafe_code)]

use parvum_mesh::keys::{HostCertificate, HostKeys, Identity};
use parvum_mesh::{Mesh, PROTOCOL, Settings};
use serde_json::{Value, json};
use std::net::SocketAddr;

fn main() {
    let mut lines = std::io::stdin().lines();
    let mut line = || -> Value {
        let line = lines.next().expect("somebody invites").expect("text");
        serde_json::from_str(&line).expect("a daemon speaks JSON")
    };
    let _invitation = line();
    let keys = HostKeys::make().expect("keys");
    let about = json!({"key": keys.public().0, "arch": "LINUX64", "cpus": 1, "speed": 1000});
    println!("{}", json!({ "Ok": about }));
    let admission = line();
    let certificate: Vec<u8> = serde_json::from_value(admission["certificate"].clone()).expect("bytes");
    let certificate = HostCertificate::from_bytes(&certificate).expect("a certificate");
    let identity = Identity::new(keys, certificate).expect("it is of this key");
    let home = admission["home"].as_u64().expect("a number");
    let addresses: Vec<SocketAddr> = admission["hosts"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|host| host["number"].as_u64() == Some(home))
        .flat_map(|host| host["addresses"].as_array().expect("a list"))
        .map(|address| address.as_str().expect("text").parse().expect("an address"))
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let error = tokio::task::LocalSet::new().block_on(&runtime, async {
        let settings = Settings { protocol: PROTOCOL + 1, release: "9.9.9".into(), ..Settings::default() };
        let (mesh, _events) = Mesh::open(identity, settings).expect("an endpoint");
        mesh.connect(home as u32, &addresses).await.expect_err("it is let in")
    });
    println!("{}", json!({ "Err": error.to_string() }));
    std::process::exit(1);
}
