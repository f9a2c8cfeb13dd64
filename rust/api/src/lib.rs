//! Kubernetes objects that the allocation kernel reads or writes, quantities, semantic versions and names. No DRA logic, no I/O.
