"""Every video codec that a peer has, both ways and one after another, through one server.

A peer joins by `join(role, channel, codec)` and then has

- `sent()`: `codec`, the one its own statistics name, and `frames`;
- `received(frames)`: waits until it has decoded so many; `codec`, `frames`, and what their stamps tell;
- `leave()`.
"""

# Three seconds of pictures.
FRAMES = 90


def joined(server, channel, role):
    """Waits until the server tells of somebody in `channel`."""
    server.wait_for(
        f"{role} in {channel}",
        lambda: any(line["channelId"] == channel and line["role"] == role for line in server.messages("join")))


def peer_publishes(world, server, codec, join, channel=None):
    """The peer's pictures, as `sora play` decodes them."""
    channel = channel or f"{codec}-from-peer"
    play = world.tool("play", channel, name=f"play-{channel}")
    # The player is there first, so that it can see every frame.
    joined(server, channel, "recvonly")
    peer = join("sendonly", channel, codec)
    play.wait_for("frames", lambda: ((play.last("stats") or {}).get("video") or {}).get("frames", 0) >= FRAMES, 30)
    sent = peer.sent()
    peer.leave()
    return {"sent": sent, "status": play.finish(), "summary": play.last("summary")}


def peer_receives(world, server, codec, join, bits=8):
    """`sora publish`'s pictures, as the peer decodes them."""
    channel = f"{codec}-of-{bits}-to-peer"
    publish = world.tool(
        "publish", channel, "--resolution", "640x360", "--fps", "30", "--video-codec", codec, "--bit-depth", str(bits),
        name=f"publish-{channel}")
    joined(server, channel, "sendonly")
    peer = join("recvonly", channel, codec)
    received = peer.received(FRAMES)
    peer.leave()
    return {"received": received, "status": publish.finish(), "summary": publish.last("summary")}


def ten_bits(world, server, join):
    """VP9's profile 2, to the peer."""
    return {"tenBits": peer_receives(world, server, "VP9", join, bits=10)}


def walk(world, server, codecs, join):
    """Both ways of each codec; of those alone that the command line names, if it names some."""
    return {
        "codecs": {
            codec: {
                "published": peer_publishes(world, server, codec, join),
                "received": peer_receives(world, server, codec, join),
            } for codec in world.arguments or codecs
        },
    }
