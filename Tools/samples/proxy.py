"""A proxy as examples want one: HTTP CONNECT with Basic authentication, on a free port of this machine."""

import asyncio
import base64
import threading

# What an example says in its `Proxy`.
USER, PASSWORD = "user", "password"


class ConnectProxy:
    """Runs on a thread of its own until the block of `with` ends, and counts the tunnels that it made."""

    def __init__(self):
        self.tunnels = 0
        self.port = 0
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        self.ready.wait(10)
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)

    def _run(self):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        self.loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*asyncio.all_tasks(self.loop), return_exceptions=True))
        self.loop.close()

    async def _serve(self, reader, writer):
        try:
            head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)).decode("latin-1")
            first, *headers = head.split("\r\n")
            credentials = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
            if f"proxy-authorization: basic {credentials}".lower() not in [header.lower() for header in headers]:
                writer.write(b'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="samples"\r\nContent-Length: 0\r\n\r\n')
                return await writer.drain()
            method, target, _ = first.split(" ")
            host, _, port = target.rpartition(":")
            if method != "CONNECT":
                writer.write(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
                return await writer.drain()
            far_reader, far_writer = await asyncio.open_connection(host.strip("[]"), int(port))
            self.tunnels += 1
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(self._pass(reader, far_writer), self._pass(far_reader, writer))
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.TimeoutError):
            pass
        finally:
            writer.close()

    @staticmethod
    async def _pass(reader, writer):
        try:
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()
