"""Creates a ring's file, which is complete and locked before the agent can see it."""

import fcntl
import os
import secrets
import struct
import time
from collections.abc import Mapping

from ._pure import NoDictionary, put_attributes

MAGIC = b"TETLRING"
VERSION = 1
PAGE = 4096
RESOURCE = 1024
MAX_HEADER = 131_072

_HEADER = struct.Struct("<8sIIQQQQ16sII")
_ZEROS = 1 << 20


def make(
    directory: str, resource: Mapping[str, object], dictionary_bytes: int, ring_bytes: int
) -> tuple[int, str, int]:
    """Creates a ring and returns its descriptor, which holds the lock, its path and header size.

    Open no other descriptor of the file: closing it would release the lock. Raises OSError if the
    directory is missing, full, or not writable.
    """
    encoded, attributes = _resource(resource)
    header_bytes = -(-(RESOURCE + len(encoded)) // PAGE) * PAGE
    header = bytearray(RESOURCE)
    _HEADER.pack_into(
        header,
        0,
        MAGIC,
        VERSION,
        header_bytes,
        dictionary_bytes,
        ring_bytes,
        os.getpid(),
        _start_millis(),
        _boot_id(),
        len(encoded),
        attributes,
    )
    name = f"{os.getpid()}-{secrets.token_hex(8)}"
    temporary = os.path.join(directory, f".{name}.tmp")
    path = os.path.join(directory, f"{name}.ring")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    fd = os.open(temporary, flags, 0o660)
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)
        os.fchmod(fd, 0o660)
        _write_zeros(fd, header_bytes + dictionary_bytes + ring_bytes)
        os.pwrite(fd, header + encoded, 0)
        os.rename(temporary, path)
    except BaseException:
        try:
            os.unlink(temporary)
        finally:
            os.close(fd)
        raise
    return fd, path, header_bytes


def _write_zeros(fd: int, size: int) -> None:
    """Allocates the memory: a sparse file causes SIGBUS when tmpfs is full.

    posix_fallocate does not suffice: until its pages are written they are a hole to lseek, and so
    to the agent. A signal also makes it start again.
    """
    zeros = bytes(min(size, _ZEROS))
    at = 0
    while at < size:
        at += os.pwrite(fd, zeros[: size - at], at)


def _resource(resource: Mapping[str, object]) -> tuple[bytearray, int]:
    """Returns the attributes that fit into the largest header, and their number."""
    encoded = bytearray()
    attributes = 0
    for key, value in resource.items():
        attribute = bytearray()
        put_attributes(attribute, {key: value}, NoDictionary())
        if len(encoded) + len(attribute) <= MAX_HEADER - RESOURCE:
            encoded += attribute
            attributes += 1
    return encoded, attributes


def _boot_id() -> bytes:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return bytes.fromhex(file.read().strip().replace("-", ""))
    except (OSError, ValueError):
        return bytes(16)


def _start_millis() -> int:
    """Returns the start of the process in milliseconds since 1970; now if it is unknown."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        seconds = ticks / os.sysconf("SC_CLK_TCK")
        return int((time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + seconds) * 1000)
    except (OSError, ValueError, IndexError):
        return int(time.time() * 1000)
