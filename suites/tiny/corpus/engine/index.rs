//! Finds articles by words.

use std::collections::{BTreeSet, HashMap};

/// Numbers of the articles in which each word occurs.
#[derive(Default)]
pub struct InvertedIndex {
    postings: HashMap<String, BTreeSet<u32>>,
    documents: u32,
}

impl InvertedIndex {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an article's text and returns its number.
    pub fn insert(&mut self, text: &str) -> u32 {
        let number = self.documents;
        self.documents += 1;
        for word in tokenize(text) {
            self.postings.entry(word).or_default().insert(number);
        }
        number
    }

    /// Returns the articles that hold every word, in order.
    pub fn lookup(&self, query: &str) -> Vec<u32> {
        let mut found: Option<BTreeSet<u32>> = None;
        for word in tokenize(query) {
            let here = self.postings.get(&word).cloned().unwrap_or_default();
            found = Some(match found {
                None => here,
                Some(before) => before.intersection(&here).copied().collect(),
            });
        }
        found.unwrap_or_default().into_iter().collect()
    }

    /// How rare a word is; rare words say more.
    pub fn rarity(&self, word: &str) -> f64 {
        let holders = self.postings.get(word).map_or(0, |set| set.len());
        ((1.0 + self.documents as f64) / (1.0 + holders as f64)).ln()
    }
}

/// Splits a text into lower-case words without accents or punctuation.
pub fn tokenize(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(fold)
        .collect()
}

fn fold(word: &str) -> String {
    word.to_lowercase()
        .chars()
        .map(|c| match c {
            'à' | 'á' | 'â' | 'ä' => 'a',
            'è' | 'é' | 'ê' | 'ë' => 'e',
            'ò' | 'ó' | 'ô' | 'ö' => 'o',
            'ù' | 'ú' | 'û' | 'ü' => 'u',
            other => other,
        })
        .collect()
}
