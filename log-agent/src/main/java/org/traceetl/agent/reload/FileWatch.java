package org.traceetl.agent.reload;

import java.io.IOException;
import java.util.Arrays;
import java.util.function.Consumer;
import org.traceetl.agent.config.WatchedFile;
import org.traceetl.agent.disk.Disk;
import org.traceetl.common.ConfigException;

/**
 * Keeps a value up to date with a file. It compares content, because a directory swapped beneath a
 * symbolic link, like a ConfigMap, may change neither path nor time. New content counts after two
 * equal reads in a row, so that a half-written file is not used; on request it counts at once. If
 * the content is invalid or unreadable, the previous value stays.
 */
public final class FileWatch<T> implements Reloader.Source {
  /** Parses content into the value. */
  @FunctionalInterface
  public interface Reading<T> {
    /**
     * Returns the value.
     *
     * @throws ConfigException with all problems of the content
     */
    T parse(byte[] content) throws ConfigException;
  }

  private final String key;
  private final WatchedFile file;
  private final Disk disk;
  private final Reading<T> reading;
  private final Consumer<T> listener;
  private final T first;
  // Confined to the reading thread: the last content that counted, and why it is not in force.
  private byte[] settled;
  private String wrong = "";
  private byte[] seen;
  // Why the file's current content is not in force; empty if it is.
  private volatile String problem = "";

  /**
   * Reads the file for the first time.
   *
   * @param key configuration key that names the file
   * @param listener receives each changed value, on the reading thread
   * @throws IOException if the file cannot be read or is invalid
   */
  public FileWatch(
      String key, WatchedFile file, Disk disk, Reading<T> reading, Consumer<T> listener)
      throws IOException {
    this.key = key;
    this.file = file;
    this.disk = disk;
    this.reading = reading;
    this.listener = listener;
    settled = file.content(disk);
    seen = settled;
    try {
      first = reading.parse(settled);
    } catch (ConfigException e) {
      throw new IOException(told(e), e);
    }
  }

  /** Returns the value of the first read. */
  public T first() {
    return first;
  }

  /**
   * Returns whether the file is invalid or unreadable, and an older value is in force. Safe for any
   * thread.
   */
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
      content = file.content(disk);
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
