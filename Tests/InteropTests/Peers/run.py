"""Runs a scenario, or an end that is a process of its own, by its name: run.py nat/chromium OPTIONS...

Modules are found from here on, so that `nat.chromium` may import `ends.direct` and `harness`.
"""

import runpy
import sys

name = sys.argv.pop(1)
runpy.run_module(name.removesuffix(".py").replace("/", "."), run_name="__main__", alter_sys=True)
