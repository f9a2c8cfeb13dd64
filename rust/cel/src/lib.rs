//! CEL device selectors: parse, check types, lower, evaluate, cost.
