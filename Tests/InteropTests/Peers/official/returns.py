"""The server is killed and started again on its port: official clients connect anew, as an app lets them, and see and hear each other again."""

import threading
import time

from ends.official import Official
from harness import free_port, main, wait_for

FRAMES = 60
FIRST_WAIT, LONGEST_WAIT = 0.25, 2


class App:
    """What an app makes of the official client: a new connection, on a thread of its own, whenever one ends that it hasn't left."""

    def __init__(self, world, role):
        self.world, self.role = world, role
        self.connections = []
        self.failure = None
        self.leaves = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        waited = FIRST_WAIT
        try:
            while not self.leaves.is_set():
                one = Official(self.world, self.role, "ch")
                self.connections.append(one)
                one.connection.connect()
                # It is in the call, or wasn't let in.
                wait_for("an answer", lambda: one.created() or one.ended, 40)
                if one.created():
                    waited = FIRST_WAIT
                    one.begin()
                    wait_for("the end of a connection", lambda: one.ended or self.leaves.is_set(), 120)
                if one.source and one.ended:
                    one.source.stop()
                self.leaves.wait(waited)
                waited = min(waited * 2, LONGEST_WAIT)
        except BaseException as error:  # noqa: BLE001 - the test shows it
            self.failure = error

    @property
    def now(self):
        """The connection that is in the call; None while there is none."""
        if self.failure:
            raise self.failure
        last = self.connections[-1] if self.connections else None
        return last if last and last.created() and not last.ended else None

    def sees(self, other):
        """Waits for frames and sound of what another publishes now."""
        def stream():
            own, theirs = self.now, other.now
            return own and theirs and own.streams.get(theirs.connection_id)

        found = wait_for("stream", stream, 40)
        wait_for("frames", lambda: found.meter.frames >= FRAMES, 30)
        wait_for("sound", lambda: found.samples > 0)
        return found.report()

    def leave(self):
        self.leaves.set()
        self.thread.join()
        return self.now.disconnect()


def scenario(world):
    port = free_port()
    server = world.serve(port=port)
    ann, bob = App(world, "sendonly"), App(world, "recvonly")
    outcome = {"before": bob.sees(ann)}
    server.kill()
    wait_for("two tries in vain", lambda: all(len(app.connections) >= 3 and app.connections[-2].ended for app in (ann, bob)), 40)
    outcome["lost"] = [app.connections[0].ended for app in (ann, bob)]
    outcome["refused"] = [app.connections[1].ended["code"] for app in (ann, bob)]
    started = time.monotonic()
    server = world.serve(name="serve-again", port=port)
    outcome["after"] = bob.sees(ann)
    outcome["returned"] = round(time.monotonic() - started, 1)
    outcome["joins"] = len(server.messages("join"))
    before = bob.now.count("re-offer")
    left = [ann.leave()]
    bob.now.answers(before)
    outcome["left"] = [*left, bob.leave()]
    outcome["status"] = server.finish()
    return outcome


main(scenario)
