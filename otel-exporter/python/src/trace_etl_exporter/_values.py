"""Encodes attribute values that have no type in a ring as text."""

import base64
import json
import math
from collections.abc import Mapping, Sequence

STRING = 0
JSON = 5
BASE64 = 6


def other_value(value: object) -> tuple[int, str]:
    """Returns type byte and text of a value that is not a str, bool, float or 64-bit int.

    None, and a value that fails to convert, become the empty string, as in OTLP for None.
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
    except Exception:  # the application's __str__ or __iter__ may fail
        return STRING, ""


def _plain(value: object) -> object:
    """Returns the value in JSON's types, as the agent writes OTLP's arrays and maps."""
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
