package org.traceetl.exporter;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.traces.ConfigurableSamplerProvider;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.SpanLimitsBuilder;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ServiceLoader;
import java.util.function.IntConsumer;

/** Reads resource, sampler and limits from the SDK's keys. */
final class TraceSettings {
  private static final String SAMPLER = "otel.traces.sampler";
  private static final String SAMPLER_ARGUMENT = "otel.traces.sampler.arg";

  private TraceSettings() {}

  static boolean isDisabled(ConfigProperties config) {
    return config.getBoolean("otel.sdk.disabled", false);
  }

  /** Returns the SDK's resource with the attributes of the environment. */
  static Resource resource(ConfigProperties config) {
    AttributesBuilder attributes = Attributes.builder();
    config
        .getMap("otel.resource.attributes")
        .forEach((key, value) -> attributes.put(key, decoded(value)));
    String service = config.getString("otel.service.name");
    if (service != null && !service.isBlank()) {
      attributes.put("service.name", service);
    }
    return Resource.getDefault().merge(Resource.create(attributes.build()));
  }

  /** Decodes percent signs, as in W3C baggage. */
  private static String decoded(String value) {
    try {
      return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      // A percent sign that starts no code.
      return value;
    }
  }

  /**
   * Returns the sampler of {@code otel.traces.sampler}.
   *
   * @throws io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException if it is unknown, or its
   *     argument is invalid
   */
  static Sampler sampler(ConfigProperties config) {
    String name = config.getString(SAMPLER, "parentbased_always_on").trim();
    switch (name) {
      case "always_on":
        return Sampler.alwaysOn();
      case "always_off":
        return Sampler.alwaysOff();
      case "traceidratio":
        return ratio(config, false);
      case "":
      case "parentbased_always_on":
        return Sampler.parentBased(Sampler.alwaysOn());
      case "parentbased_always_off":
        return Sampler.parentBased(Sampler.alwaysOff());
      case "parentbased_traceidratio":
        return ratio(config, true);
      default:
        return named(name, config);
    }
  }

  private static Sampler ratio(ConfigProperties config, boolean parentBased) {
    double ratio = config.getDouble(SAMPLER_ARGUMENT, 1);
    try {
      return new RatioSampler(ratio, parentBased);
    } catch (IllegalArgumentException e) {
      throw Environment.invalid(SAMPLER_ARGUMENT, Double.toString(ratio), "from 0 to 1");
    }
  }

  private static Sampler named(String name, ConfigProperties config) {
    for (ConfigurableSamplerProvider provider :
        ServiceLoader.load(
            ConfigurableSamplerProvider.class, TraceSettings.class.getClassLoader())) {
      if (provider.getName().equals(name)) {
        return provider.createSampler(config);
      }
    }
    throw Environment.invalid(
        SAMPLER,
        name,
        "always_on, always_off, traceidratio, one of them after parentbased_, or a sampler on the"
            + " class path");
  }

  static SpanLimits limits(ConfigProperties config) {
    SpanLimitsBuilder limits = SpanLimits.builder();
    set(config, "otel.attribute.value.length.limit", limits::setMaxAttributeValueLength);
    set(config, "otel.span.attribute.value.length.limit", limits::setMaxAttributeValueLength);
    set(
        config,
        "otel.attribute.count.limit",
        most -> {
          limits.setMaxNumberOfAttributes(most);
          limits.setMaxNumberOfAttributesPerEvent(most);
          limits.setMaxNumberOfAttributesPerLink(most);
        });
    set(config, "otel.span.attribute.count.limit", limits::setMaxNumberOfAttributes);
    set(config, "otel.span.event.count.limit", limits::setMaxNumberOfEvents);
    set(config, "otel.span.link.count.limit", limits::setMaxNumberOfLinks);
    return limits.build();
  }

  private static void set(ConfigProperties config, String key, IntConsumer limit) {
    Integer value = config.getInt(key);
    if (value == null) {
      return;
    }
    try {
      limit.accept(value);
    } catch (IllegalArgumentException e) {
      throw Environment.invalid(key, value.toString(), "a limit that the SDK allows");
    }
  }
}
