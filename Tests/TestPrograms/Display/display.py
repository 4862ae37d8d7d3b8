#!/usr/bin/python3
"""What a person does in front of a screen: looks at it, presses keys, closes and resizes windows. For the display in DISPLAY.

    display.py shot FILE       write what is seen: width, height as text in a line each, then red, green, blue for each pixel
    display.py key NAME        press a key, with the focus on the newest window
    display.py close           ask the newest window to close
    display.py resize W H      give the newest window another size
    display.py fill X Y W H R G B      paint a part of the screen, over everything
    display.py point X Y       move the pointer
    display.py monitor NAME X Y W H    have a monitor there, in place of another of this name
    display.py unplug NAME     take a monitor away"""

import sys

from Xlib import X, XK, display
from Xlib.ext import randr, xtest
from Xlib.protocol import event, rq

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


def fill(x, y, width, height, red, green, blue):
    color = int(red) << 16 | int(green) << 8 | int(blue)
    context = root.create_gc(foreground=color, subwindow_mode=X.IncludeInferiors)
    root.fill_rectangle(context, int(x), int(y), int(width), int(height))


def point(x, y):
    xtest.fake_input(connection, X.MotionNotify, x=int(x), y=int(y))


class SetMonitor(rq.Request):
    # python3-xlib 0.33 can't write the one of its own.
    _request = rq.Struct(
        rq.Card8("opcode"), rq.Opcode(43), rq.RequestLength(), rq.Window("window"), rq.Card32("name"), rq.Bool("primary"),
        rq.Bool("automatic"), rq.LengthOf("outputs", 2), rq.Int16("x"), rq.Int16("y"), rq.Card16("width"),
        rq.Card16("height"), rq.Card32("millimeters_wide"), rq.Card32("millimeters_high"),
        rq.List("outputs", rq.Card32Obj))


def monitor(name, x, y, width, height):
    atom = connection.intern_atom(name)
    # Nobody sees that it is away in between.
    connection.grab_server()
    if atom in [one.name for one in randr.get_monitors(root).monitors]:
        unplug(name)
    SetMonitor(
        display=connection.display, opcode=connection.display.get_extension_major(randr.extname), window=root, name=atom, primary=0, automatic=0, x=int(x), y=int(y), width=int(width),
        height=int(height), millimeters_wide=0, millimeters_high=0, outputs=[])
    connection.ungrab_server()


def unplug(name):
    randr.delete_monitor(root, connection.intern_atom(name))


{"shot": shot, "key": key, "close": close, "resize": resize, "fill": fill, "point": point, "monitor": monitor,
 "unplug": unplug}[sys.argv[1]](*sys.argv[2:])
connection.sync()
