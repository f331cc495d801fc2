"""``python -m purecover_paper``, the same as ``purecover-paper``."""

import sys

from purecover_paper.cli import main

if __name__ == "__main__":
    sys.exit(main())
