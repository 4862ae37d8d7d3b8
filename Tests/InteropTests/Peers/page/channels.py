"""Pages signal over data channels alone: their WebSockets close behind `switched`, and the call goes on: who comes and goes, mutes and
messages. Then pages in a call of messages alone, without video and audio."""

from browsers.browser import Browser
from harness import main, wait_for


# One channel closes while a message for it is compressed, and one refuses what it is given: what is for a third is sent all the same.
CLOSED_WHILE_COMPRESSED = """async () => {
  const { Channels } = await import("/channels.js");
  const sent = [];
  const channel = (label, send) => Object.assign(new EventTarget(), { label, readyState: "open", send });
  const closing = channel("closing", () => { throw new Error("not open"); });
  const channels = new Channels([{ label: "closing", compress: true }], {});
  channels.add(closing);
  channels.add(channel("refusing", () => { throw new Error("too large"); }));
  channels.add(channel("good", (data) => sent.push(data)));
  const outcomes = ["closing", "refusing", "good"].map((label) => channels.send(label, label));
  await null;
  await null;
  closing.readyState = "closed";
  return (await Promise.allSettled(outcomes)).map((outcome) => outcome.status).concat(sent);
}"""


class Caller:
    """A page whose WebSockets are watched."""

    def __init__(self, browser, channel, role, name, **query):
        self.page = browser.open(channel, name=name, **query)
        self.sockets = []
        self.page.page.on("websocket", lambda socket: self.sockets.append(socket))
        self.page.click(f"[data-role={role}]")
        self.page.connected()

    @property
    def id(self):
        return self.page.evaluate("sora.connectionId")

    def closed(self):
        # Playwright's events come while it is asked something.
        self.page.evaluate("null")
        return [socket.is_closed() for socket in self.sockets]


def listens(page):
    page.wait_for("the label", "document.getElementById('label').options.length > 0")


def say(page, text):
    page.evaluate(
        "(text) => { document.getElementById('message').value = text; document.getElementById('chat-form').requestSubmit(); }", text)


def hears(page, text, sender):
    page.wait_for("a message", f"sora.messages.some((m) => m.text === {text!r} && m.from === {sender!r})")


def frames(page, stream):
    return page.inbound("video").get(stream, {}).get("framesDecoded", 0)


def without_sockets(browser):
    ann = Caller(browser, "ch", "sendrecv", "Ann", codec="VP8", websocket=0, size="640x360")
    wait_for("the end of Ann's WebSocket", lambda: ann.closed() == [True])
    # Who comes now is offered over the data channel.
    bob = Caller(browser, "ch", "sendrecv", "Bob", codec="VP8", websocket=0, size="640x360")
    wait_for("the end of Bob's WebSocket", lambda: bob.closed() == [True])
    kept = Caller(browser, "ch", "recvonly", "Carol")
    for page, other in ((ann.page, bob.id), (bob.page, ann.id)):
        wait_for("frames", lambda: frames(page, other) > 10, 20)
    for caller in (ann, bob):
        listens(caller.page)
    for sender, receiver in ((ann, bob), (bob, ann)):
        say(sender.page, f"from {sender.id}")
        hears(receiver.page, f"from {sender.id}", sender.id)
    ann.page.click("#mute-video")
    bob.page.wait_for("a cover", f"!document.querySelector(\"[data-stream='{ann.id}'] .cover\").hidden")
    ann.page.click("#mute-video")
    kept.page.wait_for("signaling over data channels", "sora.client.isSwitched")
    result = {"closed": [ann.closed(), bob.closed(), kept.closed()], "link": ann.page.evaluate("document.location.search")}
    kept.page.stop()
    before = frames(bob.page, ann.id)
    wait_for("further frames", lambda: frames(bob.page, ann.id) > before + 30, 20)
    bob.page.wait_for("Carol's leaving", "sora.counters.channel_connections === 2")
    result["states"] = [ann.page.state(), bob.page.state()]
    ann.page.stop()
    bob.page.wait_for("Ann's leaving", "sora.counters.channel_connections === 1 && sora.streams.size === 1")
    bob.page.stop()
    return result, [ann.page, bob.page, kept.page]


def messages_only(browser):
    callers = [
        Caller(browser, "talk", role, name, video=0, audio=0) for role, name in (("sendrecv", "Ann"), ("recvonly", "Bob"), ("sendonly", "Carol"))]
    # What is said before somebody's channel is open isn't for them.
    for caller in callers:
        listens(caller.page)
    for sender in callers:
        say(sender.page, f"from {sender.id}")
    for receiver in callers:
        for sender in callers:
            if sender is not receiver:
                hears(receiver.page, f"from {sender.id}", sender.id)
    ann = callers[0].page
    result = {
        "sections": [line.split(" ")[0] for line in ann.evaluate("sora.client.offer.sdp").splitlines() if line.startswith("m=")],
        "status": ann.evaluate("document.getElementById('status').innerText"), "empty": ann.evaluate("document.getElementById('empty').innerText"),
        "tiles": [caller.page.evaluate("sora.streams.size") for caller in callers],
        "camera": ann.evaluate("sora.localStream"), "overflow": ann.picture("messages"),
    }
    for caller in callers:
        caller.page.stop()
    return result, [caller.page for caller in callers]


def scenario(world):
    server = world.serve()
    browser = Browser(world)
    outcome, pages = without_sockets(browser)
    outcome["late"] = pages[0].evaluate(CLOSED_WHILE_COMPRESSED)
    outcome["talk"], talkers = messages_only(browser)
    wait_for("the last leaving", lambda: len(server.messages("leave")) == 6)
    outcome["messages"] = [line for page in pages + talkers for line in page.messages]
    browser.close()
    return outcome


main(scenario)
