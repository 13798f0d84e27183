//! Results of read-only tools, kept for a while by one session. Bounded in time and number; the least recently used goes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::CacheConfig;

/// Whether results may be cached is the operator's decision ([`CacheConfig`]); this only keeps them.
pub(crate) struct ResultCache<T> {
    ttl: Duration,
    most: usize,
    /// Results are those of one catalog: another generation empties the cache.
    generation: u64,
    entries: HashMap<String, Entry<T>>,
    /// Keys by the time of their last use.
    order: BTreeMap<u64, String>,
    clock: u64,
}

struct Entry<T> {
    value: Arc<T>,
    until: Instant,
    used: u64,
}

impl<T> ResultCache<T> {
    pub(crate) fn new(config: &CacheConfig) -> ResultCache<T> {
        ResultCache {
            ttl: Duration::try_from_secs_f64(config.ttl_seconds).unwrap_or_default(),
            most: config.max_entries.max(1),
            generation: 0,
            entries: HashMap::new(),
            order: BTreeMap::new(),
            clock: 0,
        }
    }

    pub(crate) fn get(&mut self, now: Instant, generation: u64, key: &str) -> Option<Arc<T>> {
        self.follow(generation);
        let entry = self.entries.get_mut(key)?;
        self.order.remove(&entry.used);
        if entry.until <= now {
            self.entries.remove(key);
            return None;
        }
        self.clock += 1;
        entry.used = self.clock;
        self.order.insert(self.clock, key.to_owned());
        Some(entry.value.clone())
    }

    pub(crate) fn put(&mut self, now: Instant, generation: u64, key: String, value: T) {
        self.follow(generation);
        self.clock += 1;
        let entry = Entry {
            value: Arc::new(value),
            until: now + self.ttl,
            used: self.clock,
        };
        self.order.insert(self.clock, key.clone());
        if let Some(replaced) = self.entries.insert(key, entry) {
            self.order.remove(&replaced.used);
        }
        while self.entries.len() > self.most {
            let Some((_, oldest)) = self.order.pop_first() else {
                break;
            };
            self.entries.remove(&oldest);
        }
    }

    fn follow(&mut self, generation: u64) {
        if self.generation != generation {
            self.generation = generation;
            self.entries.clear();
            self.order.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(most: usize) -> ResultCache<i32> {
        ResultCache::new(&CacheConfig {
            ttl_seconds: 10.0,
            max_entries: most,
            ..CacheConfig::default()
        })
    }

    #[test]
    fn entries_expire_and_the_least_used_goes() {
        let now = Instant::now();
        let mut cache = cache(2);
        cache.put(now, 1, "a".into(), 1);
        cache.put(now, 1, "b".into(), 2);
        assert_eq!(cache.get(now, 1, "a").as_deref(), Some(&1));
        cache.put(now, 1, "c".into(), 3);
        assert!(cache.get(now, 1, "b").is_none(), "b was used least recently");
        assert!(cache.get(now + Duration::from_secs(10), 1, "a").is_none());
        assert_eq!(cache.get(now, 1, "c").as_deref(), Some(&3));
    }

    #[test]
    fn a_new_catalog_empties_it() {
        let now = Instant::now();
        let mut cache = cache(2);
        cache.put(now, 1, "a".into(), 1);
        assert!(cache.get(now, 2, "a").is_none());
        assert!(cache.order.is_empty());
    }
}
