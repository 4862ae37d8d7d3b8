"""An aiortc end with data channels as a process of its own. It takes calls of the methods of `AiortcDataEnd`, a line of JSON each, and
tells what they return. `RemoteEnd` is its other side."""

import json
import os
import sys

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Tests/InteropTests/Peers")


class RemoteEnd:
    def __init__(self, world, name):
        self.process = world.start(name, [sys.executable, "-B", os.path.abspath(__file__)])

    def __getattr__(self, method):
        def call(*arguments, **options):
            before = len(self.process.messages("returned"))
            self.process.child.stdin.write(json.dumps([method, arguments, options]) + "\n")
            self.process.child.stdin.flush()
            self.process.wait_for(method, lambda: len(self.process.messages("returned")) > before, 300)
            return self.process.last("returned")["value"]

        return call


def main():
    sys.path.insert(0, PEERS)
    from ends.data import AiortcDataEnd

    end = AiortcDataEnd()
    for line in sys.stdin:
        method, arguments, options = json.loads(line)
        value = getattr(end, method)(*arguments, **options)
        print(json.dumps({"type": "returned", "value": value}), flush=True)


if __name__ == "__main__":
    main()
