package org.traceetl.server.decode;

import java.util.List;
import org.traceetl.server.config.SeriesConfig.Dimension;

/** Which attributes of spans and resources are dimensions, numbered as configured. Immutable. */
public final class DimensionKeys {
  private final AttributeKeys ofSpan;
  private final AttributeKeys ofResource;

  public DimensionKeys(List<Dimension> dimensions) {
    ofSpan =
        new AttributeKeys(
            dimensions.stream().map(d -> d.from().readsSpan() ? d.attribute() : null).toList());
    ofResource =
        new AttributeKeys(
            dimensions.stream().map(d -> d.from().readsResource() ? d.attribute() : null).toList());
  }

  int count() {
    return ofSpan.size();
  }

  AttributeKeys ofSpan() {
    return ofSpan;
  }

  AttributeKeys ofResource() {
    return ofResource;
  }
}
