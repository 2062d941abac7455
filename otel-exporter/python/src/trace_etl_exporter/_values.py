"""Attribute values that have no type of their own in a ring: as text."""

import base64
import json
import math
from collections.abc import Mapping, Sequence

STRING = 0
JSON = 5
BASE64 = 6


def other_value(value: object) -> tuple[int, str]:
    """The type byte and the text of a value that is no str, bool, float or int of 64 bits.

    What is nothing, or cannot be said, is the empty string, as OTLP has it for None.
    """
    try:
        if value is None:
            return STRING, ""
        if isinstance(value, (bytes, bytearray, memoryview)):
            return BASE64, base64.b64encode(value).decode("ascii")
        if isinstance(value, (Sequence, Mapping)):
            text = json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"))
            return JSON, text
        return STRING, str(value)
    except Exception:  # any __str__, __iter__ of the application's may run in there
        return STRING, ""


def _plain(value: object) -> object:
    """As JSON knows it, in the way in which the agent writes OTLP's arrays and maps."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Mapping):
        return {str(key): _plain(member) for key, member in value.items()}
    if isinstance(value, Sequence):
        return [_plain(member) for member in value]
    return str(value)
