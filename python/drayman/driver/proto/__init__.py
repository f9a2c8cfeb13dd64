"""The kubelet's plugin protocols: `.proto` files of ours and the code that `hack/protos` makes from them.

Package, message, field and service names and the field numbers are upstream's, because they are the wire format.
Upstream's package names are short (`v1`, `pluginregistration`), so another package in the same process may well bring
messages of the same full name; the default descriptor pool would refuse the second. The generated modules live in a
pool of their own.
"""

from __future__ import annotations

from google.protobuf.descriptor_pool import DescriptorPool

POOL = DescriptorPool()
"""Where the messages of this package are registered; nothing else is."""
