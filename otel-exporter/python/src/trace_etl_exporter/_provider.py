"""Provides tracers on OpenTelemetry's API whose spans go directly into the ring."""

import atexit
import os
import re
from collections.abc import Mapping

from opentelemetry import trace
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, sampling
from opentelemetry.sdk.trace import TracerProvider as SdkTracerProvider
from opentelemetry.sdk.util import BoundedList
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.util._importlib_metadata import entry_points

from ._outlet import Outlet, Writer, _logger
from ._sdk import RingSpanProcessor

try:
    from . import _ring

    trace.Span.register(_ring.Span)
    trace.Tracer.register(_ring.Tracer)
except ImportError:
    _ring = None

_DEFAULT_SAMPLER = "parentbased_always_on"
_ON, _OFF, _RATIO, _ASK = range(4)


class _RingTracerProvider(trace.TracerProvider):
    """Creates tracers whose spans end() writes into the ring.

    Sampler, limits and resource are the SDK's, from the same environment. Span processors and ID
    generators are not supported. Without an agent, spans go to OTLP as ReadableSpan.
    """

    def __init__(
        self,
        sampler: sampling.Sampler | None = None,
        resource: Resource | None = None,
        shutdown_on_exit: bool = True,
        span_limits: SpanLimits | None = None,
        outlet: Outlet | None = None,
    ) -> None:
        self._own_resource = resource is None
        self._resource = Resource.create() if resource is None else resource
        self._resource_pid = os.getpid()
        self._disabled = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
        self._outlet = outlet or Outlet(lambda: self.resource.attributes)
        self.sampler = sampler or _sampler_of_environment()
        limits = span_limits or SpanLimits()
        root, parent_based, bound = _decision(self.sampler)
        self._recorder = _ring.Recorder(
            self,
            self._elsewhere,
            self.sampler,
            root,
            parent_based,
            bound,
            _number(limits.max_span_attributes),
            _number(limits.max_events),
            _number(limits.max_links),
            _number(limits.max_event_attributes),
            _number(limits.max_link_attributes),
            _number(limits.max_attribute_length),
            _number(limits.max_span_attribute_length),
        )
        self._outlet.on_writer = self._set_writer
        self._set_writer(self._outlet.writer)
        self._at_exit = atexit.register(self.shutdown) if shutdown_on_exit else None

    @property
    def resource(self) -> Resource:
        if self._own_resource and self._resource_pid != os.getpid():
            # A forked process is another service instance.
            self._resource_pid = os.getpid()
            self._resource = self._resource.merge(Resource.create())
        return self._resource

    def get_tracer(
        self,
        instrumenting_module_name: str,
        instrumenting_library_version: str | None = None,
        schema_url: str | None = None,
        attributes: Mapping | None = None,
    ) -> trace.Tracer:
        if self._disabled:
            return trace.NoOpTracer()
        scope = InstrumentationScope(
            instrumenting_module_name or "",
            instrumenting_library_version or "",
            schema_url,
            attributes,
        )
        return _ring.Tracer(self._recorder, scope)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._outlet.force_flush(timeout_millis)

    def shutdown(self) -> None:
        """Closes the ring; spans that end later are dropped. Idempotent."""
        self._outlet.shutdown()
        if self._at_exit is not None:
            atexit.unregister(self._at_exit)
            self._at_exit = None

    def _set_writer(self, writer) -> None:
        self._recorder.writer = writer

    def _elsewhere(self, span, refused: Writer | None) -> None:
        """Accepts a span that found no ring: the first one, one after a fork, one without agent."""
        self._outlet.write_elsewhere(_readable(span), refused)


def TracerProvider(
    sampler: sampling.Sampler | None = None,
    resource: Resource | None = None,
    shutdown_on_exit: bool = True,
    span_limits: SpanLimits | None = None,
    outlet: Outlet | None = None,
) -> trace.TracerProvider:
    """Returns this package's provider, or the SDK's if the extension is missing.

    Parameters other than `outlet` are those of the SDK's TracerProvider, with its defaults.
    """
    if _ring is not None:
        return _RingTracerProvider(sampler, resource, shutdown_on_exit, span_limits, outlet)
    provider = SdkTracerProvider(sampler, resource, shutdown_on_exit, span_limits=span_limits)
    provider.add_span_processor(RingSpanProcessor(provider, outlet))
    return provider


def _number(limit: int | None) -> int:
    return -1 if limit is None else limit


def _sampler_of_environment() -> sampling.Sampler:
    """Returns the sampler that OTEL_TRACES_SAMPLER names, as the SDK's configuration does."""
    name = os.environ.get("OTEL_TRACES_SAMPLER", "").strip() or _DEFAULT_SAMPLER
    argument = os.environ.get("OTEL_TRACES_SAMPLER_ARG")
    try:
        if name in ("traceidratio", "parentbased_traceidratio"):
            try:
                argument = float(argument or "")
            except ValueError:
                _logger.warning(
                    "OTEL_TRACES_SAMPLER_ARG = %s is not a number: the ratio is 1.", argument
                )
                argument = 1.0
        (entry_point,) = entry_points(group="opentelemetry_traces_sampler", name=name)
        return entry_point.load()(argument)
    except Exception as error:
        _logger.warning(
            "Could not use OTEL_TRACES_SAMPLER = %s (%s): using %s.", name, error, _DEFAULT_SAMPLER
        )
        return sampling.DEFAULT_ON


_PARENT_BASED = re.compile(
    r"ParentBased\{root:(.*),remoteParentSampled:AlwaysOnSampler,"
    r"remoteParentNotSampled:AlwaysOffSampler,localParentSampled:AlwaysOnSampler,"
    r"localParentNotSampled:AlwaysOffSampler\}"
)


def _decision(sampler: sampling.Sampler) -> tuple[int, bool, int]:
    """Returns how the extension decides for the sampler; _ASK: it calls the sampler per span."""
    if type(sampler).__module__ != sampling.__name__:
        return _ASK, False, 0
    description = sampler.get_description()
    parent_based = _PARENT_BASED.fullmatch(description)
    root = parent_based[1] if parent_based else description
    if root == "AlwaysOnSampler":
        return _ON, bool(parent_based), 0
    if root == "AlwaysOffSampler":
        return _OFF, bool(parent_based), 0
    ratio = re.fullmatch(r"TraceIdRatioBased\{([-+.e0-9]+)\}", root)
    if ratio is None:
        return _ASK, False, 0
    bound = sampling.TraceIdRatioBased.get_bound_for_rate(float(ratio[1]))
    if bound >= 1 << 64:
        return _ON, bool(parent_based), 0
    return _RATIO, bool(parent_based), bound


def _readable(span) -> ReadableSpan:
    attributes = BoundedAttributes(attributes=span.attributes)
    attributes.dropped = span.dropped_attributes
    events = BoundedList.from_seq(None, span.events)
    events.dropped = span.dropped_events
    links = BoundedList.from_seq(None, span.links)
    links.dropped = span.dropped_links
    return ReadableSpan(
        name=span.name,
        context=span.get_span_context(),
        parent=span.parent,
        resource=span.resource,
        attributes=attributes,
        events=events,
        links=links,
        kind=span.kind,
        status=span.status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )
