package org.traceetl.server.features.push;

import com.google.common.io.ByteStreams;
import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Messages of gRPC as they are, for callers that encode and decode themselves. */
public final class RawMessages implements MethodDescriptor.Marshaller<byte[]> {
  @Override
  public InputStream stream(byte[] message) {
    return new ByteArrayInputStream(message);
  }

  @Override
  public byte[] parse(InputStream stream) {
    try {
      return ByteStreams.toByteArray(stream);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
