//! What tasks wrote down: see `tests/programs/include/ledger.h`.

use std::path::Path;

/// What can be asked with `pvm_notify`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Notice {
    /// The end of a task.
    Exit,
    /// The end of a host.
    Delete,
    /// A new host.
    Add,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The message `n` goes to a task.
    Sent {
        /// Its tid.
        to: u32,
        /// How many of that tid were told to be gone before.
        epoch: u32,
        /// Its number.
        n: u64,
        /// The checksum.
        sum: u32,
    },
    /// The call has refused it.
    Unsent {
        /// To whom.
        to: u32,
        /// As above.
        epoch: u32,
        /// Its number.
        n: u64,
        /// What the call returned.
        code: i32,
    },
    /// A message has come.
    Got {
        /// From the task of this name.
        from: String,
        /// Its epoch.
        epoch: u32,
        /// Its number.
        n: u64,
        /// The checksum of what has come.
        sum: u32,
    },
    /// A notice was asked for; of new hosts with the time.
    Asked(Notice, u64),
    /// A notice has come.
    Told(Notice, u64),
    /// A result was taken.
    Accept(u64),
    /// A result was wrong.
    Wrong(u64),
    /// It comes to a barrier: the round, and when.
    Enter(u64, u64),
    /// It leaves the barrier.
    Leave(u64, u64),
    /// It was told that the barrier is broken.
    Broken,
    /// It has asked for all that it wants to be told.
    Watching,
    /// All has come that was to come.
    Settled,
    /// It ends before that.
    Over(String),
}

/// What one task wrote.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// A name that no other task ever has.
    pub name: String,
    /// Its tid.
    pub tid: u32,
    /// Its process, as its host counts.
    pub pid: u32,
    /// Its host.
    pub host: String,
    /// The job.
    pub run: String,
    /// What it does there.
    pub role: String,
    /// All its lines but the first.
    pub entries: Vec<Entry>,
}

impl Record {
    /// Reads the text of a ledger. The last line may be cut off: its writer was killed.
    pub fn parse(text: &str) -> Result<Record, String> {
        let whole = &text[..text.rfind('\n').map_or(0, |at| at + 1)];
        let mut lines = whole.lines();
        let first = lines.next().unwrap_or_default();
        let ["task", name, tid, pid, host, run, role] = first.split(' ').collect::<Vec<_>>()[..] else {
            return Err(format!("not the first line of a ledger: {first:?}"));
        };
        let entries = lines.map(|line| entry(line).ok_or_else(|| format!("{name}: not a line: {line:?}")));
        Ok(Record {
            name: name.to_owned(),
            tid: u32::from_str_radix(tid, 16).map_err(|why| format!("{tid}: {why}"))?,
            pid: pid.parse().map_err(|why| format!("{pid}: {why}"))?,
            host: host.to_owned(),
            run: run.to_owned(),
            role: role.to_owned(),
            entries: entries.collect::<Result<_, _>>()?,
        })
    }

    /// Whether it has lived until all had settled.
    pub fn is_settled(&self) -> bool {
        self.entries.contains(&Entry::Settled)
    }

    /// Why it has ended before, if it says.
    pub fn over(&self) -> Option<&str> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Over(why) => Some(why.as_str()),
            _ => None,
        })
    }
}

fn entry(line: &str) -> Option<Entry> {
    let words: Vec<&str> = line.split(' ').collect();
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let tid = |text: &str| u32::from_str_radix(text, 16).ok();
    let notice = |text: &str| match text {
        "exit" => Some(Notice::Exit),
        "delete" => Some(Notice::Delete),
        "add" => Some(Notice::Add),
        _ => None,
    };
    Some(match words[..] {
        ["sent", to, epoch, n, sum] => Entry::Sent {
            to: tid(to)?,
            epoch: epoch.parse().ok()?,
            n: n.parse().ok()?,
            sum: sum.parse().ok()?,
        },
        ["unsent", to, epoch, n, code] => Entry::Unsent {
            to: tid(to)?,
            epoch: epoch.parse().ok()?,
            n: n.parse().ok()?,
            code: code.parse().ok()?,
        },
        ["got", from, epoch, n, sum] => Entry::Got {
            from: from.to_owned(),
            epoch: epoch.parse().ok()?,
            n: n.parse().ok()?,
            sum: sum.parse().ok()?,
        },
        ["asked", about, target] => Entry::Asked(notice(about)?, hex(target)?),
        ["told", about, target] => Entry::Told(notice(about)?, hex(target)?),
        ["accept", unit] => Entry::Accept(unit.parse().ok()?),
        ["wrong", unit] => Entry::Wrong(unit.parse().ok()?),
        ["enter", round, time] => Entry::Enter(round.parse().ok()?, time.parse().ok()?),
        ["leave", round, time] => Entry::Leave(round.parse().ok()?, time.parse().ok()?),
        ["broken", ..] => Entry::Broken,
        ["watching"] => Entry::Watching,
        ["settled"] => Entry::Settled,
        ["over", ..] => Entry::Over(line.get(5..)?.to_owned()),
        _ => return None,
    })
}

/// What all tasks wrote.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// One for each task.
    pub records: Vec<Record>,
}

impl Ledger {
    /// Reads all files of a folder. A task that was killed at once may have written nothing.
    pub fn read(folder: &Path) -> Result<Ledger, String> {
        let mut records = Vec::new();
        let files = std::fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
        for file in files.flatten().map(|file| file.path()) {
            if file.extension().is_some_and(|kind| kind == "log") {
                let text = std::fs::read_to_string(&file).map_err(|why| why.to_string())?;
                if text.contains('\n') {
                    records.push(Record::parse(&text)?);
                }
            }
        }
        records.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Ledger { records })
    }
}
