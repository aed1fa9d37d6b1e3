"""`python -m memrepo`."""

import sys

from memrepo.faces.cli import main

sys.exit(main())
