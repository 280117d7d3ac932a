//! What the command keeps for its user: `$XDG_STATE_HOME/parvum`, else `~/.local/state/parvum`.

use std::path::PathBuf;

/// The folder. It may not exist yet.
pub fn folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path: &PathBuf| path.is_absolute());
    let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("parvum"))
}
