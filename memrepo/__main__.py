"""`python -m memrepo`."""

import sys

from memrepo.cli import main

sys.exit(main())
