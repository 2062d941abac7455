package org.traceetl.server.features.preview;

import java.io.IOException;
import java.util.List;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.window.SeriesDefinition;

/** Measures pages. */
@FunctionalInterface
public interface PageSize {
  /**
   * Returns the bytes of an OpenMetrics page, not compressed.
   *
   * @param series at least one, numbered from 0
   * @throws IOException if the page was not rendered in time
   */
  long bytes(Naming naming, List<SeriesDefinition> series) throws IOException, InterruptedException;
}
