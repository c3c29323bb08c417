"""`python -m neuron_top` is the same program as `neurontop`."""

import sys

from neuron_top.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
