"""The mock DRA driver: hardware as data, ResourceSlices, the kubelet's gRPC protocols and CDI files."""
