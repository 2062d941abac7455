package org.traceetl.server.profile;

import java.util.List;
import org.traceetl.common.Clocks;
import org.traceetl.server.component.Component;
import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.config.SpanKind;
import org.traceetl.server.decode.MappedProfile;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.journal.chain.JournalComponent;
import org.traceetl.server.telemetry.ServerTelemetry;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The differences between servers of different profiles: the mapping of spans to series, the
 * presentation and the documents. The defaults apply to series that copy attributes.
 */
public interface ProfileParts {
  /** Returns the parts of a server with the configured profile, not started. */
  static ProfileParts of(CoreConfig config) {
    return config.metrics().profile() instanceof MappedSpansProfile mapped
        ? mapped.parts(config)
        : new ProfileParts() {};
  }

  /** Returns the names and labels of its series; null for those of OpenTelemetry's attributes. */
  default Naming naming() {
    return null;
  }

  /** Returns what shows its series to Prometheus; null for cumulative pages. Called once. */
  default Component pages(JournalComponent journal, ServerTelemetry telemetry, Clocks clocks) {
    return null;
  }

  /**
   * Returns the mapping of spans to series, which {@link #components} keep up to date; null for
   * series that copy attributes.
   */
  default MappedProfile mapping() {
    return null;
  }

  /** Returns the components that start before all others. */
  default List<Component> components() {
    return List.of();
  }

  /** Returns whether the pages show the received spans of each application. */
  default boolean showsReceivedSpans() {
    return false;
  }

  /**
   * Returns whether the sums of a series stay correct without a queue label when it moves between
   * servers.
   */
  default boolean addsUpWithoutQueueLabel() {
    return false;
  }

  /** Returns whether events have series; these are not calls. */
  default boolean countsEvents() {
    return true;
  }

  /** Returns whether a series has the configured buckets, which the history uses. */
  default boolean hasBucketsOfHistory(SeriesDefinition definition) {
    return true;
  }

  /** Returns the name of a kind as on pages; unknown numbers have the name of 0. */
  default String kind(int number) {
    SpanKind[] kinds = SpanKind.values();
    return "SPAN_KIND_" + kinds[number >= 0 && number < kinds.length ? number : 0];
  }
}
