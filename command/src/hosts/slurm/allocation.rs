//! The allocation of Slurm that this process is in, as the variables of Slurm tell.

/// The variable that keeps Parvum from using the allocation.
const CHOICE: &str = "PARVUM_SLURM";

/// The hosts of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The number of the job.
    pub job: String,
    /// The hosts, in Slurm's order.
    pub nodes: Vec<Node>,
    /// The host of this process, if it is one of them. The shell of `salloc` may be on another host.
    pub own: Option<String>,
}

/// A host of the allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Slurm's name of the host.
    pub name: String,
    /// The number of tasks that the job has there.
    pub tasks: u32,
}

impl Allocation {
    /// The allocation that the environment names. The user may choose to ignore the allocation.
    pub fn of_environment() -> Result<Option<Allocation>, String> {
        match std::env::var(CHOICE).as_deref() {
            Err(_) | Ok("" | "auto") => Allocation::of(|name| std::env::var(name).ok()),
            Ok("no") => Ok(None),
            Ok(other) => Err(format!("E-OPTION: {CHOICE}={other} is not valid; help: use auto or no")),
        }
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Allocation>, String> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let (Some(job), Some(list)) = (set("SLURM_JOB_ID"), set("SLURM_JOB_NODELIST")) else {
            return Ok(None);
        };
        let odd = |name: &str, value: &str| {
            format!("E-SLURM: {name}={value} cannot be read; help: {CHOICE}=no leaves Slurm alone")
        };
        let names = expand(&list).ok_or_else(|| odd("SLURM_JOB_NODELIST", &list))?;
        // In a step, the first of these tells of the hosts of the step only.
        let per_node = ["SLURM_TASKS_PER_NODE", "SLURM_JOB_CPUS_PER_NODE"];
        let mut told = per_node.iter().filter_map(|name| counts(&set(name)?));
        let tasks = told.find(|tasks| tasks.len() == names.len()).unwrap_or_else(|| vec![1; names.len()]);
        let own = set("SLURMD_NODENAME").filter(|own| names.contains(own));
        let nodes = names.into_iter().zip(tasks).map(|(name, tasks)| Node { name, tasks }).collect();
        Ok(Some(Allocation { job, nodes, own }))
    }

    /// The hosts other than the one of this process.
    pub fn others(&self) -> Vec<&str> {
        let names = self.nodes.iter().map(|node| node.name.as_str());
        names.filter(|name| self.own.as_deref() != Some(*name)).collect()
    }
}

/// The largest number of hosts of a machine: a longer list is a mistake.
const MOST: usize = 4095;

/// The names in a list of Slurm's: `n[1-3,07],login` is n1 n2 n3 n07 login.
fn expand(list: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for item in split(list)? {
        names.extend(expand_item(item)?);
        if names.len() > MOST {
            return None;
        }
    }
    Some(names)
}

/// The items between the commas that are outside brackets.
fn split(list: &str) -> Option<Vec<&str>> {
    let (mut items, mut depth, mut begin) = (Vec::new(), 0, 0);
    for (at, letter) in list.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&list[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
        if !(0..=1).contains(&depth) {
            return None;
        }
    }
    items.push(&list[begin..]);
    (depth == 0 && items.iter().all(|item| !item.is_empty())).then_some(items)
}

/// One item may have several brackets: `rack[1-2]n[1-2]` is four names.
fn expand_item(item: &str) -> Option<Vec<String>> {
    let Some((before, rest)) = item.split_once('[') else { return Some(vec![item.to_owned()]) };
    let (ranges, after) = rest.split_once(']')?;
    let rests = expand_item(after)?;
    let mut names = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(first) || !digits(last) {
            return None;
        }
        let (from, to) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        if to < from || to - from > MOST {
            return None;
        }
        let width = first.len();
        for number in from..=to {
            names.extend(rests.iter().map(|rest| format!("{before}{number:0width$}{rest}")));
        }
        if names.len() > MOST {
            return None;
        }
    }
    Some(names)
}

/// The numbers in a list of Slurm's: `2(x3),1` is 2 2 2 1.
fn counts(text: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for item in text.split(',') {
        let (number, times) = match item.split_once("(x") {
            Some((number, times)) => (number, times.strip_suffix(')')?.parse::<usize>().ok()?),
            None => (item, 1),
        };
        let number = number.parse::<u32>().ok().filter(|number| *number > 0)?;
        if all.len() + times > MOST {
            return None;
        }
        all.extend(std::iter::repeat_n(number, times));
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_hosts_expand_as_in_slurm() {
        let names = |list: &str| expand(list).map(|names| names.join(" "));
        for (list, wanted) in [
            ("n1", "n1"),
            ("n1,m2", "n1 m2"),
            ("n[1-3,7],m", "n1 n2 n3 n7 m"),
            ("n[08-11]", "n08 n09 n10 n11"),
            ("r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2"),
            ("n[1-2]-ib", "n1-ib n2-ib"),
        ] {
            assert_eq!(names(list).as_deref(), Some(wanted), "{list}");
        }
        for wrong in ["", "n[1-2", "n]1[", "n[2-1]", "n[a-b]", "n[]", "a,,b", "n[1-99999]", "n[[1]]", "n[-1]"]
        {
            assert_eq!(names(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn counts_expand_as_in_slurm() {
        assert_eq!(counts("2(x3),1"), Some(vec![2, 2, 2, 1]));
        assert_eq!(counts("4"), Some(vec![4]));
        for wrong in ["", "2(x", "2(x3", "0", "2(x99999)", "many"] {
            assert_eq!(counts(wrong), None, "{wrong}");
        }
    }

    fn allocation(variables: &[(&str, &str)]) -> Result<Option<Allocation>, String> {
        Allocation::of(|asked| {
            let found = variables.iter().find(|(name, _)| *name == asked);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn allocation_has_hosts_and_their_tasks() {
        let job =
            [("SLURM_JOB_ID", "7"), ("SLURM_JOB_NODELIST", "n[1-3]"), ("SLURM_TASKS_PER_NODE", "2(x2),1")];
        let found = allocation(&job).expect("fine").expect("an allocation");
        let nodes: Vec<_> = found.nodes.iter().map(|node| (node.name.as_str(), node.tasks)).collect();
        assert_eq!(nodes, [("n1", 2), ("n2", 2), ("n3", 1)]);
        assert_eq!((found.own.as_deref(), found.others()), (None, vec!["n1", "n2", "n3"]));
        let inside = [job[0], job[1], job[2], ("SLURMD_NODENAME", "n2")];
        let found = allocation(&inside).expect("fine").expect("an allocation");
        assert_eq!((found.own.as_deref(), found.others()), (Some("n2"), vec!["n1", "n3"]));
        assert_eq!(allocation(&[]), Ok(None));
        assert_eq!(allocation(&job[..1]), Ok(None));
        let why = allocation(&[job[0], ("SLURM_JOB_NODELIST", "n[1-")]).expect_err("half a list");
        assert!(why.starts_with("E-SLURM") && why.contains("n[1-"), "{why}");
    }

    #[test]
    fn step_on_some_hosts_knows_the_allocation() {
        let step = [
            ("SLURM_JOB_ID", "7"),
            ("SLURM_JOB_NODELIST", "n[1-2]"),
            ("SLURM_TASKS_PER_NODE", "1"),
            ("SLURM_JOB_CPUS_PER_NODE", "4(x2)"),
        ];
        let tasks = |variables| {
            let found = allocation(variables).expect("fine").expect("an allocation");
            found.nodes.iter().map(|node| node.tasks).collect::<Vec<_>>()
        };
        assert_eq!((tasks(&step), tasks(&step[..3])), (vec![4, 4], vec![1, 1]));
    }
}
