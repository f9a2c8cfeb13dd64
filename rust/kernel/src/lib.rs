//! Device inventory, allocation search and explanation. No Python, clock, threads of its own, or I/O.
