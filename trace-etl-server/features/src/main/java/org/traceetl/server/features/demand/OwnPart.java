package org.traceetl.server.features.demand;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.KeyRule;
import org.traceetl.proto.Demand.Part;
import org.traceetl.proto.Demand.SlowRule;
import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.config.DocumentsConfig.Threshold;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.series.SpanNeeds;

/**
 * What servers with this server's configuration and rules need. Servers that need the same and read
 * the same formats have one part.
 *
 * @param fingerprint of the content, 32 hexadecimal digits
 * @param part published at no time yet
 */
record OwnPart(String fingerprint, Part part) {
  private static final Logger LOG = LoggerFactory.getLogger(OwnPart.class);
  private static final int FORMATS =
      Demand.BUNDLES
          | Demand.PANES
          | Demand.HEARTBEATS
          | Demand.OPEN_PANES
          | Demand.LABELS
          | Demand.FORMS
          | Demand.VARIANCES;
  private static final String ALL = "*";
  private static final int FINGERPRINT_BYTES = Demand.MAX_FINGERPRINT_BYTES / 2;

  /**
   * @param everything whether series may depend on any attribute
   * @param needs what rules need in addition to the configuration
   */
  static OwnPart of(CoreConfig config, DemandConfig own, boolean everything, SpanNeeds needs) {
    int formats =
        FORMATS
            | (config.metrics().size() ? Demand.SIZES : 0)
            | (config.edges().enabled() ? Demand.EDGES : 0);
    Duration interval = own.exemplarInterval();
    int intervalMillis =
        Math.toIntExact((interval == null ? config.window().length() : interval).toMillis());
    List<String> edgeKeys =
        config.edges().enabled()
            ? config.edges().dimensions().stream().sorted().toList()
            : List.of();
    Part part = null;
    if (!everything) {
      part = part(config, needs, intervalMillis, own.full(), formats, edgeKeys);
    }
    if (part == null) {
      part =
          new Part(
              0,
              1,
              true,
              intervalMillis,
              List.of(),
              List.of(),
              0,
              own.full(),
              formats,
              edgeKeys,
              List.of());
    }
    return new OwnPart(fingerprint(part), part);
  }

  /** Returns null if a record cannot contain it. */
  private static Part part(
      CoreConfig config,
      SpanNeeds needs,
      int intervalMillis,
      List<String> full,
      int formats,
      List<String> edgeKeys) {
    Set<String> ofAll =
        config.series().dimensions().stream()
            .filter(dimension -> dimension.from().readsSpan())
            .map(Dimension::attribute)
            .collect(Collectors.toCollection(HashSet::new));
    config.measures().forEach(measure -> ofAll.addAll(measure.attributes()));
    ofAll.addAll(needs.attributes().getOrDefault(ALL, Set.of()));
    List<String> keys =
        Stream.concat(ofAll.stream(), needs.attributes().values().stream().flatMap(Set::stream))
            .distinct()
            .sorted()
            .toList();
    long otherwiseNanos = needs.slow().otherwise().toNanos();
    try {
      List<SlowRule> rules = new ArrayList<>();
      for (Threshold threshold : needs.slow().exceptions()) {
        rules.add(
            new SlowRule(
                threshold.application(),
                bits(threshold.kinds()),
                threshold.slowerThan().toNanos()));
      }
      return new Part(
          0,
          1,
          false,
          intervalMillis,
          keys,
          rules,
          otherwiseNanos,
          full,
          formats,
          edgeKeys,
          keyRules(keys, ofAll, needs.attributes()));
    } catch (IllegalArgumentException e) {
      LOG.warn(
          "Agents must send all spans in full: the demand is limited to {} dimensions of spans, {}"
              + " thresholds and {} bytes for each key or pattern: {}",
          Demand.MAX_KEYS,
          Demand.MAX_RULES,
          Demand.MAX_TEXT_BYTES,
          e.getMessage());
      return null;
    }
  }

  /**
   * Returns the rules of keys that only some applications need.
   *
   * @param ofAll keys that all applications need
   * @param byPattern further keys by the pattern of their applications
   */
  private static List<KeyRule> keyRules(
      List<String> keys, Set<String> ofAll, Map<String, Set<String>> byPattern) {
    List<KeyRule> rules =
        byPattern.entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(each -> new KeyRule(each.getKey(), places(keys, ofAll, each.getValue())))
            .filter(rule -> rule.keys() != 0)
            .toList();
    // Several revisions may have more patterns in turn than a part: agents then send a little more.
    return rules.size() > Demand.MAX_KEY_RULES ? List.of() : rules;
  }

  private static long places(List<String> keys, Set<String> ofAll, Set<String> needed) {
    return IntStream.range(0, keys.size())
        .filter(place -> needed.contains(keys.get(place)) && !ofAll.contains(keys.get(place)))
        .mapToLong(place -> 1L << place)
        .sum();
  }

  private static int bits(Set<SpanKind> kinds) {
    return kinds.stream().mapToInt(kind -> 1 << kind.ordinal()).sum();
  }

  private static String fingerprint(Part part) {
    byte[] content = new Demand(part.changedEpoch(), 0, Map.of("content", part)).encode();
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
      return HexFormat.of().formatHex(digest, 0, FINGERPRINT_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("This JVM has no SHA-256", e);
    }
  }
}
