//! Builders, generators and a brute-force oracle for tests. Shares no code with the kernel: an oracle that did would prove nothing.
//!
//! A [`Problem`](model::Problem) is a small allocation problem in plain numbers. [`generate::problem`] makes random ones, [`oracle::solve`]
//! solves them by trying everything in upstream's order, [`oracle::verify`] checks a solution without searching, and
//! [`Problem::objects`](model::Problem::objects) writes them as Kubernetes objects.

pub mod build;
pub mod generate;
pub mod model;
pub mod oracle;

mod objects;
