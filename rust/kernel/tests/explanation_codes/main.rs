//! What is told about claims that do not fit, in whole trees.

#![expect(clippy::needless_pass_by_value, reason = "JSON is written where it is used")]

mod case;
mod codes;
mod reading;
