package org.traceetl.agent.reload;

import java.io.IOException;
import java.util.function.Consumer;
import org.traceetl.agent.config.WatchedFile;
import org.traceetl.agent.disk.Disk;
import org.traceetl.common.ReloadedFile;

/** Keeps a value up to date with a file, as {@link ReloadedFile} describes. */
public final class FileWatch<T> implements Reloader.Source {
  private final ReloadedFile<T> file;
  private final T first;

  /**
   * Reads the file for the first time.
   *
   * @param key configuration key that names the file
   * @param listener receives each changed value, on the reading thread
   * @throws IOException if the file cannot be read or is invalid
   */
  public FileWatch(
      String key, WatchedFile file, Disk disk, ReloadedFile.Parser<T> parser, Consumer<T> listener)
      throws IOException {
    this.file =
        new ReloadedFile<>(key + " = " + file.path(), () -> file.content(disk), parser, listener);
    first = this.file.value();
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
    return !file.problem().isEmpty();
  }

  @Override
  public boolean reload() throws IOException {
    return reload(false);
  }

  @Override
  public boolean reload(boolean asked) throws IOException {
    boolean changed = file.look(asked);
    if (isRefused()) {
      throw new IOException(file.problem());
    }
    return changed;
  }
}
