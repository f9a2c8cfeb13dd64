//! Random problems, weighted so that hard ones occur.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::model::{Alternative, Claim, Constraint, Device, Pool, Problem, Request};

/// Problems of a size that can be solved by trying everything.
pub fn problem() -> impl Strategy<Value = Problem> {
    (vec(pool(), 1..=2), vec(claim(), 1..=2)).prop_map(|(mut pools, claims)| {
        for (position, pool) in pools.iter_mut().enumerate() {
            // Not in the order of the list.
            pool.name = format!("pool-{}", (position + 1) % 2);
        }
        Problem { pools, claims }
    })
}

fn pool() -> impl Strategy<Value = Pool> {
    let counters = option::weighted(0.5, [2..8u32, 2..8u32]);
    (any::<bool>(), counters, vec(device(), 1..=5)).prop_map(|(binds, counters, mut devices)| {
        if counters.is_none() {
            for device in &mut devices {
                device.consumes = None;
            }
        }
        Pool { name: String::new(), binds, counters, devices }
    })
}

fn device() -> impl Strategy<Value = Device> {
    (
        option::weighted(0.8, 0..2u8),
        option::weighted(0.9, 0..3u8),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.2),
        option::weighted(0.7, 1..4u32),
        option::weighted(0.7, [0..4u32, 0..3u32]),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(color, numa, tainted, shareable, memory, consumes, held)| Device {
            color,
            numa,
            tainted,
            shareable,
            memory,
            consumes,
            held,
        })
}

fn claim() -> impl Strategy<Value = Claim> {
    (vec(request(), 1..=3), vec(constraint(), 0..=2)).prop_map(|(requests, mut constraints)| {
        for constraint in &mut constraints {
            constraint.request = constraint.request.filter(|request| *request < requests.len());
        }
        Claim { requests, constraints }
    })
}

fn request() -> impl Strategy<Value = Request> {
    let one = (alternative(), prop::bool::weighted(0.15))
        .prop_map(|(alternative, admin)| Request { alternatives: vec![Alternative { admin, ..alternative }] });
    let list = vec(alternative(), 2..=3).prop_map(|alternatives| Request { alternatives });
    prop_oneof![3 => one, 1 => list]
}

fn alternative() -> impl Strategy<Value = Alternative> {
    (
        prop_oneof![10 => Just(Some(1)), 5 => Just(Some(2)), 3 => Just(Some(3)), 1 => Just(None)],
        option::weighted(0.3, 0..2u8),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.6),
        option::weighted(0.2, 1..3u32),
    )
        .prop_map(|(count, color, unguarded, tolerates, memory)| Alternative {
            count,
            color,
            unguarded,
            tolerates,
            memory,
            admin: false,
        })
}

fn constraint() -> impl Strategy<Value = Constraint> {
    (prop::bool::weighted(0.4), prop::bool::weighted(0.7), option::weighted(0.3, 0..3usize))
        .prop_map(|(distinct, numa, request)| Constraint { distinct, numa, request })
}
