package org.traceetl.server.window;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Received spans of one queue by application, without duplicates, since the application's first
 * span. An application without spans for a day is removed; above the maximum number, the least
 * recently active one is. The same windows give the same numbers on any server. For one thread at a
 * time.
 */
public final class ReceivedSpans {
  static final int MOST = 100_000;
  private static final long SILENCE_MILLIS = 24 * 3_600_000L;

  /** Least recently active first. */
  private final Map<String, Received> applications = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * The received spans of an application.
   *
   * @param createdMillis when the window with its first span began, milliseconds since 1970
   * @param touchedMillis {@link SealedWindow#touchedMillis} of its last window with spans
   */
  public record Received(String application, long spans, long createdMillis, long touchedMillis) {}

  /** Adds the queue's next window. */
  public void add(SealedWindow window) {
    long touchedMillis = window.touchedMillis();
    for (Books books : window.books()) {
      long spans = books.received() - books.duplicate();
      if (spans > 0 && !books.application().isEmpty()) {
        Received known = applications.get(books.application());
        put(
            new Received(
                books.application(),
                known == null ? spans : known.spans + spans,
                known == null ? window.openedMillis() : known.createdMillis,
                touchedMillis));
      }
    }
    var quietest = applications.values().iterator();
    while (quietest.hasNext()) {
      long lastMillis = quietest.next().touchedMillis;
      if (applications.size() <= MOST && touchedMillis - lastMillis <= SILENCE_MILLIS) {
        break;
      }
      quietest.remove();
    }
  }

  /** Sets an application, as the most recently active one. */
  public void put(Received received) {
    applications.put(received.application, received);
  }

  /** Replaces all applications by those of another object. */
  public void set(ReceivedSpans others) {
    clear();
    others.applications.values().forEach(this::put);
  }

  public void clear() {
    applications.clear();
  }

  public int size() {
    return applications.size();
  }

  /** Passes all applications to the action, least recently active first. */
  public void forEach(Consumer<Received> action) {
    applications.values().forEach(action);
  }
}
