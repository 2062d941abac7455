"""Sets up the SDK for opentelemetry-instrument with this package's tracer provider."""

import logging
import os

from opentelemetry import trace
from opentelemetry.sdk._configuration import _OTelSDKConfigurator

from ._provider import TracerProvider

NAME = "trace-etl"


class Configurator(_OTelSDKConfigurator):
    """Configures the SDK, with this package's provider if OTEL_PYTHON_TRACER_PROVIDER is trace-etl.

    If OTEL_PYTHON_CONFIGURATOR is not set, opentelemetry-instrument uses the first configurator
    that it finds. So this one works as the SDK's unless this package's provider is configured.
    """

    def _configure(self, **kwargs) -> None:
        if os.environ.get("OTEL_PYTHON_TRACER_PROVIDER", "").strip() != NAME:
            super()._configure(**kwargs)
            return
        trace.set_tracer_provider(TracerProvider())
        # The SDK also creates its provider, without exporters. The API refuses it, and would log
        # that.
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
