package org.traceetl.agent.flow;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Collection;
import java.util.List;

/** The names of events to count, and the attributes sent with them. Immutable. */
public final class WantedEvents {
  /** Matches any name. */
  public static final String ANY = "*";

  /** No events; decoders skip all of them. */
  public static final WantedEvents NONE =
      new WantedEvents(new KeySet(List.of()), new KeySet(List.of()));

  // Null for all.
  private final KeySet names;
  private final KeySet attributes;

  private WantedEvents(KeySet names, KeySet attributes) {
    this.names = names;
    this.attributes = attributes;
  }

  /**
   * @param names names of the events, or {@link #ANY}
   * @param attributes keys of the attributes that are sent with them
   */
  public static WantedEvents of(Collection<String> names, Collection<String> attributes) {
    return names.isEmpty()
        ? NONE
        : new WantedEvents(names.contains(ANY) ? null : keys(names), keys(attributes));
  }

  private static KeySet keys(Collection<String> keys) {
    return new KeySet(keys.stream().map(key -> key.getBytes(UTF_8)).toList());
  }

  /** Returns whether events of this name count. */
  public boolean contains(byte[] bytes, int offset, int length) {
    return names == null || names.contains(bytes, offset, length);
  }

  /** Returns whether attributes with this key are sent. */
  public boolean containsAttribute(byte[] bytes, int offset, int length) {
    return attributes.contains(bytes, offset, length);
  }
}
