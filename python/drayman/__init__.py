"""Which devices would this claim get, and if none, why: DRA allocation for Kubernetes, offline and in a scheduler."""
