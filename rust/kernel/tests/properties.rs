//! The kernel against an oracle that tries everything.

use drayman_api::{DeviceId, ResourceClaim};
use drayman_kernel::{AllocatedState, AllocationError, Allocator, Budget, Compatibility, Features, Outcome};
use drayman_testkit::generate::problem;
use drayman_testkit::model::{Answer, Problem};
use drayman_testkit::oracle;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Claim, request and device of each result.
type Results = Vec<(usize, String, DeviceId)>;

#[derive(Debug, PartialEq, Eq)]
enum Found {
    Solution(Results),
    NoSolution,
    Error(DeviceId),
}

fn expected(problem: &Problem) -> Found {
    match oracle::solve(problem) {
        Answer::Solution(choices) => Found::Solution(choices.iter().map(|choice| problem.result(choice)).collect()),
        Answer::NoSolution => Found::NoSolution,
        Answer::Error(pool, device) => Found::Error(problem.device(pool, device)),
    }
}

fn found(problem: &Problem) -> Found {
    let objects = problem.objects();
    let state = AllocatedState { devices: objects.held, ..AllocatedState::default() };
    let features = Features::from_gates(Problem::GATES);
    let mut allocator = Allocator::new(features, Compatibility::V1_37, &state, [objects.class], objects.slices);
    let outcome = allocator.allocate(&objects.node, &objects.claims, &mut Budget::unlimited());
    match outcome.expect("an unlimited budget is not interrupted") {
        Outcome::Allocated(allocated) => {
            let results = allocated.results(&mut |_: &ResourceClaim, _: usize| String::new());
            let of_claim = |(claim, result): (usize, drayman_api::AllocationResult)| {
                result.devices.results.into_iter().map(move |result| {
                    let id = DeviceId { driver: result.driver, pool: result.pool, device: result.device };
                    (claim, result.request, id)
                })
            };
            Found::Solution(results.into_iter().enumerate().flat_map(of_claim).collect())
        }
        Outcome::Unallocatable => Found::NoSolution,
        Outcome::Failed(
            AllocationError::SelectorRuntime { device, .. } | AllocationError::Constraint { device, .. },
        ) => Found::Error(*device),
        Outcome::Failed(error) => unreachable!("an error that no problem has: {error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn first_solution_is_that_of_trying_everything(problem in problem()) {
        prop_assert_eq!(found(&problem), expected(&problem));
    }

    #[test]
    fn same_problem_has_the_same_answer(problem in problem()) {
        prop_assert_eq!(found(&problem), found(&problem));
    }

    #[test]
    fn solutions_of_the_oracle_are_valid(problem in problem()) {
        if let Answer::Solution(choices) = oracle::solve(&problem) {
            prop_assert_eq!(oracle::verify(&problem, &choices), Ok(()));
        }
    }
}

/// Problems of every kind must be frequent enough to be found in a run.
#[test]
fn generated_problems_are_of_every_kind() {
    let mut runner = TestRunner::deterministic();
    let problems: Vec<_> = (0..2_000).map(|_| problem().new_tree(&mut runner).expect("a problem").current()).collect();
    let share = |what: &dyn Fn(&Problem) -> bool| {
        problems.iter().filter(|problem| what(problem)).count() * 100 / problems.len()
    };
    let answer = |wanted: fn(&Answer) -> bool| share(&move |problem| wanted(&oracle::solve(problem)));
    assert!(answer(|answer| matches!(answer, Answer::Solution(_))) >= 15, "too few problems have a solution");
    assert!(answer(|answer| matches!(answer, Answer::NoSolution)) >= 15, "too few problems have none");
    assert!(answer(|answer| matches!(answer, Answer::Error(..))) >= 3, "too few problems fail");
    let backtracks = |problem: &Problem| match oracle::solve(problem) {
        // A device that another choice passed over: greedy choice would not have found this.
        Answer::Solution(choices) => choices.iter().any(|choice| choice.alternative > 0),
        _ => false,
    };
    assert!(share(&backtracks) >= 2, "too few problems need another alternative");
    let constrained = |problem: &Problem| problem.claims.iter().any(|claim| !claim.constraints.is_empty());
    assert!(share(&constrained) >= 40, "too few problems have constraints");
    let with_counters = |problem: &Problem| problem.pools.iter().any(|pool| pool.counters.is_some());
    assert!(share(&with_counters) >= 40, "too few problems have counters");
}
