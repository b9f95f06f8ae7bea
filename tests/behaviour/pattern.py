"""The bytes that the table of behaviour is about, and their checksums (CRC32C), without a package."""


def _table():
    rows = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        rows.append(value)
    return rows


_TABLE = _table()


def pattern(size, offset=0):
    """Byte i is i mod 251, so that no two places that a power of two lies between are alike."""
    first = offset % 251
    return (bytes(range(251)) * ((first + size) // 251 + 1))[first:first + size]


def crc32c(data):
    crc, table = 0xFFFFFFFF, _TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _applied(matrix, vector):
    value = 0
    for row in matrix:
        if vector & 1:
            value ^= row
        vector >>= 1
    return value


def combined(first, second, length, repeats=1):
    """The checksum of what has `first`, and then so many times `length` bytes that have `second`."""
    zero_bit = [0x82F63B78] + [1 << bit for bit in range(31)]
    bits, power, shift = 8 * length, zero_bit, [1 << bit for bit in range(32)]
    while bits:
        if bits & 1:
            shift = [_applied(power, row) for row in shift]
        power = [_applied(power, row) for row in power]
        bits >>= 1
    for _ in range(repeats):
        first = _applied(shift, first) ^ second
    return first
