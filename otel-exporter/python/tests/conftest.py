# Imported before any provider: otherwise the SDK's hook for forks waits forever.
import concurrent.futures.thread  # noqa: F401
import os
import stat

import pytest
import reader
from hypothesis import HealthCheck, settings

from trace_etl_exporter import _files, _pure

try:
    from trace_etl_exporter import _ring
except ImportError as error:
    # Without it half of the tests would be skipped unseen.
    raise pytest.UsageError(
        "trace_etl_exporter._ring, the writer in C, was not built: install a C compiler and the"
        f" headers of Python (apt-get install gcc python3-dev), then run the tests again. {error}"
    ) from error

settings.register_profile(
    "ring",
    database=None,
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("ring")

WRITERS = {"python": _pure.Writer, "c": _ring.Writer}


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for key in list(os.environ):
        if key.startswith("OTEL_"):
            monkeypatch.delenv(key)


@pytest.fixture
def directory(tmp_path):
    made = tmp_path / "rings"
    made.mkdir()
    yield made
    reader.close_all()


@pytest.fixture
def wake(directory):
    """Opens the reading end of the agent's FIFO."""
    path = directory / "wake"
    os.mkfifo(path)
    fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    assert stat.S_ISFIFO(os.fstat(fd).st_mode)
    yield fd
    os.close(fd)


@pytest.fixture(params=sorted(WRITERS))
def writer_type(request):
    return WRITERS[request.param]


@pytest.fixture
def new_writer(directory, writer_type):
    """Creates writers, each with its own ring."""
    made = []

    def new(kind=writer_type, resource=None, dictionary_bytes=1 << 16, ring_bytes=1 << 16):
        fd, path, header_bytes = _files.make(
            str(directory), resource or {}, dictionary_bytes, ring_bytes
        )
        writer = kind(fd, header_bytes, dictionary_bytes, ring_bytes, str(directory / "wake"))
        made.append(writer)
        return writer, path

    yield new
    for writer in made:
        writer.close()
