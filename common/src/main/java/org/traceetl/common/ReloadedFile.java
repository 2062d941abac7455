package org.traceetl.common;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * A value that is kept up to date with a file. Content is compared, because a directory swapped
 * beneath a symbolic link, like a ConfigMap, may change neither path nor time. New content counts
 * after two equal reads in a row, so that a half-written file is not used; on request it counts at
 * once. If the content is invalid or unreadable, the previous value stays.
 *
 * <p>For one thread, except {@link #problem}.
 *
 * @param <T> type of the value
 */
public final class ReloadedFile<T> {
  /** Reads the file. */
  @FunctionalInterface
  public interface Content {
    /**
     * Returns the whole content.
     *
     * @throws IOException if it cannot be read, or is too long
     */
    byte[] read() throws IOException;
  }

  /** Parses content into the value. */
  @FunctionalInterface
  public interface Parser<T> {
    /**
     * Returns the value.
     *
     * @throws ConfigException with all problems of the content
     */
    T parse(byte[] content);
  }

  private final String name;
  private final Content content;
  private final Parser<T> parser;
  private final Consumer<T> listener;

  /** The value of the last valid content. */
  private T value;

  /** The last content that counted. */
  private byte[] settled;

  /** Why it is not in force; empty if it is. */
  private String wrong = "";

  /** The content of the last read; null if it failed. */
  private byte[] seen;

  /** Why the current content is not in force; empty if it is. */
  private volatile String problem = "";

  /**
   * Reads the file for the first time.
   *
   * @param name of the file in messages, such as {@code key = path}
   * @param listener receives each changed value, in {@link #look}
   * @throws IOException if the file cannot be read or is invalid
   */
  public ReloadedFile(String name, Content content, Parser<T> parser, Consumer<T> listener)
      throws IOException {
    this.name = name;
    this.content = content;
    this.parser = parser;
    this.listener = listener;
    settled = content.read();
    seen = settled;
    try {
      value = parser.parse(settled);
    } catch (ConfigException e) {
      throw new IOException(message(e), e);
    }
  }

  /** Returns the value of the last content that was passed on; at the beginning of the first. */
  public T value() {
    return value;
  }

  /**
   * Returns the current content of a file.
   *
   * @throws IOException if it cannot be read, or is longer than {@code maxBytes}
   */
  public static byte[] content(Path file, int maxBytes) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] content = in.readNBytes(maxBytes + 1);
      if (content.length > maxBytes) {
        throw new IOException("is longer than " + maxBytes + " bytes");
      }
      return content;
    }
  }

  /**
   * Returns why the file's current content is not in force; empty if it is. Safe for any thread.
   */
  public String problem() {
    return problem;
  }

  /**
   * Reads the file once, and passes on a changed value.
   *
   * @param asked whether this is a request, made after the file was completely written
   * @return whether a changed value was passed on
   */
  public boolean look(boolean asked) {
    byte[] read;
    try {
      read = content.read();
    } catch (IOException | RuntimeException e) {
      seen = null;
      problem = name + ": cannot be read: " + e;
      return false;
    }
    boolean counts = asked || Arrays.equals(read, seen);
    seen = read;
    if (!counts) {
      return false;
    }
    boolean changed = !Arrays.equals(read, settled) && take(read);
    problem = wrong;
    return changed;
  }

  private boolean take(byte[] read) {
    settled = read;
    try {
      T parsed = parser.parse(read);
      listener.accept(parsed);
      value = parsed;
      wrong = "";
      return true;
    } catch (ConfigException e) {
      wrong = message(e);
      return false;
    } catch (RuntimeException e) {
      wrong = name + ": cannot be taken: " + e;
      return false;
    }
  }

  private String message(ConfigException e) {
    return name + ": " + String.join("; ", e.problems());
  }
}
