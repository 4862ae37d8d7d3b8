"""A camera whose pictures carry the frame stamp, for peers that take pictures from Python."""

import numpy as np

from harness import stamps

WIDTH, HEIGHT, RATE = 640, 360, 30


class Camera:
    """A smooth picture that moves: two points to the left with every frame."""

    def __init__(self, width=WIDTH, height=HEIGHT):
        self.width = width
        across = np.arange(2 * width, dtype=np.float32) / width
        wave = (96 + 64 * np.sin(across * 2 * np.pi)).astype(np.uint8)
        down = np.linspace(0, 64, height).astype(np.uint8)
        self.wide = np.stack(
            [wave[None, :] + down[:, None], wave[None, ::-1] // 2 + down[:, None],
             np.broadcast_to(down[:, None] + 64, (height, 2 * width))], axis=2).astype(np.uint8)

    def picture(self, index):
        """Height x width x 3, stamped with `index` and the time."""
        at = index * 2 % self.width
        picture = np.ascontiguousarray(self.wide[:, at : at + self.width])
        stamps.draw(picture, index)
        return picture
