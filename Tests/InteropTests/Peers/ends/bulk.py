"""Bulk over a data channel: how much of it, and what is said of it in the end."""

import os

# So many bytes each way; a gigabyte in `make channels-gigabyte`.
BULK = int(os.environ.get("CHANNEL_BYTES", 8 << 20))


def summary(count, size, total, came, seconds):
    """Of `count` messages of `size` bytes with the CRC-32 `total`, of which `came` (messages, bytes, sum) in so many seconds."""
    return {
        "sentSum": total, "sum": came["sum"], "sentBytes": count * size, "bytes": came["bytes"], "sentMessages": count,
        "messages": came["messages"], "seconds": round(seconds, 1), "megabitsPerSecond": round(count * size * 8 / seconds / 1e6, 1)}
