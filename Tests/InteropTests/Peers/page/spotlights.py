"""Three pages in a spotlight of one place: each speaks in turn, and is what the others see in the higher layer, and hear."""

import time

from browsers.browser import Browser
from browsers.page import TONE
from harness import main, wait_for

OPTIONS = {
    "codec": "VP8", "simulcast": 1, "spotlight": 1, "spotlight_number": 1, "focus_rid": "r1", "unfocus_rid": "r0", "size": "640x360", "fps": 15,
    "bit_rate": 1200,
}
HEIGHTS = {"r0": 90, "r1": 180}
LOOK = 2


def scenario(world):
    world.serve()
    browser = Browser(world)
    pages = []
    for _ in range(3):
        page = browser.open("ch", **OPTIONS)
        page.evaluate(TONE)
        page.click("[data-role=sendrecv]")
        page.connected()
        pages.append(page)
    ids = [page.evaluate("sora.connectionId") for page in pages]
    for page in pages:
        page.wait_for("two others", "sora.streams.size === 3")
    turns = []
    for speaker, who in zip(pages, ids):
        for page in pages:
            page.evaluate("(on) => speak(on)", page is speaker)
        viewers = [page for page in pages if page is not speaker]

        def settled():
            """Who speaks is seen in the one layer, and who doesn't in the other."""
            for page in pages:
                found = page.inbound("video")
                if len(found) < 2:
                    return False
                for stream, video in found.items():
                    if abs(video.get("frameHeight", 0) - HEIGHTS["r1" if stream == who else "r0"]) > 8:
                        return False
            return True

        wait_for("layers of this turn", settled, 30)
        for page in viewers:
            page.wait_for("the frame around who speaks", f"document.querySelector('[data-stream=\"{who}\"]').classList.contains('focused')")
        before = [page.inbound("audio") for page in pages]
        time.sleep(LOOK)
        turn = {"speaker": [], "others": []}
        for page, then in zip(pages, before):
            audio = page.inbound("audio")
            for stream, video in page.inbound("video").items():
                # Of who was never heard there are no statistics.
                energy = [found.get(stream, {}).get("totalAudioEnergy", 0) for found in (then, audio)]
                seen = {"height": video["frameHeight"], "isHeard": energy[1] - energy[0] > 0.01}
                turn["speaker" if stream == who else "others"].append(seen)
        turn["focused"] = [page.evaluate("document.querySelectorAll('.tile.focused').length") for page in pages]
        turns.append(turn)
    overflow = pages[0].picture("spotlight")
    # The layer of who speaks is changed while the call runs.
    pages[0].evaluate("() => { const field = document.getElementById('focus_rid'); field.value = 'r0'; field.onchange(); }")
    wait_for("the other layer", lambda: abs(pages[0].inbound("video")[ids[2]]["frameHeight"] - HEIGHTS["r0"]) <= 8, 20)
    messages = [line for page in pages for line in page.messages]
    browser.close()
    return {"turns": turns, "overflow": overflow, "messages": messages}


main(scenario)
