"""What bulk consists of, for every end."""


def pattern(number, size):
    """The bytes of message `number`: byte `n` is `n * 31 + number`."""
    block = bytes((n * 31 + number) & 255 for n in range(256))
    return (block * (size // 256 + 1))[:size]
