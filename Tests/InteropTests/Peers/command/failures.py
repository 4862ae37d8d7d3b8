"""What `sora play` says and returns where it can't work."""

from harness import free_port, main, make_certificate


def run(world, name, url, *arguments):
    process = world.tool("play", "ch", *arguments, name=name, url=url)
    status = process.wait(40)
    summary = process.last("summary") or {}
    lines = process.log_text().strip().splitlines()
    return {
        "status": status, "lines": lines, "error": summary.get("error"),
        "milliseconds": summary.get("elapsedMs"),
    }


def scenario(world):
    world.serve()
    results = {
        "wrong path": run(world, "wrong-path", f"ws://127.0.0.1:{world.port}/nothing-here"),
        "closed port": run(world, "closed-port", f"ws://127.0.0.1:{free_port()}/signaling"),
        "no media": run(world, "no-media", world.url, "--timeout", "3"),
    }
    key, certificate = make_certificate(world.folder, "127.0.0.1")
    world.serve("--tls-cert", certificate, "--tls-key", key, name="serve-tls")
    url = f"wss://127.0.0.1:{world.port}/signaling"
    results["untrusted certificate"] = run(world, "untrusted", url)
    # With the certificate trusted, or not looked at, the same call gets as far as waiting for media.
    results["trusted certificate"] = run(world, "trusted", url, "--ca", certificate, "--timeout", "2")
    results["insecure"] = run(world, "insecure", url, "--insecure", "--timeout", "2")
    results["plain to TLS"] = run(world, "plain", f"ws://127.0.0.1:{world.port}/signaling")
    return {"results": results}


main(scenario)
