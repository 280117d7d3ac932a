//! The programs, as data: how each is run, what it is told, how it ends, and what may differ between two runs.

use crate::machines::Kind;
use std::fmt;

/// How a program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// Not at all: it serves until it is stopped.
    Stopped,
    /// Not in time.
    Overdue,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Code(code) => write!(f, "exits with {code}"),
            End::Signal(signal) => write!(f, "is ended by signal {signal}"),
            End::Stopped => write!(f, "serves until it is stopped"),
            End::Overdue => write!(f, "does not end"),
        }
    }
}

/// What a program reads.
#[derive(Clone, Copy)]
pub enum Input {
    /// Nothing.
    None,
    /// This, by a pipe.
    Text(&'static str),
    /// On a terminal: after each question its answer.
    Terminal(&'static [(&'static str, &'static str)]),
}

/// One program.
pub struct Step {
    /// As a person types it. `FILES/` stands for the folder `tests/drop-in/files`.
    pub line: &'static str,
    /// It runs beside those after it, which begin when it has said this.
    pub beside: Option<&'static str>,
    pub input: Input,
    pub ends: End,
    /// Seconds that it may take.
    pub limit: u64,
}

/// Programs that are run one after the other on a fresh machine.
pub struct Case {
    pub name: &'static str,
    /// With what Parvum is compared.
    pub peer: Kind,
    pub steps: &'static [Step],
    /// Lines come in any order.
    pub sorted: bool,
    /// Numbers are times or rates.
    pub numbers: bool,
    /// A line is said any number of times.
    pub repeats: bool,
    /// Lines with these words differ from run to run.
    pub drop: &'static [&'static str],
    /// When there are any, only lines with one of these words are looked at.
    pub keep: &'static [&'static str],
    /// Files that must be there.
    pub needs: &'static [&'static str],
    /// Why Parvum rightly differs.
    pub known: Option<&'static str>,
}

impl Case {
    /// Its programs, in one line.
    pub fn line(&self) -> String {
        self.steps.iter().map(|step| step.line).collect::<Vec<_>>().join("; ")
    }

    pub const fn sorted(mut self) -> Case {
        self.sorted = true;
        self
    }

    pub const fn numbers(mut self) -> Case {
        self.numbers = true;
        self
    }

    /// Numbers are results.
    pub const fn exact(mut self) -> Case {
        self.numbers = false;
        self
    }

    pub const fn repeats(mut self) -> Case {
        self.repeats = true;
        self
    }

    pub const fn drop(mut self, lines: &'static [&'static str]) -> Case {
        self.drop = lines;
        self
    }

    pub const fn keep(mut self, lines: &'static [&'static str]) -> Case {
        self.keep = lines;
        self
    }

    pub const fn needs(mut self, files: &'static [&'static str]) -> Case {
        self.needs = files;
        self
    }

    #[allow(dead_code)]
    const fn known(mut self, why: &'static str) -> Case {
        self.known = Some(why);
        self
    }
}

/// A case in which nothing may differ.
pub const fn case(name: &'static str, steps: &'static [Step]) -> Case {
    let peer = Kind::Pvm;
    Case {
        name,
        peer,
        steps,
        sorted: false,
        numbers: false,
        repeats: false,
        drop: &[],
        keep: &[],
        needs: &[],
        known: None,
    }
}

pub const fn run(line: &'static str) -> Step {
    Step { line, beside: None, input: Input::None, ends: End::Code(0), limit: 20 }
}

const fn beside(line: &'static str, ready: &'static str) -> Step {
    // On a terminal it says each line when it has it; into a pipe, when there are many.
    Step { line, beside: Some(ready), input: Input::Terminal(&[]), ends: End::Code(0), limit: 20 }
}

impl Step {
    pub const fn within(mut self, seconds: u64) -> Step {
        self.limit = seconds;
        self
    }

    const fn ends(mut self, ends: End) -> Step {
        self.ends = ends;
        self
    }

    const fn reads(mut self, text: &'static str) -> Step {
        self.input = Input::Text(text);
        self
    }

    const fn talks(mut self, dialogue: &'static [(&'static str, &'static str)]) -> Step {
        self.input = Input::Terminal(dialogue);
        self
    }
}

/// Single faults; see `faults.rs`.
pub const FAULTS: Case = case("faults", &[run("faults").within(240)]);

/// Every program of `pvm-examples`, and those of the other packages.
pub const CASES: &[Case] = &[
    case("hello", &[run("hello.pvm")]),
    case("hello_other", &[run("hello_other")]),
    case("master1", &[run("master1")]).sorted(),
    case("fmaster1", &[run("fmaster1")]).sorted(),
    case("spmd", &[run("starter 4 spmd")]).sorted(),
    case("spmd alone", &[run("spmd").ends(End::Code(1))]),
    case("fspmd", &[run("starter 4 fspmd")]).sorted(),
    case("hitc", &[run("hitc")]).numbers(),
    case("timing", &[run("timing").ends(End::Code(1))]).numbers(),
    case("dbwtest", &[run("starter 2 dbwtest")]).numbers().sorted(),
    case("ibwtest", &[run("starter 2 ibwtest")]).numbers().sorted(),
    case("pbwtest", &[run("starter 2 pbwtest")]).numbers().sorted(),
    case("rbwtest", &[run("starter 2 rbwtest")]).numbers().sorted(),
    case("gexample", &[run("gexample").talks(&[("matrix:", "20\n"), ("(1-32):", "4\n")])]),
    case("gexample spawned", &[run("starter 4 gexample")]).sorted(),
    case("fgexample", &[run("fgexample")]),
    case("fgexample spawned", &[run("starter 2 fgexample")]).sorted(),
    // Each leaves the group when it has heard of all; who is slower looks for those that have left. PVM's group
    // server is slow enough to hide that.
    case("ge", &[run("ge 4")]).drop(&["doesn't match up", "Not in group", "No such instance"]),
    case("gexamp", &[run("gexamp 4")]),
    // It says so as often as it looks before all have joined; that may be never.
    case("gs", &[run("gs.pvm 3")]).repeats().drop(&["waiting on kids to join"]),
    case("joinleave", &[run("joinleave 300")]),
    case("tst", &[run("tst")]),
    case("tjf", &[run("tjf")]),
    case("tjl", &[run("tjl")]),
    case("thb", &[run("thb 3")]),
    case("trsg", &[run("trsg").reads("3\n5\n").ends(End::Code(1))]),
    // It adds to a variable that it never set: the sum differs from run to run.
    case("frsg", &[run("frsg").reads("3\n5\n")]).drop(&["Sum of Squares"]),
    case("inherit 1", &[run("inherita inherit1")]),
    case("inherit 3", &[run("inherita inherit3")]),
    case("inherit b", &[run("inheritb inherit3")]),
    case(
        "mailbox kept",
        &[run("lmbi 2 p e"), run("gmbi"), run("rme pvmgs 0").ends(End::Code(255)), run("gmbi")],
    ),
    case("mailbox dropped", &[run("lmbi 3 m e"), run("gmbi"), run("rme none 0").ends(End::Code(255))]),
    case(
        "service",
        &[
            beside("task0 shop p", "waiting for service"),
            run("task1 shop"),
            run("task1 shop 0 d"),
            run("gmbi"),
            run("task_end shop 0"),
            run("gmbi"),
            run("rme shop 0").ends(End::Code(255)),
            run("gmbi"),
        ],
    ),
    case(
        "handlers",
        &[
            beside("mhf_server", "inserted server"),
            run("mhf_tickle").talks(&[
                ("Selection: ", "0\n"),
                ("Selection: ", "1\n"),
                ("source tag: ", "77\n"),
                ("source ctx: ", "5\n"),
                ("Selection: ", "1\n"),
                ("Selection: ", "4\n"),
                ("message tag: ", "77\n"),
                ("source ctx: ", "5\n"),
                ("Selection: ", "1\n"),
                ("string_catcher1: ", "hello to the handler\n"),
                ("Selection: ", "2\n"),
                ("handler id: ", "500\n"),
                ("Selection: ", "9\n"),
            ]),
        ],
    )
    // The list of handlers itself: PVM has nine of its own in it.
    .drop(&[
        "dhandles",
        "free list",
        "Display Message Handler",
        "message handlers",
        ": from TID",
        "pvm_delmhf():",
    ]),
    case(
        "NPpvm",
        &[
            beside("NPpvm -n 50 -u 4096 -o np.a", "output to"),
            run("NPpvm -h 127.0.0.1 -n 50 -u 4096 -o np.b"),
        ],
    )
    .numbers()
    .sorted(),
    case(
        "NPpvm both ways",
        &[
            beside("NPpvm -2 -n 50 -u 4096 -o np.a", "output to"),
            run("NPpvm -2 -h 127.0.0.1 -n 50 -u 4096 -o np.b"),
        ],
    )
    .numbers()
    .sorted(),
    case(
        "NPpvm one way",
        &[
            beside("NPpvm -s -n 50 -u 4096 -o np.a", "output to"),
            run("NPpvm -s -h 127.0.0.1 -n 50 -u 4096 -o np.b"),
        ],
    )
    .numbers()
    .sorted(),
    case(
        "NPpvm integrity",
        &[
            beside("NPpvm -i -n 50 -u 4096 -o np.a", "output to"),
            run("NPpvm -i -h 127.0.0.1 -n 50 -u 4096 -o np.b"),
        ],
    )
    .numbers()
    .sorted(),
    // How often its workers report depends on how fast they are.
    case("tablix2", &[run("tablix2 -n 2 -o out- FILES/school.xml"), run("/usr/bin/ls")])
        .numbers()
        .sorted()
        .drop(&["reports"])
        .needs(&["/usr/bin/tablix2"]),
    case("slsh", &[run("slsh FILES/tasks.sl")]).needs(&["/usr/bin/slsh"]),
    case(
        "console",
        &[run("/usr/bin/pvm").talks(&[
            ("pvm> ", "conf\n"),
            ("pvm> ", "ps -a\n"),
            ("pvm> ", "id\n"),
            ("pvm> ", "nonsense\n"),
            ("pvm> ", "alias l ps -a\n"),
            ("pvm> ", "help spawn\n"),
            ("pvm> ", "setenv FRUIT apple\n"),
            ("pvm> ", "echo $FRUIT and pear\n"),
            ("pvm> ", "spawn -2 -> spmd\n"),
            ("finished", "quit\n"),
        ])],
    )
    // The jobs write at the same time. A handler of the console for its own end is not called.
    .sorted()
    .drop(&["exit handler called", "Pass a token", "EOF"]),
    case(
        "console script",
        &[run("/usr/bin/pvm").reads("version\nmstat 127.0.0.1\npstat t40001\nsetopt\nnames\ntrace\nquit\n")],
    )
    .drop(&["exit handler called"]),
    case("console halt", &[run("/usr/bin/pvm").reads("halt\n").ends(End::Signal(15))]),
    case("tracer", &[run("tracer -h"), run("trcsort -h")]),
    case(
        "tracing",
        &[
            beside("tracer -T trace.out", "tracer>").talks(&[("tracer>", "quit\n")]).ends(End::Code(255)),
            run("starter 2 spmd"),
        ],
    )
    .numbers()
    .sorted()
    // It may be told to quit before it has heard of the tasks.
    .drop(&["Connected to Tracer", "Trace File Complete"]),
    case("group tools", &[run("tst"), run("pvm_gstat prognosis"), run("pvmgroups"), run("pvm_gstat")]),
    case("pvmgs", &[beside("pvmgs", "").ends(End::Stopped), run("tst")]),
    case("mtile", &[run("tiler")]),
    case("xep", &[run("xep").ends(End::Code(1))]),
    case("srm", &[beside("srm.pvm", "registered").ends(End::Stopped), run("hello.pvm"), run("master1")])
        .sorted()
        // How many ends of tasks it hears of before it is stopped itself is chance.
        .drop(&["SM_TASKX"]),
];
