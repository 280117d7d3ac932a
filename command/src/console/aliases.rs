//! Words that stand for others.

use super::line::Words;
use std::collections::BTreeMap;

/// An alias leads back to itself.
#[derive(Debug, PartialEq, Eq)]
pub struct AliasLoop;

/// The aliases, by name.
#[derive(Default)]
pub struct Aliases(BTreeMap<Vec<u8>, Words>);

impl Aliases {
    pub fn define(&mut self, name: &[u8], meaning: Words) {
        self.0.insert(name.to_vec(), meaning);
    }

    pub fn remove(&mut self, name: &[u8]) -> bool {
        self.0.remove(name).is_some()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Vec<u8>, &Words)> {
        self.0.iter()
    }

    /// Puts the meaning in place of the first word, and again as long as that is an alias too. One that begins
    /// with its own name ends there, so that `alias ps ps -al` works.
    pub fn expand(&self, mut words: Words) -> Result<Words, AliasLoop> {
        let mut seen: Vec<Vec<u8>> = Vec::new();
        while let Some(name) = words.0.first().cloned() {
            if seen.last() == Some(&name) {
                break;
            }
            let Some(meaning) = self.0.get(&name) else { break };
            if seen.contains(&name) {
                return Err(AliasLoop);
            }
            seen.push(name);
            words.0.splice(0..1, meaning.0.iter().cloned());
        }
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Words {
        Words::parse(line.as_bytes()).expect("it is well formed")
    }

    fn aliases(all: &[(&str, &str)]) -> Aliases {
        let mut aliases = Aliases::default();
        for (name, meaning) in all {
            aliases.define(name.as_bytes(), words(meaning));
        }
        aliases
    }

    #[test]
    fn alias_expands_to_its_words_plus_arguments() {
        let aliases = aliases(&[("e", "echo"), ("e2", "e x"), ("q", "echo 'a b' c")]);
        assert_eq!(aliases.expand(words("e hi")), Ok(words("echo hi")));
        assert_eq!(aliases.expand(words("e2 y")), Ok(words("echo x y")));
        assert_eq!(aliases.expand(words("q d")), Ok(words("echo 'a b' c d")), "words stay words");
        assert_eq!(aliases.expand(words("echo e")), Ok(words("echo e")), "only the first word counts");
        assert_eq!(aliases.expand(words("")), Ok(words("")));
    }

    #[test]
    fn alias_expansion_detects_loops_but_allows_own_name() {
        let aliases = aliases(&[("ps", "ps -al"), ("a", "b"), ("b", "a")]);
        assert_eq!(aliases.expand(words("ps")), Ok(words("ps -al")));
        assert_eq!(aliases.expand(words("a")), Err(AliasLoop));
    }

    #[test]
    fn alias_is_redefined_and_removed() {
        let mut aliases = aliases(&[("a", "echo")]);
        aliases.define(b"a", words("id"));
        assert_eq!(aliases.expand(words("a")), Ok(words("id")));
        assert!(aliases.remove(b"a"));
        assert!(!aliases.remove(b"a"));
        assert_eq!(aliases.expand(words("a")), Ok(words("a")));
    }
}
