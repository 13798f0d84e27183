//! Notices that the files of the index are not what was written any more, and writes them again.

use std::time::{Duration, Instant};

use super::{BuildError, Indexer, Keeper, Report, stamp_of};
use crate::store::{Notice, repair};

/// After a failure it is not tried again at once: what fails is mostly a full disk.
const AFTER_FAILURE: Duration = Duration::from_secs(10);

impl Indexer {
    /// Makes again what another program changed or a reader found to be damaged. Costs a look at three files where nothing is wrong,
    /// so it may be called often; `None` then.
    pub fn mend(&mut self) -> Result<Option<Report>, BuildError> {
        let location = self.directory.location();
        // A directory that went may be going on purpose, with all that is around it.
        if !location.directory.is_dir() {
            return Ok(None);
        }
        let is_mine = self.stamp == stamp_of(&location.snapshot()) && self.search.is_as_written(&location.directory);
        if (is_mine && !repair::is_asked_for(location))
            || self.not_mended.is_some_and(|failed| failed.elapsed() < AFTER_FAILURE)
        {
            return Ok(None);
        }
        repair::begin(location);
        if !self.options.without_search {
            self.search = Keeper::open(&location.directory);
        }
        // Written anew even if it is whole: who has it open has also opened what lies beside it, and moves on with it.
        self.snapshot = None;
        self.notices.push(Notice::DamagedSnapshot);
        match self.build() {
            Ok(report) => {
                self.not_mended = None;
                Ok(Some(report))
            }
            Err(error) => {
                self.not_mended = Some(Instant::now());
                crate::store::ask_for_repair(self.directory.location());
                Err(error)
            }
        }
    }
}
