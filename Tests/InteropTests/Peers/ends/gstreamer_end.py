"""GStreamer's webrtcbin as a media end: `gstreamer_process.py`, and the lines to and from it."""

import threading
import time

from harness import RUN


class GStreamerEnd:
    def __init__(self, world, name, namespace=None):
        # Debian's Python: the one in the virtual environment doesn't have the bindings.
        self.process = world.start(name, ["/usr/bin/python3", "-B", RUN, "ends/gstreamer_process"], namespace=namespace)
        self.taken = 0
        self.follower = None
        # Percent of its video's packets that it sends as repair packets more.
        self.repair = 0

    def answer(self, sdp, mids):
        return self.process.ask({"type": "offer", "sdp": sdp, "mids": mids, "repair": self.repair}, "answer")["sdp"]

    def trickle(self, send_candidate):
        def follow():
            while self.process.alive():
                for line in self.process.messages("candidate")[self.taken :]:
                    self.taken += 1
                    send_candidate(line["candidate"])
                time.sleep(0.02)

        if self.follower is None:
            self.follower = threading.Thread(target=follow, daemon=True)
            self.follower.start()

    def report(self):
        report = self.process.ask({"type": "report"}, "report")
        errors = [line["error"] for line in self.process.messages("error")]
        return {**report, "errors": errors}

    def close(self):
        self.process.child.stdin.close()
        self.process.wait()
