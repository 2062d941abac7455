package org.traceetl.server.config;

import static java.util.stream.Collectors.joining;
import static org.traceetl.common.ConfigException.canonical;

import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.traceetl.common.ConfigException;

/**
 * The names, labels and buckets that certain dashboards expect, and the configuration that they
 * allow. The profiles of {@link StandardProfile} always exist; {@link ServiceLoader} finds others.
 * Immutable.
 */
public interface Profile {
  /** A layout of documents that every server has: a data stream. */
  String DATA_STREAM = "data-stream";

  /**
   * Returns the name in the configuration, in lower-case letters. The profile's own keys are below
   * {@code trace-etl.<id>}.
   */
  String id();

  /** Returns the default prefix of metric names. */
  String namespace();

  /** Returns the default unit of durations. */
  MetricsConfig.Unit unit();

  /** Returns the labels of the dimensions that every series has, in order. */
  List<String> labels();

  /** Returns the default buckets. */
  HistogramConfig histogram();

  /** Returns the default layout of documents in Elasticsearch. */
  default String layout() {
    return DATA_STREAM;
  }

  /** Returns whether the profile has metrics of events. */
  default boolean countsEvents() {
    return true;
  }

  /** Returns whether the profile has a metric of the sizes of spans. */
  default boolean countsSizes() {
    return true;
  }

  /** Returns whether the profile has metrics of spans by configured names. */
  default boolean countsMeasures() {
    return true;
  }

  /** Returns the defaults that differ with this profile, by key below {@code trace-etl}. */
  default Map<String, String> defaults() {
    return Map.of();
  }

  /** Returns the record type of the profile's own keys; null for none. */
  default Class<? extends Record> settings() {
    return null;
  }

  /** Returns the profile's own keys if none is configured; null for none. */
  default Record defaultSettings() {
    return null;
  }

  /**
   * Checks the names of series.
   *
   * @throws ConfigException if the profile does not allow them
   */
  default void checkNames(String namespace, MetricsConfig.Unit unit) {}

  /**
   * Checks the dimensions of series, and adds those that the profile fills itself.
   *
   * @param own the profile's own keys, of type {@link #settings}
   * @throws ConfigException if the profile does not allow the dimensions
   */
  default SeriesConfig checkSeries(Record own, SeriesConfig series, HistogramConfig histogram) {
    return series;
  }

  /**
   * Reads the files in the profile's own keys as a check.
   *
   * @param own the profile's own keys, of type {@link #settings}
   * @throws IllegalArgumentException if a file is invalid
   */
  default void checkFiles(Record own) {}

  /** Returns all profiles. */
  static List<Profile> all() {
    return Stream.concat(
            Stream.of(StandardProfile.values()),
            ServiceLoader.load(Profile.class, Profile.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get))
        .toList();
  }

  /**
   * Returns the profile of a name, ignoring case.
   *
   * @throws ConfigException if no profile has the name
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
