package org.traceetl.exporter;

import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import org.traceetl.exporter.ring.AttributeList;

/** What the tracers of a provider share. */
final class Recorder {
  /** How the sampler decides on a span whose parent does not. */
  enum Rule {
    ON,
    OFF,
    RATIO,
    /** The sampler is called for each span, with or without a parent. */
    ASK
  }

  final RingOutlet outlet;
  final Resource resource;
  final Clock clock;

  /** Null: random numbers. */
  final IdGenerator ids;

  final Sampler sampler;
  final Rule rule;
  final boolean parentBased;

  /** The sampler, if the rule is {@link Rule#RATIO}. */
  final RatioSampler ratio;

  final KeyCache keys = new KeyCache();
  final int maxAttributes;
  final int maxEvents;
  final int maxLinks;
  final int maxEventAttributes;
  final int maxLinkAttributes;
  final int maxValueLength;

  volatile boolean shutDown;

  Recorder(
      RingOutlet outlet,
      Resource resource,
      Clock clock,
      IdGenerator ids,
      Sampler sampler,
      SpanLimits limits) {
    this.outlet = outlet;
    this.resource = resource;
    this.clock = clock;
    this.ids = ids;
    this.sampler = sampler;
    ratio = sampler instanceof RatioSampler ? (RatioSampler) sampler : null;
    if (ratio != null) {
      rule = Rule.RATIO;
      parentBased = ratio.isParentBased();
    } else if (sampler.equals(Sampler.alwaysOn())) {
      rule = Rule.ON;
      parentBased = false;
    } else if (sampler.equals(Sampler.alwaysOff())) {
      rule = Rule.OFF;
      parentBased = false;
    } else if (sampler.equals(Sampler.parentBased(Sampler.alwaysOn()))) {
      rule = Rule.ON;
      parentBased = true;
    } else if (sampler.equals(Sampler.parentBased(Sampler.alwaysOff()))) {
      rule = Rule.OFF;
      parentBased = true;
    } else {
      rule = Rule.ASK;
      parentBased = false;
    }
    maxAttributes = limits.getMaxNumberOfAttributes();
    maxEvents = limits.getMaxNumberOfEvents();
    maxLinks = limits.getMaxNumberOfLinks();
    maxEventAttributes = limits.getMaxNumberOfAttributesPerEvent();
    maxLinkAttributes = limits.getMaxNumberOfAttributesPerLink();
    maxValueLength = limits.getMaxAttributeValueLength();
  }

  AttributeList newAttributes() {
    return new AttributeList(maxAttributes, maxValueLength);
  }
}
