package org.traceetl.agent.source.otlp;

import java.net.InetAddress;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;

/**
 * Decodes a payload of a sender.
 *
 * @param sender address of the connection's other end; headers such as {@code X-Forwarded-For} are
 *     not read, because any sender can set them
 */
record SentPayload(SpanDecoder decoder, InetAddress sender) implements SpanDecoder {
  @Override
  public OtlpFormat otlpFormat() {
    return decoder.otlpFormat();
  }

  @Override
  public void decode(byte[] payload, int length, SpanSink sink) throws MalformedPayloadException {
    decoder.decode(payload, length, sink);
  }
}
