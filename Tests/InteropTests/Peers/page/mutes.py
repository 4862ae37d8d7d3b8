"""A page turns camera and microphone off and on: another sees black and hears nothing, is told so, and so is who comes later."""

from browsers.browser import Browser
from browsers.page import BRIGHTNESS, TONE
from harness import main, wait_for


class View:
    """Another's stream as a page has it."""

    def __init__(self, page, stream):
        self.page, self.stream = page, stream

    def is_dark(self):
        return self.page.evaluate(BRIGHTNESS, self.stream) < 8

    def level(self):
        return self.page.inbound("audio")[self.stream].get("audioLevel", 0)

    def shown(self):
        return self.page.evaluate(
            "(stream) => { const tile = document.querySelector(`[data-stream='${stream}']`); return { "
            "covered: !tile.querySelector('.cover').hidden, badges: [...tile.querySelectorAll('.badge')].map((e) => e.textContent) }; }", self.stream)

    def state(self):
        return {"dark": self.is_dark(), "silent": self.level() < 0.001, **self.shown()}

    def becomes(self, what, **wanted):
        wait_for(what, lambda: {key: self.state()[key] for key in wanted} == wanted, 15)
        return self.state()


def scenario(world):
    world.serve()
    browser = Browser(world)
    ann = browser.open("ch", codec="VP8")
    ann.evaluate(TONE)
    ann.click("[data-role=sendonly]")
    ann.connected()
    ann.evaluate("speak(true)")
    bob = browser.open("ch", "recvonly")
    stream = wait_for("tile", lambda: next(iter(bob.remote_streams()), None))
    bob.wait_for("picture", f"sora.streams.get({stream!r}).video.videoWidth > 0")
    view = View(bob, stream)
    ann.wait_for("calls at the server", "sora.client.isSwitched")
    states = {"before": view.becomes("picture and sound", dark=False, silent=False)}
    ann.click("#mute-video")
    states["video"] = view.becomes("no picture, and a cover", dark=True, covered=True)
    # By its key.
    ann.page.keyboard.press("m")
    states["both"] = view.becomes("no sound, and a badge", silent=True, badges=["microphone off"])
    carol = browser.open("ch", "recvonly")
    wait_for("tile", lambda: next(iter(carol.remote_streams()), None))
    carol.wait_for("a cover for who comes later", f"!document.querySelector(\"[data-stream='{stream}'] .cover\").hidden")
    overflow = bob.picture("mutes") + ann.picture("muted")
    states["own"] = ann.evaluate("({ covered: !document.querySelector('.cover').hidden, words: document.getElementById('toolbar').innerText })")
    ann.click("#mute-video")
    ann.click("#mute-audio")
    states["after"] = view.becomes("picture and sound again", dark=False, silent=False, covered=False, badges=[])
    messages = ann.messages + bob.messages + carol.messages
    browser.close()
    return {"states": states, "overflow": overflow, "messages": messages}


main(scenario)
