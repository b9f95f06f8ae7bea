"""A picture of rectangles and small text, written as PNG with nothing but zlib."""

import struct
import zlib

# Three by five points a character, a row an octal digit from the top: 4 is the left point.
GLYPHS = dict(zip("0123456789abcdefghijklmnopqrstuvwxyz%.,:/+-", (
    "75557 26227 71747 71717 55711 74717 74757 71111 75757 75717 07375 44757 07447 11757 07747 32722"
    " 07571 44755 20222 10116 45655 22223 05775 06555 07557 07574 07571 06444 06736 27223 05557 05552"
    " 05775 05255 05571 07247 41245 00002 00024 02020 11244 02720 00700").split()))
SCALE = 2


class Canvas:
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.rows = [bytearray(b"\xff" * (3 * width)) for _ in range(height)]

    def fill(self, left, top, right, bottom, colour):
        """All points from left and top up to right and bottom, in `colour` = (red, green, blue)."""
        left, right = max(0, round(left)), min(self.width, round(right))
        if left < right:
            for row in self.rows[max(0, round(top)):max(0, round(bottom))]:
                row[3 * left:3 * right] = bytes(colour) * (right - left)

    def text(self, left, top, text, colour=(0, 0, 0)):
        for i, letter in enumerate(text.lower()):
            for y, row in enumerate(GLYPHS.get(letter, "00000")):
                for x in range(3):
                    if int(row) & 4 >> x:
                        at = left + (4 * i + x) * SCALE
                        self.fill(at, top + y * SCALE, at + SCALE, top + (y + 1) * SCALE, colour)

    def save(self, path):
        def chunk(kind, data):
            body = kind + data
            return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

        head = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        points = b"".join(b"\0" + bytes(row) for row in self.rows)
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
                         chunk(b"IDAT", zlib.compress(points, 9)) + chunk(b"IEND", b""))
