package org.traceetl.server.binding;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.orElse;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.traceetl.common.ConfigException;
import org.traceetl.server.config.AgentsConfig;
import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.config.DeduplicationConfig;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.EdgesConfig;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.JournalConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.Profile;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.config.WebConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.rules.EffectiveRules;

/**
 * The whole configuration of a server: {@code trace-etl}. A missing part is its default.
 *
 * @param histogram default: the bounds of the profile
 * @param ofFeatures the configuration of each feature, by prefix: {@code trace-etl.<prefix>}
 * @param ofProfiles the profiles' own keys by {@link Profile#id}: {@code trace-etl.<id>}; default
 *     those of each profile
 * @param drainWithin how long a server may take to seal and store at shutdown; default 20 s
 */
public record ServerConfig(
    RocketMqConfig rocketmq,
    JournalConfig journal,
    WindowConfig window,
    SeriesConfig series,
    HistogramConfig histogram,
    DocumentsConfig documents,
    MetricsConfig metrics,
    Map<String, Record> ofFeatures,
    Map<String, Record> ofProfiles,
    EventsConfig events,
    DeduplicationConfig deduplication,
    AgentsConfig agents,
    EdgesConfig edges,
    List<MeasureConfig> measures,
    WebConfig web,
    Duration drainWithin)
    implements CoreConfig {
  private static final Duration MAX_DRAIN = Duration.ofMinutes(10);

  public ServerConfig {
    rocketmq = orElse(rocketmq, new RocketMqConfig(null, null, null, null, null, null));
    journal = orElse(journal, JournalConfig.defaults());
    window = orElse(window, new WindowConfig(null, null, null, null, null));
    series = orElse(series, SeriesConfig.defaults());
    metrics = orElse(metrics, MetricsConfig.defaults());
    histogram = orElse(histogram, metrics.profile().histogram());
    documents = orElse(documents, DocumentsConfig.defaults());
    ofFeatures = Features.withDefaults(orElse(ofFeatures, Map.of()), metrics.profile());
    ofProfiles = settings(orElse(ofProfiles, Map.of()));
    events = orElse(events, EventsConfig.defaults());
    deduplication = orElse(deduplication, DeduplicationConfig.defaults());
    agents = orElse(agents, AgentsConfig.defaults());
    edges = orElse(edges, EdgesConfig.defaults());
    measures = List.copyOf(orElse(measures, List.of()));
    web = orElse(web, WebConfig.open());
    drainWithin = orElse(drainWithin, Duration.ofSeconds(20));
    check(
        web.accessFile() == null || metrics.profile() instanceof StandardProfile,
        "trace-etl.web.access-file",
        web.accessFile(),
        "requires a profile whose series and documents have the names of applications unchanged,"
            + " other than "
            + metrics.profile().id());
    check(
        !journal.topic().equals(rocketmq.topic()),
        "trace-etl.journal.topic",
        journal.topic(),
        "must not be trace-etl.rocketmq.topic");
    check(
        Messages.names().contains(rocketmq.messages()),
        "trace-etl.rocketmq.messages",
        rocketmq.messages(),
        "must be one of " + String.join(", ", Messages.names()));
    Profile profile = metrics.profile();
    series = profile.checkSeries(ofProfiles.get(profile.id()), series, histogram);
    series = events.addTo(series, profile);
    Features.validate(ofFeatures, metrics, topics(rocketmq, journal, edges));
    documents = Features.documents(ofFeatures, documents);
    for (int i = 0; i < series.dimensions().size(); i++) {
      SeriesConfig.Dimension dimension = series.dimensions().get(i);
      String label = dimension.label();
      check(
          !metrics.profile().labels().contains(label)
              && !label.equals(MetricsConfig.OVERFLOW_LABEL)
              && !label.equals(MetricsConfig.QUEUE_LABEL)
              && !label.equals(MetricsConfig.FORM_LABEL),
          SeriesConfig.key(series.dimensions(), i) + ".label",
          label,
          "is a label of every series; configure for attribute "
              + dimension.attribute()
              + " another label");
    }
    check(
        measures.isEmpty() || profile.countsMeasures(),
        "trace-etl.measures",
        measures.size() + " of them",
        "must be absent with profile " + profile.id());
    MeasureConfig.checkAll(measures, metrics.namespace(), profile.labels(), series.maxValueBytes());
    checkDrain(drainWithin);
  }

  /** Returns the topics that are no feature's. */
  private static Set<String> topics(
      RocketMqConfig rocketmq, JournalConfig journal, EdgesConfig edges) {
    Set<String> topics = new HashSet<>(Set.of(rocketmq.topic(), journal.topic()));
    if (edges.enabled()) {
      checkOwn(topics.add(edges.topic()), "topic", edges.topic());
      checkOwn(topics.add(edges.journalTopic()), "journal-topic", edges.journalTopic());
      String group = edges.source(rocketmq).consumerGroup();
      checkOwn(!group.equals(rocketmq.consumerGroup()), "consumer-group", group);
    }
    return topics;
  }

  private static void checkOwn(boolean own, String key, String value) {
    check(own, "trace-etl.edges." + key, value, "must be one that nothing else uses");
  }

  static void checkDrain(Duration drainWithin) {
    check(
        drainWithin.isPositive() && drainWithin.compareTo(MAX_DRAIN) <= 0,
        "trace-etl.drain-within",
        drainWithin,
        "must be above 0 and at most 10 minutes");
  }

  /** The configuration of a feature that is or implements this; null without such a feature. */
  public <C> C feature(Class<C> type) {
    return ofFeatures.values().stream()
        .filter(type::isInstance)
        .map(type::cast)
        .findFirst()
        .orElse(null);
  }

  /** Returns the rules by which spans count. */
  public EffectiveRules rules() {
    return EffectiveRules.of(series, histogram, metrics, documents, measures);
  }

  /**
   * Returns the configuration with other rules.
   *
   * @throws ConfigException if the configuration does not allow them
   */
  public ServerConfig with(EffectiveRules rules) {
    return new ServerConfig(
        rocketmq,
        journal,
        window,
        rules.in(series),
        rules.histogram(),
        rules.in(documents),
        rules.in(metrics),
        ofFeatures,
        ofProfiles,
        events,
        deduplication,
        agents,
        edges,
        rules.measures(),
        web,
        drainWithin);
  }

  @Override
  public Record settings(Profile profile) {
    return ofProfiles.get(profile.id());
  }

  private static Map<String, Record> settings(Map<String, Record> given) {
    Map<String, Record> settings = new HashMap<>();
    for (Profile profile : Profile.all()) {
      if (profile.settings() != null) {
        settings.put(profile.id(), profile.defaultSettings());
      }
    }
    settings.putAll(given);
    return Map.copyOf(settings);
  }

  public static ServerConfig defaults() {
    return new ServerConfig(
        null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
        null);
  }
}
