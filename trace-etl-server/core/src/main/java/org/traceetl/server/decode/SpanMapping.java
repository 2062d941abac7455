package org.traceetl.server.decode;

import java.util.Map;

/**
 * Maps the spans of a batch to series if that requires more than copying attributes. It modifies
 * the columns between decoding and aggregation. One owner thread, that of the decoder.
 */
public interface SpanMapping {
  /**
   * Returns the keys of the span and resource attributes that it reads. A message with a single
   * span may omit the rest, because unused texts would cost more than the span.
   */
  AttributeKeys keys();

  /**
   * Modifies names, kinds, statuses and dimensions of the batch's columns, or excludes spans.
   *
   * @param batch valid, with all its spans read
   */
  void map(BatchDecoder batch);

  /** Returns the attributes of the document of a span that was mapped last. Allocates. */
  Map<String, String> documentAttributes(BatchDecoder batch, int span, int maxBytes);
}
