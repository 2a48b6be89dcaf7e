//! The file of the console's history.

use std::ffi::OsString;
use std::path::PathBuf;

/// The number of entries that are kept.
pub(super) const LENGTH: usize = 5000;

/// Returns the file of the history: the one that `PERILUNE_HISTORY` names, or `perilune/history` in
/// the folder for state (XDG base directories). `None` if no history is kept, because there is no
/// home folder or the variable is empty.
pub(super) fn file() -> Option<PathBuf> {
    locate(|name| std::env::var_os(name))
}

fn locate(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(file) = variable("PERILUNE_HISTORY") {
        return (!file.is_empty()).then(|| PathBuf::from(file));
    }
    let folder = match variable("XDG_STATE_HOME").map(PathBuf::from) {
        // The specification says to ignore relative paths.
        Some(state) if state.is_absolute() => state,
        _ => PathBuf::from(variable("HOME").filter(|h| !h.is_empty())?).join(".local/state"),
    };
    Some(folder.join("perilune/history"))
}

#[cfg(test)]
mod tests {
    use super::locate;

    fn check(variables: &[(&str, &str)], expect: Option<&str>) {
        let find = |name: &str| variables.iter().find(|v| v.0 == name).map(|v| v.1.into());
        assert_eq!(locate(find), expect.map(Into::into), "{variables:?}");
    }

    #[test]
    fn places() {
        check(&[], None);
        check(&[("HOME", "/h")], Some("/h/.local/state/perilune/history"));
        check(&[("HOME", "/h"), ("XDG_STATE_HOME", "/s")], Some("/s/perilune/history"));
        check(&[("HOME", "/h"), ("XDG_STATE_HOME", "s")], Some("/h/.local/state/perilune/history"));
        check(&[("HOME", "/h"), ("PERILUNE_HISTORY", "/f")], Some("/f"));
        check(&[("HOME", "/h"), ("PERILUNE_HISTORY", "")], None);
    }
}
