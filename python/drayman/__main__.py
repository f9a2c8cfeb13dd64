"""`python -m drayman` is the command `drayman`."""

import sys

from drayman.cli import main

sys.exit(main())
