#!/usr/bin/python3
"""What a person does in front of a screen: looks at it, presses keys, closes and resizes windows. For the display in DISPLAY.

    display.py shot FILE       write what is seen: width, height as text in a line each, then red, green, blue for each pixel
    display.py key NAME        press a key, with the focus on the newest window
    display.py close           ask the newest window to close
    display.py resize W H      give the newest window another size"""

import sys

from Xlib import X, XK, display
from Xlib.ext import xtest
from Xlib.protocol import event

connection = display.Display()
root = connection.screen().root


def newest():
    """The window on top; the last that was opened."""
    shown = [one for one in root.query_tree().children if one.get_attributes().map_state == X.IsViewable]
    if not shown:
        sys.exit("display.py: no window is there")
    return shown[-1]


def shot(path):
    size = root.get_geometry()
    data = root.get_image(0, 0, size.width, size.height, X.ZPixmap, 0xFFFFFFFF).data
    pixels = bytearray(size.width * size.height * 3)
    # 24 bits of depth: blue, green, red and a byte of nothing.
    for channel in range(3):
        pixels[channel::3] = data[2 - channel::4]
    with open(path, "wb") as file:
        file.write(f"{size.width}\n{size.height}\n".encode() + pixels)


def key(name):
    window = newest()
    window.set_input_focus(X.RevertToParent, X.CurrentTime)
    connection.sync()
    code = connection.keysym_to_keycode(XK.string_to_keysym(name))
    xtest.fake_input(connection, X.KeyPress, code)
    xtest.fake_input(connection, X.KeyRelease, code)


def close():
    window = newest()
    protocols, delete = (connection.intern_atom(name) for name in ("WM_PROTOCOLS", "WM_DELETE_WINDOW"))
    window.send_event(
        event.ClientMessage(window=window, client_type=protocols, data=(32, [delete, X.CurrentTime, 0, 0, 0])))


def resize(width, height):
    newest().configure(width=int(width), height=int(height))


{"shot": shot, "key": key, "close": close, "resize": resize}[sys.argv[1]](*sys.argv[2:])
connection.sync()
