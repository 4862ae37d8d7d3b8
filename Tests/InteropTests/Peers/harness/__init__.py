"""What every scenario needs; see world.py."""

from harness.world import RUN, Process, Timeout, World, free_port, main, make_certificate, received, wait_for

__all__ = ["RUN", "Process", "Timeout", "World", "free_port", "main", "make_certificate", "received", "wait_for"]
