//! Which devices are held, by whom, and how much of them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use drayman_api::{AllocationResult, DeviceId, PoolId, Quantity};
use rustc_hash::FxHashMap;

use crate::capacity::Amounts;

/// How a device is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Holding {
    /// Alone.
    Exclusive,
    /// One share of it, with the capacity that the share takes.
    Share { id: String, amounts: Option<Amounts> },
    /// Capacity alone; only in a state that a caller gave.
    Capacity(Amounts),
}

/// Who holds a device, and how. Without a claim in a state that a caller gave.
#[derive(Clone, Debug)]
pub(crate) struct Hold {
    pub(crate) claim: Option<Arc<str>>,
    pub(crate) holding: Holding,
}

/// The devices of one claim.
type Held = Vec<(DeviceId, Holding)>;

/// What is held of a claim's devices: what its status says, or what is in flight until it does.
#[derive(Clone, Debug, Default)]
struct ClaimUsage {
    written: Held,
    in_flight: Held,
}

impl ClaimUsage {
    fn effective(&self) -> &Held {
        if self.written.is_empty() { &self.in_flight } else { &self.written }
    }
}

/// All that is held.
#[derive(Clone, Debug, Default)]
pub(crate) struct Usage {
    pools: FxHashMap<PoolId, BTreeMap<String, Vec<Hold>>>,
    claims: FxHashMap<Arc<str>, ClaimUsage>,
}

/// What a change did.
#[derive(Debug, Default)]
pub(crate) struct UsageChange {
    /// Some device is held by fewer, or in a smaller share.
    pub(crate) freed: bool,
    /// Pools that a device changed in.
    pub(crate) pools: BTreeSet<PoolId>,
}

impl Usage {
    /// Adds what a caller says is held.
    pub(crate) fn hold(&mut self, device: &DeviceId, holding: Holding) {
        self.insert(device, Hold { claim: None, holding });
    }

    /// Takes over what the status of a claim says.
    pub(crate) fn write(&mut self, claim: &str, allocation: Option<&AllocationResult>, shares: bool) -> UsageChange {
        let held = allocation.map(|allocation| held(allocation, shares)).unwrap_or_default();
        self.change(claim, |usage| {
            if allocation.is_some() {
                usage.in_flight.clear();
            }
            usage.written = held;
        })
    }

    /// Holds devices for a claim until its status names some.
    pub(crate) fn assume(&mut self, claim: &str, allocation: &AllocationResult, shares: bool) -> UsageChange {
        let held = held(allocation, shares);
        self.change(claim, |usage| usage.in_flight = held)
    }

    /// Ends [`Usage::assume`].
    pub(crate) fn forget(&mut self, claim: &str) -> UsageChange {
        self.change(claim, |usage| usage.in_flight.clear())
    }

    /// Forgets a claim that does not exist any more.
    pub(crate) fn remove(&mut self, claim: &str) -> UsageChange {
        self.change(claim, |usage| *usage = ClaimUsage::default())
    }

    /// What is held in a pool, by device.
    pub(crate) fn of_pool(&self, pool: &PoolId) -> Option<&BTreeMap<String, Vec<Hold>>> {
        self.pools.get(pool)
    }

    /// The claims that hold anything.
    pub(crate) fn claims(&self) -> impl Iterator<Item = &Arc<str>> {
        self.claims.keys()
    }

    /// What is held in some pools, with the claims that hold it.
    pub(crate) fn of_pools(&self, pools: &HashSet<PoolId>) -> Self {
        let held = pools.iter().filter_map(|pool| self.pools.get_key_value(pool));
        let pools: FxHashMap<_, _> = held.map(|(pool, devices)| (pool.clone(), devices.clone())).collect();
        let holds = pools.values().flat_map(BTreeMap::values).flatten();
        let claims = holds.filter_map(|hold| self.claims.get_key_value(hold.claim.as_ref()?));
        let claims = claims.map(|(claim, usage)| (Arc::clone(claim), usage.clone())).collect();
        Self { pools, claims }
    }

    fn change(&mut self, claim: &str, edit: impl FnOnce(&mut ClaimUsage)) -> UsageChange {
        let (claim, mut usage) =
            self.claims.remove_entry(claim).unwrap_or_else(|| (claim.into(), ClaimUsage::default()));
        let before = usage.effective().clone();
        edit(&mut usage);
        let after = usage.effective().clone();
        let lost = before.iter().filter(|held| !after.contains(held));
        let won = after.iter().filter(|held| !before.contains(held));
        let mut change = UsageChange::default();
        for (device, holding) in lost {
            change.freed = true;
            change.pools.insert(pool_of(device));
            self.release(device, &claim, holding);
        }
        for (device, holding) in won {
            change.pools.insert(pool_of(device));
            self.insert(device, Hold { claim: Some(Arc::clone(&claim)), holding: holding.clone() });
        }
        if !usage.written.is_empty() || !usage.in_flight.is_empty() {
            self.claims.insert(claim, usage);
        }
        change
    }

    fn insert(&mut self, device: &DeviceId, hold: Hold) {
        self.pools.entry(pool_of(device)).or_default().entry(device.device.clone()).or_default().push(hold);
    }

    fn release(&mut self, device: &DeviceId, claim: &Arc<str>, holding: &Holding) {
        let pool = pool_of(device);
        let Some(devices) = self.pools.get_mut(&pool) else { return };
        if let Some(holds) = devices.get_mut(&device.device) {
            let held = |hold: &Hold| hold.claim.as_ref() == Some(claim) && hold.holding == *holding;
            if let Some(position) = holds.iter().position(held) {
                holds.remove(position);
            }
            if holds.is_empty() {
                devices.remove(&device.device);
            }
        }
        if devices.is_empty() {
            self.pools.remove(&pool);
        }
    }
}

fn pool_of(device: &DeviceId) -> PoolId {
    PoolId { driver: device.driver.clone(), pool: device.pool.clone() }
}

/// What an allocation holds. Admin access holds nothing; without consumable capacity a share holds the whole device.
fn held(allocation: &AllocationResult, shares: bool) -> Held {
    let results = allocation.devices.results.iter().filter(|result| result.admin_access != Some(true));
    results
        .map(|result| {
            let device =
                DeviceId { driver: result.driver.clone(), pool: result.pool.clone(), device: result.device.clone() };
            let amounts = (!result.consumed_capacity.is_empty()).then(|| result.consumed_capacity.clone());
            let holding = match &result.share_id {
                Some(id) if shares => Holding::Share { id: id.clone(), amounts },
                _ => Holding::Exclusive,
            };
            (device, holding)
        })
        .collect()
}

/// The capacity that is taken from a device; none when no hold names any.
pub(crate) fn consumed(holds: &[Hold]) -> Option<Amounts> {
    let amounts = holds.iter().filter_map(|hold| match &hold.holding {
        Holding::Share { amounts, .. } => amounts.as_ref(),
        Holding::Capacity(amounts) => Some(amounts),
        Holding::Exclusive => None,
    });
    amounts.fold(None, |total, amounts| {
        let mut total = total.unwrap_or_default();
        for (name, amount) in amounts {
            add(&mut total, name, amount);
        }
        Some(total)
    })
}

fn add(total: &mut Amounts, name: &str, amount: &Quantity) {
    match total.get_mut(name) {
        // A sum too long to be computed stays as it is: what was there already is more than any device has.
        Some(sum) => *sum = sum.checked_add(amount).unwrap_or_else(|_| sum.clone()),
        None => {
            total.insert(name.to_owned(), amount.clone());
        }
    }
}
