//! A small allocation problem in plain numbers.

/// Pools of one driver on one node, claims for them, and what is held.
#[derive(Clone, Debug)]
pub struct Problem {
    /// In any order.
    pub pools: Vec<Pool>,
    /// Claims of one pod.
    pub claims: Vec<Claim>,
}

/// One pool, published in one slice and one more for its counters.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Name; pools are tried by it.
    pub name: String,
    /// Its devices have binding conditions, so that it is tried after the others.
    pub binds: bool,
    /// What its devices share, if they share anything.
    pub counters: Option<[u32; 2]>,
    /// In order.
    pub devices: Vec<Device>,
}

/// One device.
#[derive(Clone, Debug)]
pub struct Device {
    /// Attribute `color`.
    pub color: Option<u8>,
    /// Attribute `numa`.
    pub numa: Option<u8>,
    /// Has a taint with effect `NoSchedule`.
    pub tainted: bool,
    /// Allows multiple allocations.
    pub shareable: bool,
    /// Capacity `memory`.
    pub memory: Option<u32>,
    /// What it consumes of its pool's counters.
    pub consumes: Option<[u32; 2]>,
    /// Held by somebody.
    pub held: bool,
}

/// One claim.
#[derive(Clone, Debug)]
pub struct Claim {
    /// In order.
    pub requests: Vec<Request>,
    /// In order.
    pub constraints: Vec<Constraint>,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Request {
    /// One, or several to choose from in order.
    pub alternatives: Vec<Alternative>,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// How many; none for all.
    pub count: Option<u32>,
    /// The attribute `color` must have this value.
    pub color: Option<u8>,
    /// Devices without a color make the selector fail instead of being passed over.
    pub unguarded: bool,
    /// Accepts the taint.
    pub tolerates: bool,
    /// So much of capacity `memory`.
    pub memory: Option<u32>,
    /// With admin access; only for requests with one alternative.
    pub admin: bool,
}

/// One constraint.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// All values differ, instead of being equal.
    pub distinct: bool,
    /// About attribute `numa`, instead of `color`.
    pub numa: bool,
    /// The request it is about; none for all.
    pub request: Option<usize>,
}

/// A device that was chosen: claim, request and alternative, then pool (by name) and device by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Position of the claim.
    pub claim: usize,
    /// Position of the request.
    pub request: usize,
    /// Position of the alternative.
    pub alternative: usize,
    /// Position of the pool in the problem.
    pub pool: usize,
    /// Position of the device in the pool.
    pub device: usize,
}

/// What comes out of a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// All claims fit.
    Solution(Vec<Choice>),
    /// They do not fit.
    NoSolution,
    /// A selector failed on a device, or a constraint excluded one of all devices: positions of pool and device.
    Error(usize, usize),
}
