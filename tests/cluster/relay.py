"""Links that can be cut: a TCP relay for each way between two processes, all in one thread of ours.

A link that is held passes nothing on and says nothing, as a cable pulled out does; a link that is refused closes
what was open and takes nothing new, as a firewall does. Needs no privileges, so it works wherever the tests run.
"""
import asyncio
import threading

OPEN, HELD, REFUSED = "open", "held", "refused"


class Relays:
    """The thread and all its links; `with` ends them."""

    def __enter__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def link(self, port):
        """A new link to a port of this machine; its own port is `.port`."""
        return self.call(Link(self.loop, port).listen())

    def call(self, what):
        return asyncio.run_coroutine_threadsafe(what, self.loop).result(20)


class Link:
    def __init__(self, loop, target):
        self.loop, self.target, self.state, self.ends = loop, target, OPEN, set()

    async def listen(self):
        self.server = await self.loop.create_server(lambda: End(self), "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    def set(self, state, drop=False):
        """drop: what is open is closed as well, so that bytes held back are lost instead of late."""
        asyncio.run_coroutine_threadsafe(self.change(state, drop), self.loop).result(20)

    async def change(self, state, drop):
        self.state = state
        for end in list(self.ends):
            if drop or state == REFUSED:
                end.close()
            elif state == HELD:
                end.hold()
            else:
                end.release()


class End(asyncio.Protocol):
    """One side of a connection; its peer is the other."""

    def __init__(self, link, peer=None):
        self.link, self.peer, self.transport = link, peer, None

    def connection_made(self, transport):
        self.transport = transport
        self.link.ends.add(self)
        if self.link.state == REFUSED:
            self.close()
            return
        transport.pause_reading()
        if self.peer:  # the far side answers: now bytes may flow
            self.release(), self.peer.release()
        elif self.link.state == OPEN:
            self.reach()

    def reach(self):
        self.peer = End(self.link, self)
        self.link.loop.create_task(self.connect())

    async def connect(self):
        try:
            await self.link.loop.create_connection(lambda: self.peer, "127.0.0.1", self.link.target)
        except OSError:
            self.close()

    def hold(self):
        self.transport.pause_reading()

    def release(self):
        if self.link.state != OPEN or not self.transport or self.transport.is_closing():
            return
        if not self.peer:
            self.reach()
        elif self.peer.transport:
            self.transport.resume_reading()

    def data_received(self, data):
        self.peer.transport.write(data)

    def pause_writing(self):
        if self.peer and self.peer.transport:
            self.peer.transport.pause_reading()

    def resume_writing(self):
        if self.peer:
            self.peer.release()

    def close(self):
        for end in (self, self.peer):
            if end and end.transport:
                end.transport.abort()

    def connection_lost(self, _):
        self.link.ends.discard(self)
        if self.peer and self.peer.transport and not self.peer.transport.is_closing():
            self.peer.transport.close()
