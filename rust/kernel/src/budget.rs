//! How much work a search may do.

/// Why a search stopped before it had an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// The steps are used up.
    Steps,
    /// The deadline has passed.
    Deadline,
    /// The caller does not want the answer any more.
    Cancelled,
}

/// Steps between two questions to the caller.
const POLL_INTERVAL: u64 = 256;

/// How much work may be done. Steps are counted in any case; the kernel has no clock, so a deadline is a question to the caller.
#[derive(Default)]
pub struct Budget<'a> {
    used: u64,
    steps: Option<u64>,
    interrupted: Option<Interrupt>,
    poll: Option<&'a mut dyn FnMut() -> Option<Interrupt>>,
}

impl<'a> Budget<'a> {
    /// Work without limit.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// At most this many steps.
    #[must_use]
    pub fn with_steps(mut self, steps: u64) -> Self {
        self.steps = Some(steps);
        self
    }

    /// Asks the caller now and then whether to stop.
    #[must_use]
    pub fn with_poll(mut self, poll: &'a mut dyn FnMut() -> Option<Interrupt>) -> Self {
        self.poll = Some(poll);
        self
    }

    /// No work at all: the caller knows already why not.
    #[must_use]
    pub fn interrupted(mut self, interrupt: Interrupt) -> Self {
        self.interrupted = Some(interrupt);
        self
    }

    /// Steps used so far. One step is one place in the search, as upstream's `allocateOne`.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// How many steps may be taken after `more` than those so far, or none if the caller does not want any.
    #[cfg(feature = "rayon")]
    pub(crate) fn left(&mut self, more: u64) -> Option<u64> {
        if let Some(interrupt) = self.poll.as_mut().and_then(|poll| poll()) {
            self.interrupted = Some(interrupt);
        }
        let left = self.steps.unwrap_or(u64::MAX).saturating_sub(self.used).saturating_sub(more);
        (self.interrupted.is_none() && left > 0).then_some(left)
    }

    /// Counts steps that were taken elsewhere, if there are so many.
    #[cfg(feature = "rayon")]
    pub(crate) fn spend(&mut self, steps: u64) -> bool {
        let fits = self.interrupted.is_none() && self.steps.is_none_or(|most| self.used + steps <= most);
        self.used += if fits { steps } else { 0 };
        fits
    }

    /// Takes one step.
    pub(crate) fn step(&mut self) -> Result<(), Interrupt> {
        if let Some(interrupt) = self.interrupted {
            return Err(interrupt);
        }
        if self.steps.is_some_and(|steps| self.used >= steps) {
            return Err(Interrupt::Steps);
        }
        self.used += 1;
        match &mut self.poll {
            Some(poll) if self.used.is_multiple_of(POLL_INTERVAL) => poll().map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }
}
