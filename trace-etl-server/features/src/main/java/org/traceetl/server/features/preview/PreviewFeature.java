package org.traceetl.server.features.preview;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.common.TlsRefused;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.Runs;

/** Previews of rules for callers of the API. They change nothing. */
public final class PreviewFeature implements Feature {
  private final Runs<RulesComparison> runs;
  private final PreviewResource resource;

  /** Compares rules with those that this server follows. */
  @FunctionalInterface
  public interface Comparer {
    /**
     * Compares what the series of an application cost.
     *
     * @param since maximum age of a message
     * @param rules content of a file of rules (YAML)
     * @throws ConfigException with all problems, each with its line, if the rules are invalid or
     *     the configuration does not allow them
     * @throws IOException if the topic cannot be read, or has no spans of the application
     * @throws TlsRefused if the topic cannot be read with TLS
     */
    RulesComparison compare(String application, Duration since, byte[] rules)
        throws IOException, InterruptedException;
  }

  /**
   * @param maxBytes maximum length of a file of rules
   */
  public PreviewFeature(Comparer comparer, int maxBytes, Clocks clocks) {
    runs = new Runs<>(clocks.threads(), "trace-preview");
    resource = new PreviewResource(comparer, maxBytes, runs, clocks);
  }

  @Override
  public List<Object> resources() {
    return List.of(resource);
  }

  @Override
  public boolean drain(Duration within) {
    runs.close();
    return true;
  }

  @Override
  public void close() {
    runs.close();
  }
}
