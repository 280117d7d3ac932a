//! Programs that measure nothing, in the place of those of `apps/`.

use parvum_lab::CompareOptions;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// In the place of the sockets' program. It interrupts the laboratory when it is started for the time that the file `stop` says.
const FAKE: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
    --sizes) sizes=$2 ;;
    --tasks) tasks=$2 ;;
    --out) out=$2 ;;
    esac
    shift
done
here=$(dirname "$0")
echo started >>"$here/started"
for size in $(echo "$sizes" | tr , ' '); do
    echo "{\"program\":\"sockets\",\"tasks\":$tasks,\"size\":$size,\"verified\":true,\"samples_ns\":[1000,1001]}" >>"$out"
done
[ "$(wc -l <"$here/started")" != "$(cat "$here/stop" 2>/dev/null)" ] || kill -INT $PPID
"#;

const BUILD: &str = "#!/bin/sh\nset -e\nmkdir -p \"$1\"\ncp \"$(dirname \"$0\")/fake\" \"$1/sockets.sockets\"\nchmod +x \"$1/sockets.sockets\"\n";

/// The interruption is a signal to this whole process, which is one for every run that is under way in it.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A folder with such programs, and the results.
pub struct Place(
    pub PathBuf,
    #[expect(dead_code, reason = "held until the test is over")] MutexGuard<'static, ()>,
);

impl Place {
    pub fn new(name: &str) -> Place {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let place = Place(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name), alone);
        let _ = std::fs::remove_dir_all(&place.0);
        std::fs::create_dir_all(place.0.join("apps")).expect("a folder");
        std::fs::create_dir_all(place.0.join("build/programs")).expect("a folder");
        std::fs::write(place.0.join("apps/build.sh"), BUILD).expect("a file");
        std::fs::write(place.0.join("apps/fake"), FAKE).expect("a file");
        place
    }

    pub fn options(&self) -> CompareOptions {
        CompareOptions {
            papers: true,
            systems: "sockets".into(),
            seed: Some(7),
            budget: Some(60),
            apps: Some(self.0.join("apps")),
            out: self.0.join("results"),
            ..CompareOptions::default()
        }
    }

    /// Interrupts after so many launches more.
    pub fn stop_after(&self, launches: usize) {
        let stop = (self.started() + launches).to_string();
        std::fs::write(self.0.join("build/programs/stop"), stop).expect("a file");
    }

    pub fn started(&self) -> usize {
        std::fs::read_to_string(self.0.join("build/programs/started")).map_or(0, |text| text.lines().count())
    }
}
