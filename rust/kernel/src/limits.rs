//! Limits of the API that the allocator itself keeps.

/// Most devices that one claim's allocation may hold (upstream: `AllocationResultsMaxSize`).
pub const ALLOCATION_RESULTS_MAX_SIZE: i64 = 32;
