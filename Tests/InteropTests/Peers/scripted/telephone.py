"""Chromium presses keys of a telephone, and a player of ours is told of them through the server."""

from browsers.browser import Browser
from harness import main, wait_for
from scripted.script import Script, section

KEYS = "159*#D"


def scenario(world):
    world.serve()
    player = world.start("player", [world.client, world.url, "room", "recvonly"])
    player.wait_for("connection", lambda: player.last("connected"))
    browser = Browser(world)
    one = Script(browser, "sendonly", access=None, video=False, audio={"codec_type": "OPUS"}).created()
    player.wait_for("stream", lambda: player.last("added"))
    player.write("keys\n")
    player.wait_for("an ear for keys", lambda: player.last("listening"))
    sender = "one.peer.getSenders().find((sender) => sender.dtmf)"
    wait_for("keys that may be pressed", lambda: one.evaluate(f"() => {sender}?.dtmf.canInsertDTMF === true"))
    one.evaluate(f"(keys) => {sender}.dtmf.insertDTMF(keys, 100, 70)", KEYS)
    player.wait_for("keys", lambda: len(player.messages("key")) >= len(KEYS))
    text = section(one.offer["sdp"], "audio")
    one.close()
    browser.close()
    player.child.stdin.close()
    return {
        "pressed": KEYS, "told": "".join(key["tone"] for key in player.messages("key")), "status": player.wait(),
        "offered": "telephone-event/48000" in text,
    }


main(scenario)
