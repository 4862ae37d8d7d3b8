"""Chromium's repair packets and ours: ULPFEC, which it has by default, and FlexFEC-03, which it has for an experiment."""

from browsers.browser import Browser
from ends.direct import PageEnd
from fec import calls
from harness import main
from secure.calls import each


class Page(PageEnd):
    def __init__(self, world, namespace, trials):
        self.browser = Browser(world, namespace, trials=trials)
        super().__init__(self.browser.blank())

    def close(self):
        super().close()
        self.browser.close()


def scenario(world):
    def case(name):
        trials = ["WebRTC-FlexFEC-03-Advertised", "WebRTC-FlexFEC-03"] if name == "FlexFEC" else []
        make = lambda namespace: Page(world, namespace, trials)  # noqa: E731
        if name == "alone":
            # Of ULPFEC Chromium says nothing: it shows in frames that couldn't be decoded otherwise.
            return calls.walk(world, make, lambda seen: seen["sent"] >= 400, nack=False, loss=0.04)
        others = calls.ENOUGH if name == "FlexFEC" else 0
        return calls.walk(
            world, make, lambda seen: seen["used"] >= calls.ENOUGH and seen["theirRepairPackets"] >= others)

    return {"calls": each(world, ["ULPFEC", "alone", "FlexFEC"], case)}


main(scenario)
