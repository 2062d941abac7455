package org.traceetl.server.config;

import static java.util.stream.Collectors.joining;
import static org.traceetl.server.config.ConfigException.canonical;

import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/**
 * Whose dashboards the metrics fit: their names, labels and buckets, and what may be configured
 * with them. The profiles of {@link StandardProfile} are always there; {@link ServiceLoader} finds
 * others. Immutable.
 */
public interface Profile {
  /**
   * Its name in the configuration: lower-case letters. Keys of its own are below {@code
   * trace-etl.<id>}.
   */
  String id();

  /** What names of metrics begin with, unless the configuration says otherwise. */
  String namespace();

  /** Unit of durations, unless the configuration says otherwise. */
  MetricsConfig.Unit unit();

  /** Labels of the dimensions that every series has, in their order. */
  List<String> labels();

  /** The buckets that its dashboards expect. */
  HistogramConfig histogram();

  /** The layout of the documents that its pages expect in Elasticsearch. */
  default String layout() {
    return IndexConfig.Elasticsearch.DATA_STREAM;
  }

  /** Whether it has metrics of spans' events. */
  default boolean countsEvents() {
    return true;
  }

  /** Defaults of keys that are others with this profile, by key below {@code trace-etl}. */
  default Map<String, String> defaults() {
    return Map.of();
  }

  /** The record of its own keys; null if it has none. */
  default Class<? extends Record> settings() {
    return null;
  }

  /** Its own keys where none is given; null if it has none. */
  default Record defaultSettings() {
    return null;
  }

  /**
   * Checks how series are to be named.
   *
   * @throws ConfigException if it does not allow it
   */
  default void checkNames(String namespace, MetricsConfig.Unit unit) {}

  /**
   * Checks what makes series, and adds the dimensions that it fills itself.
   *
   * @param own its own keys, of type {@link #settings}
   * @throws ConfigException if it does not allow it
   */
  default SeriesConfig checkSeries(Record own, SeriesConfig series, HistogramConfig histogram) {
    return series;
  }

  /**
   * Reads the files that its keys name, to find out whether they can be used.
   *
   * @param own its own keys, of type {@link #settings}
   * @throws IllegalArgumentException if one cannot be used
   */
  default void checkFiles(Record own) {}

  /** All that there are. */
  static List<Profile> all() {
    return Stream.concat(
            Stream.of(StandardProfile.values()),
            ServiceLoader.load(Profile.class, Profile.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get))
        .toList();
  }

  /**
   * The profile of a name, in any case.
   *
   * @throws ConfigException if there is none
   */
  static Profile of(String name) {
    List<Profile> all = all();
    return all.stream()
        .filter(profile -> profile.id().equals(canonical(name)))
        .findFirst()
        .orElseThrow(() ->
            new ConfigException(
                "trace-etl.metrics.profile",
                name,
                "must be one of " + all.stream().map(Profile::id).collect(joining(", "))));
  }
}
