//! The right answers, by trying everything.

use crate::model::{Alternative, Answer, Choice, Claim, Constraint, Device, Problem};

/// Something failed on a device, which ends the search.
struct Failed(usize, usize);

/// The first solution in upstream's order.
pub fn solve(problem: &Problem) -> Answer {
    let mut search = Search { problem, order: pool_order(problem), chosen: Vec::new() };
    let found = search.check().and_then(|()| search.claim(0));
    match found {
        Ok(true) => Answer::Solution(search.chosen),
        Ok(false) => Answer::NoSolution,
        Err(Failed(pool, device)) => Answer::Error(pool, device),
    }
}

/// Whether devices may be given out together, or what is wrong with them. Does not search, and does not look at their order.
pub fn verify(problem: &Problem, solution: &[Choice]) -> Result<(), String> {
    for (position, choice) in solution.iter().enumerate() {
        let before = &solution[..position];
        let wrong = |what: &str| Err(format!("{choice:?}: {what}"));
        let (device, alternative) = (device(problem, choice), alternative(problem, choice));
        if alternative.color.is_some_and(|color| device.color != Some(color)) {
            return wrong("not selected");
        }
        if device.tainted && !alternative.tolerates {
            return wrong("tainted");
        }
        if !is_free(problem, before, choice) {
            return wrong("in use");
        }
        if !has_memory(problem, before, choice) {
            return wrong("no memory left");
        }
    }
    for (pool, _) in problem.pools.iter().enumerate() {
        let draws = |choice: &Choice| choice.pool == pool && device(problem, choice).consumes.is_some();
        if solution.iter().any(draws) && !counters_suffice(problem, solution, pool) {
            return Err(format!("counters of pool {pool} are overdrawn"));
        }
    }
    for (index, claim) in problem.claims.iter().enumerate() {
        for constraint in &claim.constraints {
            if !holds(problem, solution, index, constraint) {
                return Err(format!("claim {index}: {constraint:?}"));
            }
        }
        for (request, wanted) in claim.requests.iter().enumerate() {
            let of_request: Vec<_> =
                solution.iter().filter(|choice| choice.claim == index && choice.request == request).collect();
            let alternative = of_request.first().map_or(0, |choice| choice.alternative);
            let wanted = wanted.alternatives[alternative].count;
            if wanted.is_some_and(|wanted| wanted as usize != of_request.len()) {
                return Err(format!("claim {index}, request {request}: {} devices", of_request.len()));
            }
        }
    }
    Ok(())
}

struct Search<'a> {
    problem: &'a Problem,
    /// Pools and devices in the order in which they are tried.
    order: Vec<(usize, usize)>,
    chosen: Vec<Choice>,
}

impl Search<'_> {
    /// Requests for all devices look at every device first.
    fn check(&self) -> Result<(), Failed> {
        for claim in &self.problem.claims {
            for alternative in claim.requests.iter().flat_map(|request| &request.alternatives) {
                if alternative.count.is_none() {
                    self.all(alternative)?;
                }
            }
        }
        Ok(())
    }

    fn all(&self, alternative: &Alternative) -> Result<Vec<(usize, usize)>, Failed> {
        let mut all = Vec::new();
        for &(pool, position) in &self.order {
            let device = &self.problem.pools[pool].devices[position];
            if is_selected(alternative, device).ok_or(Failed(pool, position))?
                && asks_for_no_more_than(alternative, device)
            {
                all.push((pool, position));
            }
        }
        Ok(all)
    }

    fn claim(&mut self, claim: usize) -> Result<bool, Failed> {
        if claim == self.problem.claims.len() { Ok(true) } else { self.request(claim, 0) }
    }

    fn request(&mut self, claim: usize, request: usize) -> Result<bool, Failed> {
        let requests = &self.problem.claims[claim].requests;
        if request == requests.len() {
            return self.claim(claim + 1);
        }
        for alternative in 0..requests[request].alternatives.len() {
            if self.devices(claim, request, alternative, 0, 0)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn devices(
        &mut self,
        claim: usize,
        request: usize,
        alternative: usize,
        index: usize,
        from: usize,
    ) -> Result<bool, Failed> {
        let wanted = &self.problem.claims[claim].requests[request].alternatives[alternative];
        let Some(count) = wanted.count else { return self.forced(claim, request, alternative) };
        if index == count as usize {
            return self.request(claim, request + 1);
        }
        for place in from..self.order.len() {
            let (pool, position) = self.order[place];
            let choice = Choice { claim, request, alternative, pool, device: position };
            let device = &self.problem.pools[pool].devices[position];
            if !is_free(self.problem, &self.chosen, &choice) {
                continue;
            }
            if !is_selected(wanted, device).ok_or(Failed(pool, position))? || !self.fits(&choice) {
                continue;
            }
            self.chosen.push(choice);
            if self.satisfies_constraints() && self.devices(claim, request, alternative, index + 1, place + 1)? {
                return Ok(true);
            }
            self.chosen.pop();
        }
        Ok(false)
    }

    /// Takes all devices, one after the other.
    fn forced(&mut self, claim: usize, request: usize, alternative: usize) -> Result<bool, Failed> {
        let all = self.all(&self.problem.claims[claim].requests[request].alternatives[alternative])?;
        let before = self.chosen.len();
        for (pool, position) in all.iter().copied() {
            let choice = Choice { claim, request, alternative, pool, device: position };
            if !is_free(self.problem, &self.chosen, &choice) || !self.counters_and_taints_allow(&choice) {
                self.chosen.truncate(before);
                return Ok(false);
            }
            let has_memory = has_memory(self.problem, &self.chosen, &choice);
            self.chosen.push(choice);
            if !self.satisfies_constraints() {
                return Err(Failed(pool, position));
            }
            if !has_memory {
                self.chosen.truncate(before);
                return Ok(false);
            }
        }
        let done = !all.is_empty() && self.request(claim, request + 1)?;
        if !done {
            self.chosen.truncate(before);
        }
        Ok(done)
    }

    fn fits(&mut self, choice: &Choice) -> bool {
        has_memory(self.problem, &self.chosen, choice) && self.counters_and_taints_allow(choice)
    }

    fn counters_and_taints_allow(&mut self, choice: &Choice) -> bool {
        self.chosen.push(choice.clone());
        let counters = counters_suffice(self.problem, &self.chosen, choice.pool);
        self.chosen.pop();
        let device = device(self.problem, choice);
        (counters || device.consumes.is_none()) && (!device.tainted || alternative(self.problem, choice).tolerates)
    }

    fn satisfies_constraints(&self) -> bool {
        let claims = self.problem.claims.iter().enumerate();
        let mut constraints =
            claims.flat_map(|(index, claim)| claim.constraints.iter().map(move |constraint| (index, constraint)));
        constraints.all(|(claim, constraint)| holds(self.problem, &self.chosen, claim, constraint))
    }
}

fn pool_order(problem: &Problem) -> Vec<(usize, usize)> {
    let mut pools: Vec<usize> = (0..problem.pools.len()).collect();
    pools.sort_by_key(|pool| (problem.pools[*pool].binds, &problem.pools[*pool].name));
    pools
        .into_iter()
        .flat_map(|pool| (0..problem.pools[pool].devices.len()).map(move |device| (pool, device)))
        .collect()
}

fn device<'a>(problem: &'a Problem, choice: &Choice) -> &'a Device {
    &problem.pools[choice.pool].devices[choice.device]
}

fn alternative<'a>(problem: &'a Problem, choice: &Choice) -> &'a Alternative {
    let claim: &Claim = &problem.claims[choice.claim];
    &claim.requests[choice.request].alternatives[choice.alternative]
}

/// None when the selector fails.
fn is_selected(alternative: &Alternative, device: &Device) -> Option<bool> {
    match (alternative.color, device.color) {
        (Some(_), None) if alternative.unguarded => None,
        (Some(wanted), color) => Some(color == Some(wanted)),
        (None, _) => Some(true),
    }
}

/// Shared devices are always free; admin access only minds what its own claim has.
fn is_free(problem: &Problem, chosen: &[Choice], choice: &Choice) -> bool {
    let same = |other: &&Choice| (other.pool, other.device) == (choice.pool, choice.device);
    let device = device(problem, choice);
    let twice_in_request =
        chosen.iter().filter(same).any(|other| (other.claim, other.request) == (choice.claim, choice.request));
    if twice_in_request {
        return false;
    }
    if alternative(problem, choice).admin {
        return device.shareable || chosen.iter().filter(same).all(|other| other.claim != choice.claim);
    }
    !device.held && (device.shareable || chosen.iter().all(|other| !same(&other)))
}

/// What a share takes: what is asked for, or all there is.
fn memory_taken(problem: &Problem, choice: &Choice) -> u32 {
    alternative(problem, choice).memory.or(device(problem, choice).memory).unwrap_or_default()
}

fn asks_for_no_more_than(alternative: &Alternative, device: &Device) -> bool {
    match (alternative.memory, device.memory) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(wanted), Some(memory)) => wanted <= memory,
    }
}

fn has_memory(problem: &Problem, chosen: &[Choice], choice: &Choice) -> bool {
    let device = device(problem, choice);
    let same = |other: &&Choice| (other.pool, other.device) == (choice.pool, choice.device);
    let shares = chosen.iter().filter(same).filter(|_| device.shareable);
    let taken: u32 = shares.map(|other| memory_taken(problem, other)).sum();
    asks_for_no_more_than(alternative(problem, choice), device)
        && device.memory.is_none_or(|memory| taken + memory_taken(problem, choice) <= memory)
}

/// Devices that are held and devices that are chosen draw on the counters, each device once, except that admin access draws again on what is
/// not shared.
fn counters_suffice(problem: &Problem, chosen: &[Choice], pool: usize) -> bool {
    let Some(total) = problem.pools[pool].counters else { return true };
    let devices = &problem.pools[pool].devices;
    let held = devices.iter().filter(|device| device.held).filter_map(|device| device.consumes);
    let mut drawn: Vec<[u32; 2]> = held.collect();
    let mut shared = Vec::new();
    for choice in chosen.iter().filter(|choice| choice.pool == pool) {
        let device = &devices[choice.device];
        if device.shareable {
            if shared.contains(&choice.device) {
                continue;
            }
            shared.push(choice.device);
        }
        drawn.extend(device.consumes);
    }
    (0..2).all(|counter| drawn.iter().map(|drawn| drawn[counter]).sum::<u32>() <= total[counter])
}

fn holds(problem: &Problem, chosen: &[Choice], claim: usize, constraint: &Constraint) -> bool {
    let concerned = chosen
        .iter()
        .filter(|choice| choice.claim == claim && constraint.request.is_none_or(|request| request == choice.request));
    let values: Vec<_> = concerned
        .map(|choice| {
            let device = device(problem, choice);
            if constraint.numa { device.numa } else { device.color }
        })
        .collect();
    let all_known = values.iter().all(Option::is_some);
    let related = values
        .iter()
        .enumerate()
        .all(|(position, value)| values[..position].iter().all(|other| (value == other) != constraint.distinct));
    all_known && related
}
