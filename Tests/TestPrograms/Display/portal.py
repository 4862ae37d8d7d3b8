#!/usr/bin/env python3
"""A portal with one screen: the node of PipeWire's that is called `screen`. What it is asked for becomes the token that it gives.

    portal.py fair       as portals of version 5 are, but quick: each answer is there before the reply that names it
    portal.py first      as version 1 was: it knows no pointers and keeps nothing
    portal.py asks       waits for `Answer` of org.example.Desktop
    portal.py ends       ends the request in place of an answer
    portal.py errs       takes no sources
    portal.py nonsense   answers with streams that are none

`End` of org.example.Desktop ends its sessions."""

import json
import os
import socket
import subprocess
import sys
import time

import dbus
import dbus.lowlevel
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.freedesktop.portal.Desktop"
PATH = "/org/freedesktop/portal/desktop"
SCREEN_CAST = "org.freedesktop.portal.ScreenCast"


def node():
    while True:
        for thing in json.loads(subprocess.run(["pw-dump"], capture_output=True, check=True).stdout):
            if thing.get("info", {}).get("props", {}).get("node.name") == "screen":
                return thing["id"]
        time.sleep(0.05)


class Portal(dbus.service.Object):
    def __init__(self, bus, kind):
        super().__init__(bus, PATH)
        self.bus, self.kind, self.sessions, self.wishes, self.question = bus, kind, [], "", None

    def tell(self, receiver, path, interface, member, signature, *values):
        message = dbus.lowlevel.SignalMessage(path, interface, member)
        message.append(*values, signature=signature)
        message.set_destination(receiver)
        self.bus.send_message(message)

    @staticmethod
    def request(sender, options):
        return f"{PATH}/request/{sender[1:].replace('.', '_')}/{options['handle_token']}"

    def answer(self, sender, options, code=0, results=None):
        path = self.request(sender, options)
        self.tell(sender, path, "org.freedesktop.portal.Request", "Response", "ua{sv}", dbus.UInt32(code),
                  dbus.Dictionary(results or {}, signature="sv"))
        return path

    @dbus.service.method("org.freedesktop.DBus.Properties", in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        known = {"version": 1 if self.kind == "first" else 5, "AvailableSourceTypes": 3}
        if self.kind != "first":
            known["AvailableCursorModes"] = 3
        if interface != SCREEN_CAST or name not in known:
            raise dbus.exceptions.DBusException("no such property", name="org.freedesktop.DBus.Error.InvalidArgs")
        return dbus.UInt32(known[name])

    @dbus.service.method(SCREEN_CAST, in_signature="a{sv}", out_signature="o", sender_keyword="sender")
    def CreateSession(self, options, sender):
        path = f"{PATH}/session/{sender[1:].replace('.', '_')}/{options['session_handle_token']}"
        self.sessions.append((sender, path))
        return self.answer(sender, options, results={"session_handle": path})

    @dbus.service.method(SCREEN_CAST, in_signature="oa{sv}", out_signature="o", sender_keyword="sender")
    def SelectSources(self, session, options, sender):
        if self.kind == "errs":
            raise dbus.exceptions.DBusException("there are no sources today", name="org.freedesktop.portal.Error.Failed")
        names = sorted(name for name in options if name != "handle_token")
        self.wishes = " ".join(f"{name}={options[name]}" for name in names)
        return self.answer(sender, options)

    @dbus.service.method(SCREEN_CAST, in_signature="osa{sv}", out_signature="o", sender_keyword="sender")
    def Start(self, session, parent, options, sender):
        if self.kind == "ends":
            return self.answer(sender, options, code=2)
        if self.kind == "nonsense":
            return self.answer(sender, options, results={"streams": "none", "restore_token": dbus.UInt32(1)})
        if self.kind == "asks":
            self.question = (sender, options)
            return self.request(sender, options)
        return self.show(sender, options)

    def show(self, sender, options):
        size = dbus.Struct((dbus.Int32(-1), dbus.Int32(2**31 - 1)), signature="ii")
        stream = dbus.Struct((dbus.UInt32(node()), dbus.Dictionary({"size": size}, signature="sv")), signature="ua{sv}")
        streams = dbus.Array([stream], signature="(ua{sv})")
        return self.answer(sender, options, results={"streams": streams, "restore_token": self.wishes, "other": dbus.Byte(1)})

    @dbus.service.method(SCREEN_CAST, in_signature="oa{sv}", out_signature="h")
    def OpenPipeWireRemote(self, session, options):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(os.environ["XDG_RUNTIME_DIR"] + "/pipewire-0")
        return dbus.types.UnixFd(connection)

    @dbus.service.method("org.example.Desktop", in_signature="b", out_signature="")
    def Answer(self, allows):
        if not self.question:
            raise dbus.exceptions.DBusException("nobody has asked")
        (sender, options), self.question = self.question, None
        if allows:
            self.show(sender, options)
        else:
            self.answer(sender, options, code=1)

    @dbus.service.method("org.example.Desktop", in_signature="", out_signature="")
    def End(self):
        for receiver, path in self.sessions:
            # First another's, which is none of theirs.
            for ended in (PATH + "/session/other", path):
                self.tell(receiver, ended, "org.freedesktop.portal.Session", "Closed", "a{sv}",
                          dbus.Dictionary({}, signature="sv"))


def main():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    portal = Portal(bus, sys.argv[1])
    name = dbus.service.BusName(NAME, bus)
    GLib.MainLoop().run()
    del portal, name


main()
