//! Builders, generators and a brute-force oracle for tests.
