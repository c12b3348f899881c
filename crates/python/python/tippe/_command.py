"""The `tippe` command of the wheel: the command line itself, inside this process."""

from __future__ import annotations

import signal
import sys

from . import _tippe


def main() -> None:
    """Runs the command line and exits with its code."""
    # The command line listens to signals itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    sys.exit(_tippe.main(["tippe", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
