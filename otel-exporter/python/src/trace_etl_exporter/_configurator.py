"""Sets up the SDK for opentelemetry-instrument with the tracer provider of our own."""

import logging
import os

from opentelemetry import trace
from opentelemetry.sdk._configuration import _OTelSDKConfigurator

from ._provider import TracerProvider

NAME = "trace-etl"


class Configurator(_OTelSDKConfigurator):
    """As the SDK's own, but for traces where OTEL_PYTHON_TRACER_PROVIDER is trace-etl.

    opentelemetry-instrument takes the configurator that it finds first if OTEL_PYTHON_CONFIGURATOR
    names none, so this one does nothing of its own unless the provider is asked for.
    """

    def _configure(self, **kwargs) -> None:
        if os.environ.get("OTEL_PYTHON_TRACER_PROVIDER", "").strip() != NAME:
            super()._configure(**kwargs)
            return
        trace.set_tracer_provider(TracerProvider())
        # The SDK makes its provider all the same: without exporters, and refused by the API, which
        # would log that.
        log = logging.getLogger(trace.__name__)
        log.addFilter(_is_no_refusal)
        exporters = {
            key: os.environ.pop(key) for key in ("OTEL_TRACES_EXPORTER",) if key in os.environ
        }
        try:
            super()._configure(**kwargs)
        finally:
            os.environ.update(exporters)
            log.removeFilter(_is_no_refusal)


def _is_no_refusal(record: logging.LogRecord) -> bool:
    return "Overriding of current TracerProvider" not in record.getMessage()
