"""Two official clients send each other bulk through the server, one after the other: so libwebrtc sends it to the server, and the
server to libwebrtc, each way."""

import threading
import time
import zlib

from ends.bulk import BULK, summary
from ends.pattern import pattern
from ends.talker import Talker
from harness import main, wait_for

LABEL = "#bulk"
SIZE = 65_536
# Messages on their way at once: the server holds nobody up, and drops what a client is too slow for, so that who sends has to know
# what came.
WINDOW = 32
# Bulk may be as slow as 8 Mbit/s.
SECONDS = 60 + BULK / 1e6


class Counter(Talker):
    """What it hears is summed up and not kept."""

    def __init__(self, world, name):
        super().__init__(world, name, [{"label": LABEL, "direction": "sendrecv"}], True, role="recvonly", audio=False)
        self.came = {"messages": 0, "bytes": 0, "sum": 0}
        self.room = threading.Semaphore(WINDOW)
        self.connection.on_message = self.hear

    def hear(self, label, data):
        data = bytes(data)
        self.came["sum"] = zlib.crc32(data, self.came["sum"])
        self.came["bytes"] += len(data)
        self.came["messages"] += 1
        self.room.release()


def bulk(sender, receiver):
    count, total = max(1, BULK // SIZE), 0
    deadline = time.monotonic() + SECONDS
    started = time.monotonic()
    for number in range(count):
        data = pattern(number, SIZE)
        total = zlib.crc32(data, total)
        if not receiver.room.acquire(timeout=max(0, deadline - time.monotonic())):
            raise RuntimeError(f"{receiver.name} heard {receiver.came['messages']} messages of {number}")
        sender.say(LABEL, data)
    wait_for("all messages", lambda: receiver.came["messages"] >= count, deadline - time.monotonic())
    return summary(count, SIZE, total, receiver.came, time.monotonic() - started)


def scenario(world):
    world.serve()
    first, second = Counter(world, "first"), Counter(world, "second")
    for talker in (first, second):
        talker.connect()
    for talker in (first, second):
        wait_for(f"channel of {talker.name}", lambda: LABEL in talker.open)
    ways = {"toSecond": bulk(first, second), "toFirst": bulk(second, first)}
    return {"ways": ways, "ended": [first.disconnect(), second.disconnect()]}


main(scenario)
