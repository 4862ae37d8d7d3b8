"""Three official clients in a spotlight of one place: each speaks in turn, and is what the others see and hear."""

import time

from ends.official import Official, leave
from harness import main, wait_for

COUNT = 3
# Long enough for sound that nobody shall be sent to show up.
LOOK = 2


class Snapshot:
    """What came of a stream until now."""

    def __init__(self, stream):
        self.frames = stream.meter.frames
        self.energy = stream.energy


def scenario(world):
    world.serve()
    clients = [
        Official(world, "sendrecv", "ch", simulcast=True, spotlight=True, spotlight_number=1, video_bit_rate=3000)
        for _ in range(COUNT)
    ]
    for client in clients:
        client.connect()
        client.source.speaks = False
    for client in clients:
        wait_for("streams", lambda c=client: len(c.streams) == COUNT - 1)
    turns = []
    for speaker in clients:
        for client in clients:
            client.source.speaks = client is speaker

        def told(kind, client, subject):
            return next((e for e in reversed(client.notifications)
                         if e["event_type"] == kind and e["connection_id"] == subject.connection_id), None)

        viewers = [client for client in clients if client is not speaker]
        for client in clients:
            wait_for("spotlight.focused", lambda c=client: told("spotlight.focused", c, speaker), 20)
        streams = {id(c): c.streams[speaker.connection_id] for c in viewers}
        before = {key: Snapshot(stream) for key, stream in streams.items()}
        for client in viewers:
            wait_for("pictures and sound of who speaks", lambda k=id(client): (
                streams[k].meter.frames > before[k].frames + 5
                and streams[k].energy > before[k].energy), 20)
        # What is on its way of who spoke before arrives; then no sound of it may.
        time.sleep(1)
        start = {(id(c), o.connection_id): Snapshot(c.streams[o.connection_id])
                 for c in clients for o in clients if o is not c}
        time.sleep(LOOK)
        turn = {"speaker": [], "others": [], "event": told("spotlight.focused", clients[0], speaker)}
        for client in clients:
            for other in clients:
                if other is client:
                    continue
                stream, at = client.streams[other.connection_id], start[id(client), other.connection_id]
                seen = {"frames": stream.meter.frames - at.frames, "size": stream.meter.size,
                        "isHeard": stream.energy - at.energy > 1}
                turn["speaker" if other is speaker else "others"].append(seen)
        turns.append(turn)
    return {
        "offered": [client.offer["spotlight"] for client in clients], "turns": turns,
        "ended": leave(clients),
    }


main(scenario)
