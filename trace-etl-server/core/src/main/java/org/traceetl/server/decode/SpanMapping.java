package org.traceetl.server.decode;

import java.util.Map;

/**
 * Says which series the spans of a batch belong to, where that is more than copying attributes: it
 * rewrites the columns between decoding and aggregation. One owner thread, that of the decoder.
 */
public interface SpanMapping {
  /**
   * The attributes that it looks at, of spans and of resources. A span that is a message of its own
   * need not have others, for texts that nobody reads cost more there than the span.
   */
  AttributeKeys keys();

  /**
   * Rewrites names, kinds, statuses and dimensions of the batch's columns, or leaves spans out.
   *
   * @param batch valid, and all its spans read
   */
  void map(BatchDecoder batch);

  /** What the document of a span that was mapped last bears. Allocates. */
  Map<String, String> documentAttributes(BatchDecoder batch, int span, int maxBytes);
}
