"""ResourceClaims: made from templates, freed when their users are done (upstream: `pkg/controller/resourceclaim`)."""

from drayman.testing.controllers.resourceclaim.controller import ResourceClaimController

__all__ = ["ResourceClaimController"]
