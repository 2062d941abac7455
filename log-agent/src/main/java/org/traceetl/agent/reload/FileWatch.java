package org.traceetl.agent.reload;

import java.io.IOException;
import java.util.Arrays;
import java.util.function.Consumer;
import org.traceetl.agent.config.ConfigException;
import org.traceetl.agent.config.WatchedFile;

/**
 * Keeps a value that of a file. It looks at the file's content: a directory that is swapped beneath
 * a symbolic link, as a ConfigMap is, changes neither the path nor always the time. A content
 * counts once two looks in a row saw it, so that a file that is just being written is not taken for
 * a shorter one; where somebody asked for the look it counts at once. While the content is wrong or
 * cannot be read, the value before it stays.
 */
public final class FileWatch<T> implements Reloader.Source {
  /** Makes the value of a content. */
  @FunctionalInterface
  public interface Reading<T> {
    /**
     * The value.
     *
     * @throws ConfigException with all that is wrong with the content
     */
    T parse(byte[] content) throws ConfigException;
  }

  private final String key;
  private final WatchedFile file;
  private final Reading<T> reading;
  private final Consumer<T> listener;
  private final T first;
  // Of the thread that looks: the content last read to its end, and why it is not in force.
  private byte[] settled;
  private String wrong = "";
  private byte[] seen;
  // Why what the file holds now is not in force; empty when it is.
  private volatile String problem = "";

  /**
   * Reads the file for the first time.
   *
   * @param key of the configuration that names the file
   * @param listener told the value each time it has changed, by who has this look
   * @throws IOException when the file cannot be read or is wrong
   */
  public FileWatch(String key, WatchedFile file, Reading<T> reading, Consumer<T> listener)
      throws IOException {
    this.key = key;
    this.file = file;
    this.reading = reading;
    this.listener = listener;
    settled = file.content();
    seen = settled;
    try {
      first = reading.parse(settled);
    } catch (ConfigException e) {
      throw new IOException(told(e), e);
    }
  }

  /** The value as it was read at first. */
  public T first() {
    return first;
  }

  /** Whether the file is wrong or cannot be read, and an older value in force. From any thread. */
  public boolean isRefused() {
    return !problem.isEmpty();
  }

  @Override
  public boolean reload() throws IOException {
    return reload(false);
  }

  @Override
  public boolean reload(boolean asked) throws IOException {
    boolean changed = look(asked);
    if (!problem.isEmpty()) {
      throw new IOException(problem);
    }
    return changed;
  }

  private boolean look(boolean asked) {
    byte[] content;
    try {
      content = file.content();
    } catch (IOException | RuntimeException e) {
      seen = null;
      problem = key + " = " + file.path() + ": cannot be read: " + e;
      return false;
    }
    boolean counts = asked || Arrays.equals(content, seen);
    seen = content;
    if (!counts) {
      return false;
    }
    boolean changed = !Arrays.equals(content, settled) && take(content);
    problem = wrong;
    return changed;
  }

  private boolean take(byte[] content) {
    settled = content;
    try {
      listener.accept(reading.parse(content));
      wrong = "";
      return true;
    } catch (ConfigException e) {
      wrong = told(e);
      return false;
    } catch (RuntimeException e) {
      wrong = key + " = " + file.path() + ": cannot be taken: " + e;
      return false;
    }
  }

  private String told(ConfigException e) {
    return key + " = " + file.path() + ": " + String.join("; ", e.problems());
  }
}
