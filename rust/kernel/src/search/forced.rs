//! Checks of the claims that need a node: how many devices "all" are, and whether the results can hold what is asked for.

use crate::capacity;
use crate::error::{AllocationError, CapacityStage};
use crate::limits::ALLOCATION_RESULTS_MAX_SIZE;
use crate::plan::Mode;
use crate::search::{Choice, Search, Spot};

impl Search<'_> {
    /// Walks over the claims in upstream's order and fails at the first fault.
    pub(super) fn check_claims(&mut self) -> Result<(), AllocationError> {
        let plan = self.plan;
        for (claim, claim_plan) in plan.claims.iter().enumerate() {
            let mut accounted: i64 = 0;
            for (request, request_plan) in claim_plan.requests.iter().enumerate() {
                let mut fewest = i64::MAX;
                for alternative in 0..request_plan.alternatives.len() {
                    fewest = fewest.min(self.count(Choice { claim, request, alternative })?);
                }
                if let Some(fault) = &request_plan.fault {
                    return Err(fault.clone());
                }
                if fewest > ALLOCATION_RESULTS_MAX_SIZE - accounted {
                    let at =
                        crate::error::RequestPath { claim: claim_plan.key.clone(), request: request_plan.name.clone() };
                    return Err(AllocationError::TooManyDevices {
                        at,
                        adding: fewest,
                        limit: ALLOCATION_RESULTS_MAX_SIZE,
                        accounted,
                    });
                }
                // Counts below zero, which the API refuses, must not overflow either.
                accounted = accounted.saturating_add(fewest).max(-ALLOCATION_RESULTS_MAX_SIZE);
            }
            if let Some(fault) = &claim_plan.fault {
                return Err(fault.clone());
            }
        }
        Ok(())
    }

    /// How many devices an alternative needs; finds out which they are where all are asked for.
    fn count(&mut self, choice: Choice) -> Result<i64, AllocationError> {
        match self.alternative(choice).mode {
            Mode::Exactly(count) => Ok(count),
            Mode::All => {
                let spots = self.all_devices(choice)?;
                let count = i64::try_from(spots.len()).unwrap_or(i64::MAX);
                self.forced.insert(choice, spots);
                Ok(count)
            }
        }
    }

    /// All devices that match and have the capacity at all, held or not. Upstream refuses as soon as any pool of the node is unusable.
    fn all_devices(&self, choice: Choice) -> Result<Vec<Spot>, AllocationError> {
        let alternative = self.alternative(choice);
        let mut spots = Vec::new();
        for (pool, view) in self.site.pools().enumerate() {
            if let Some(unusable) = &view.layout.unusable {
                return Err(AllocationError::AllFromUnusablePool {
                    at: alternative.path.clone(),
                    pool: (*view.layout.id).clone(),
                    defect: unusable.defect,
                    node_local: self.plan.compatibility.is_fixed(),
                });
            }
            let verdicts = view.layout.verdicts(&alternative.chain, self.plan.features);
            for device in 0..view.layout.len() {
                let spot = Spot { pool, device };
                if verdicts.failed.contains(device) {
                    return Err(self.selector_error(alternative, spot));
                }
                if verdicts.selected.contains(device) && self.has_capacity(choice, spot)? {
                    spots.push(spot);
                }
            }
        }
        Ok(spots)
    }

    /// Whether a device has the requested capacity while nothing of it is taken.
    fn has_capacity(&self, choice: Choice, spot: Spot) -> Result<bool, AllocationError> {
        if !self.consumes_capacity() {
            return Ok(true);
        }
        let alternative = self.alternative(choice);
        let (device, rules) = (self.device(spot), self.capacity_rules(spot));
        let amounts = capacity::consumed(alternative.request.capacity.as_ref(), &device.capacity, rules);
        let amounts = amounts.map_err(|error| AllocationError::Capacity {
            at: alternative.path.clone(),
            stage: CapacityStage::Checking,
            device: device.name.clone(),
            error,
        })?;
        Ok(amounts.is_some_and(|amounts| capacity::fits(&amounts, &device.capacity, &[], rules)))
    }
}
