package org.traceetl.server.window;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Spans of one queue received by application, duplicates left out, since the application's first
 * one. An application without spans for a day leaves; above the most that are kept, the one that is
 * quiet for longest does. The same windows give the same numbers, on whichever server. One thread
 * at a time.
 */
public final class ReceivedSpans {
  static final int MOST = 100_000;
  private static final long SILENCE_MILLIS = 24 * 3_600_000L;

  /** Quietest first. */
  private final Map<String, Received> applications = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * Of one application.
   *
   * @param createdMillis when the window with its first span began, milliseconds since 1970
   * @param touchedMillis {@link SealedWindow#touchedMillis} of the last window with spans of it
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

  /** Sets an application, as the last one that had spans. */
  public void put(Received received) {
    applications.put(received.application, received);
  }

  /** Sets all to what others are. */
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

  /** Gives all of them, quietest first. */
  public void forEach(Consumer<Received> action) {
    applications.values().forEach(action);
  }
}
