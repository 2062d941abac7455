package org.traceetl.server.ozhera;

import org.traceetl.server.decode.AttributeKeys;
import org.traceetl.server.decode.SingleSpan;
import org.traceetl.server.decode.SpanFormat;
import org.traceetl.server.decode.Texts;

/** Messages of OzHera's agents: one {@code TSpanData} each. */
public final class OzheraFormat implements SpanFormat {
  @Override
  public String id() {
    return OzheraProfile.ID;
  }

  @Override
  public SingleSpan newReader(Texts texts, AttributeKeys wanted) {
    return new OzheraSpan(texts, wanted);
  }
}
