//! The source line of a place in the program, from the debug information of its files, or else from their symbols.

use addr2line::Loader;
use std::collections::HashMap;
use std::path::Path;

/// The maximum distance of a place from the symbol before it. Beyond this distance, the symbol of the function is
/// missing.
const NEAR: u64 = 4096;

/// The files that were asked about.
#[derive(Default)]
pub(crate) struct Places(HashMap<String, Option<Loader>>);

impl Places {
    /// A place in words: `racy.c:31 in work`; without debug information `work+0x1c in a.out`, without symbols `a.out+0x118c`.
    pub(crate) fn words(&mut self, file: &str, offset: u64) -> String {
        let path = if file.is_empty() {
            std::fs::read_link("/proc/self/exe").unwrap_or_else(|_| "/proc/self/exe".into())
        } else {
            Path::new(file).into()
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let loader = self.0.entry(file.to_owned()).or_insert_with(|| Loader::new(&path).ok());
        let Some(loader) = loader else { return format!("{name}+{offset:#x}") };
        let symbol = loader.find_symbol_info(offset).filter(|it| offset - it.address().min(offset) < NEAR);
        let function = function(loader, offset).or_else(|| symbol.as_ref().map(|it| it.name().to_owned()));
        let line = loader.find_location(offset).ok().flatten();
        match (line.and_then(|line| Some((line.file?, line.line?))), function, symbol) {
            (Some((source, line)), Some(function), _) => format!("{}:{line} in {function}", short(source)),
            (Some((source, line)), None, _) => format!("{}:{line}", short(source)),
            (None, Some(function), Some(symbol)) => {
                format!("{function}+{:#x} in {name}", offset.saturating_sub(symbol.address()))
            }
            _ => format!("{name}+{offset:#x}"),
        }
    }

    /// The function alone, or the file.
    pub(crate) fn function(&mut self, file: &str, offset: u64) -> String {
        let words = self.words(file, offset);
        match words.split_once(" in ") {
            Some((_, function)) if words.contains(':') => function.to_owned(),
            _ => words,
        }
    }
}

/// The innermost function that has the place, also when it was compiled into another.
fn function(loader: &Loader, offset: u64) -> Option<String> {
    let frame = loader.find_frames(offset).ok()?.next().ok()??;
    Some(frame.function?.demangle().ok()?.into_owned())
}

/// A file's name, from the current folder if it lies there.
fn short(path: &str) -> &str {
    let here = std::env::current_dir().ok();
    let inside = here.as_deref().and_then(|here| Path::new(path).strip_prefix(here).ok());
    inside.and_then(Path::to_str).unwrap_or(path)
}
