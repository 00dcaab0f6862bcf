"""The packaged program's first lines."""

import multiprocessing
import sys

from a3s_desktop.__main__ import main

if __name__ == "__main__":
    multiprocessing.freeze_support()  # the processes of a benchmark come through here
    sys.exit(main())
