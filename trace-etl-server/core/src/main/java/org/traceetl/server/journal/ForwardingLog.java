package org.traceetl.server.journal;

import java.io.IOException;
import java.util.List;

/** A log that passes all calls to another log. A subclass overrides what it changes. */
public abstract class ForwardingLog implements JournalLog {
  protected final JournalLog log;

  protected ForwardingLog(JournalLog log) {
    this.log = log;
  }

  @Override
  public long append(byte[] message) throws IOException, InterruptedException {
    return log.append(message);
  }

  @Override
  public List<Entry> read(long from) throws IOException, InterruptedException {
    return log.read(from);
  }

  @Override
  public long begin() throws IOException, InterruptedException {
    return log.begin();
  }

  @Override
  public long end() throws IOException, InterruptedException {
    return log.end();
  }

  @Override
  public long offsetAt(long unixMillis) throws IOException, InterruptedException {
    return log.offsetAt(unixMillis);
  }

  @Override
  public long mark(String group) throws IOException, InterruptedException {
    return log.mark(group);
  }

  @Override
  public void mark(String group, long offset) throws IOException, InterruptedException {
    log.mark(group, offset);
  }
}
