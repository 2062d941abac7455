package org.traceetl.server.features.index;

import java.util.List;
import org.traceetl.server.features.index.WriteResult.Refusal;
import org.traceetl.server.window.TraceDocument;

/** No index: refuses every document, so that it is counted as dropped, and finds none. */
final class DisabledIndex implements TraceIndex {
  @Override
  public WriteResult write(List<TraceDocument> documents) {
    return new WriteResult(
        0,
        documents.stream().map(d -> new Refusal(d, "disabled", "index.type = none")).toList(),
        List.of());
  }

  @Override
  public TracePage search(TraceQuery query) {
    return new TracePage(List.of(), null);
  }

  @Override
  public boolean healthy() {
    return true;
  }

  @Override
  public void close() {
    // Nothing to close.
  }
}
