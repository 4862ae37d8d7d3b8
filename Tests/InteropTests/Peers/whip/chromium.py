"""Chromium publishes by WHIP to `sora serve` and plays by WHEP, from a page of another origin: plain, and in three layers as OBS names
them. Both trickle, and the publisher restarts ICE."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from browsers.browser import Browser
from harness import main, wait_for


class Blank(BaseHTTPRequestHandler):
    """A page of another origin than the server's."""

    def do_GET(self):
        body = b"<!doctype html>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


def origin():
    """Serves it as long as the script runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Blank)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/blank"


PUBLISH = """
async ([url, encodings]) => {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: { width: 1280, height: 720 } });
  const connection = new RTCPeerConnection();
  connection.addTransceiver(stream.getAudioTracks()[0], { direction: "sendonly", streams: [stream] });
  connection.addTransceiver(stream.getVideoTracks()[0], { direction: "sendonly", streams: [stream], sendEncodings: encodings });
  window.publisher = await start(connection, url);
}
"""

PLAY = """
async ([url]) => {
  const connection = new RTCPeerConnection();
  connection.addTransceiver("audio", { direction: "recvonly" });
  connection.addTransceiver("video", { direction: "recvonly" });
  const video = document.createElement("video");
  video.autoplay = true;
  document.body.append(video);
  window.streams = new Set();
  connection.ontrack = ({ streams }) => {
    video.srcObject = streams[0];
    window.streams.add(streams[0].id);
  };
  window.player = await start(connection, url);
}
"""

SESSION = """
window.start = async (connection, url) => {
  const session = { connection, url, trickled: [], waiting: [] };
  const patch = async (body, tag) => {
    const answer = await fetch(session.location, {
      method: "PATCH", body, headers: { "Content-Type": "application/trickle-ice-sdpfrag", "If-Match": tag, Authorization: "Bearer any" } });
    session.trickled.push(answer.status);
    session.etag = answer.headers.get("ETag") ?? session.etag;
    return answer.text();
  };
  const fragment = (lines) => {
    const sdp = connection.localDescription.sdp.split("\\r\\n");
    const find = (start) => sdp.find((line) => line.startsWith(start));
    return [find("a=ice-ufrag:"), find("a=ice-pwd:"), find("m="), find("a=mid:"), ...lines, ""].join("\\r\\n");
  };
  connection.onicecandidate = ({ candidate }) => {
    const line = candidate?.candidate ? `a=${candidate.candidate}` : "a=end-of-candidates";
    if (session.location) patch(fragment([line]), session.etag); else session.waiting.push(line);
  };
  await connection.setLocalDescription();
  const answer = await fetch(url, {
    method: "POST", headers: { "Content-Type": "application/sdp", Authorization: "Bearer any" },
    body: connection.localDescription.sdp });
  if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
  session.status = answer.status;
  session.etag = answer.headers.get("ETag");
  session.links = answer.headers.get("Link");
  session.sdp = await answer.text();
  await connection.setRemoteDescription({ type: "answer", sdp: session.sdp });
  session.location = new URL(answer.headers.get("Location"), url).href;
  if (session.waiting.length) await patch(fragment(session.waiting), session.etag);
  session.restart = async () => {
    connection.restartIce();
    connection.onicecandidate = null;
    await connection.setLocalDescription();
    const text = await patch(fragment([]), "*");
    if (session.trickled.at(-1) !== 200) throw new Error(`${session.trickled.at(-1)} ${text}`);
    let sdp = session.sdp;
    for (const key of ["ice-ufrag", "ice-pwd"]) {
      sdp = sdp.replaceAll(new RegExp(`a=${key}:.*`, "g"), text.match(new RegExp(`a=${key}:.*`))[0].trim());
    }
    session.sdp = sdp;
    await connection.setRemoteDescription({ type: "answer", sdp });
  };
  session.end = async () => (await fetch(session.location, { method: "DELETE", headers: { Authorization: "Bearer any" } })).status;
  return session;
};
window.stats = async (name, type, kind) => {
  const found = [];
  for (const one of (await window[name].connection.getStats()).values()) {
    if (one.type === type && (!kind || one.kind === kind)) found.push(one);
  }
  return found;
};
undefined;
"""

# As OBS does it: the highest first.
LAYERS = [
    {"rid": "0", "scaleResolutionDownBy": 1}, {"rid": "1", "scaleResolutionDownBy": 2},
    {"rid": "2", "scaleResolutionDownBy": 4}]


class Page:
    def __init__(self, browser, url, messages):
        self.page = browser.chromium.new_page()
        self.page.on("console", lambda message: messages.append(message.text))
        self.page.on("pageerror", lambda error: messages.append(f"error: {error}"))
        self.page.goto(url)
        self.page.evaluate(SESSION)

    def stats(self, name, kind, medium=None):
        return self.page.evaluate("(words) => stats(...words)", [name, kind, medium])

    def received(self, medium="video"):
        found = self.stats("player", "inbound-rtp", medium)
        return found[0] if found else {}

    def value(self, script):
        return self.page.evaluate(script)


def call(world, browser, url, messages, channel, encodings):
    base = f"http://127.0.0.1:{world.port}"
    player, publisher = Page(browser, url, messages), Page(browser, url, messages)
    # First who plays: the publisher comes to it.
    player.page.evaluate(PLAY, [f"{base}/whep/{channel}"])
    publisher.page.evaluate(PUBLISH, [f"{base}/whip/{channel}", encodings])
    wait_for("pictures", lambda: player.received().get("framesDecoded", 0) > 30, 20)
    wait_for("sound", lambda: player.received("audio").get("totalAudioEnergy", 0) > 0)
    return player, publisher


def scenario(world):
    world.serve("--turn")
    browser = Browser(world)
    messages, url = [], origin()
    player, publisher = call(world, browser, url, messages, "plain", [{}])
    wait_for("candidates' answers", lambda: publisher.value("publisher.trickled.length > 0"))
    trickled = publisher.value("publisher.trickled") + player.value("player.trickled")
    publisher.value("publisher.restart()")
    before = player.received()["framesDecoded"]
    wait_for("further pictures", lambda: player.received()["framesDecoded"] > before + 60, 20)
    plain = player.received()
    result = {
        "status": [publisher.value("publisher.status"), player.value("player.status")],
        "links": [publisher.value("publisher.links.includes('ice-server')"), player.value("player.links.includes('ice-server')")],
        "trickled": sorted(set(trickled)), "restarted": publisher.value("publisher.trickled.at(-1)"),
        "state": publisher.value("publisher.connection.connectionState"),
        "frames": plain["framesDecoded"], "dropped": plain.get("framesDropped", 0), "streams": player.value("[...streams].length"),
    }
    # The publisher goes, and another one comes to the same player.
    result["ends"] = [publisher.value("publisher.end()")]
    publisher.page.close()
    next_one = Page(browser, url, messages)
    next_one.page.evaluate(PUBLISH, [f"http://127.0.0.1:{world.port}/whip/plain", [{}]])
    before = player.received()["framesDecoded"]
    wait_for("pictures of the next", lambda: player.received()["framesDecoded"] > before + 60, 20)
    result["ends"] += [next_one.value("publisher.end()"), player.value("player.end()")]
    for page in (player, next_one):
        page.page.close()
    # Three layers, and what each receiver's wish gets of them.
    player, publisher = call(world, browser, url, messages, "layers", LAYERS)
    layers = wait_for(
        "three layers", lambda: (found := publisher.stats("publisher", "outbound-rtp", "video")) and len(found) == 3
        and all(one.get("framesSent", 0) > 10 for one in found) and found, 30)
    widths = {one["rid"]: one["frameWidth"] for one in layers}
    result["layers"] = widths
    wait_for("the highest layer", lambda: player.received().get("frameWidth") == widths["0"], 30)
    low = world.tool("play", "layers", "--rid", "r0")
    result["lowWidth"] = low.wait_for(
        "the lowest layer", lambda: ((low.last("stats") or {}).get("video") or {}).get("width"))
    result["messages"] = messages
    browser.close()
    return result


main(scenario)
