"""`sora doctor` with a server that is well, and with what commonly is wrong with one."""

from harness import free_port, main
from harness.world import make_certificate


def scenario(world):
    server = world.serve()
    plain = world.port
    key, certificate = make_certificate(world.folder, "127.0.0.1")
    world.serve("--tls-cert", certificate, "--tls-key", key, name="serve-tls")
    secure = world.port

    def examine(name, url, *options):
        run = world.start(name.replace(" ", "-"), [world.sora, "doctor", url, "--json", *options])
        status = run.wait(40)
        checks = {line["check"]: line for line in run.messages("check")}
        return {
            "status": status, "states": {check: line["state"] for check, line in checks.items()},
            "advice": " ".join(line.get("advice") or "" for line in checks.values()),
            "summary": run.last("summary"), "errors": run.log_text(),
        }

    results = {
        "well": examine("well", f"ws://127.0.0.1:{plain}/signaling"),
        "trusted": examine("trusted", f"wss://127.0.0.1:{secure}/signaling", "--ca", certificate),
        "untrusted": examine("untrusted", f"wss://127.0.0.1:{secure}/signaling"),
        "insecure": examine("insecure", f"wss://127.0.0.1:{secure}/signaling", "--insecure"),
        "TLS to plain": examine("TLS to plain", f"wss://127.0.0.1:{plain}/signaling"),
        "plain to TLS": examine("plain to TLS", f"ws://127.0.0.1:{secure}/signaling"),
        "wrong path": examine("wrong path", f"ws://127.0.0.1:{plain}/"),
        "nothing listens": examine("nothing listens", f"ws://127.0.0.1:{free_port()}/signaling"),
        "unknown host": examine("unknown host", "ws://sora.invalid/signaling"),
    }
    return {"results": results, "server": server.alive()}


main(scenario)
