package org.traceetl.agent.source.otlp;

import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.exporter.sender.jdk.internal.JdkHttpSenderProvider;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.util.List;
import org.traceetl.agent.config.OtlpConfig;
import org.traceetl.agent.config.OtlpLimits;
import org.traceetl.agent.flow.AnsweredRequests;
import org.traceetl.agent.flow.Intake;
import org.traceetl.common.Clocks;

/** Starts receivers, and sends to them. */
final class Receivers {
  /** Without protobuf classes, because tests also send what is no request. */
  static final MethodDescriptor<byte[], byte[]> EXPORT =
      MethodDescriptor.newBuilder(Bytes.INSTANCE, Bytes.INSTANCE)
          .setType(MethodDescriptor.MethodType.UNARY)
          .setFullMethodName(GrpcEndpoint.SERVICE + "/Export")
          .build();

  static final int MAX_REQUEST_BYTES = 100_000;

  private Receivers() {}

  /** Starts a receiver that remembers no answered request. */
  static OtlpReceiver start(OtlpConfig config, long maxBytesBeingRead, Intake intake)
      throws IOException {
    OtlpReceiver receiver =
        new OtlpReceiver(config, maxBytesBeingRead, intake, new AnsweredRequests(0), Clocks.SYSTEM);
    receiver.start();
    return receiver;
  }

  /** Starts a receiver of which one sender can use all of the shared room, 150,000 bytes. */
  static OtlpReceiver startForOneSender(Intake intake) throws IOException {
    return start(
        new OtlpConfig(true, "127.0.0.1", 0, 0, MAX_REQUEST_BYTES)
            .withLimits(new OtlpLimits(1_024, 1_024, Integer.MAX_VALUE, 30_000)),
        150_000,
        intake);
  }

  static CallOptions compressed(String compression) {
    return compression.equals("gzip")
        ? CallOptions.DEFAULT.withCompression("gzip")
        : CallOptions.DEFAULT;
  }

  /** Waits for the next byte; returns true if the receiver closes the connection instead. */
  static boolean isClosed(Socket socket) {
    try {
      return socket.getInputStream().read() < 0;
    } catch (IOException reset) {
      return true;
    }
  }

  /** Builds an exporter that sends with OkHttp or with the JDK's client. */
  static OtlpHttpSpanExporter build(OtlpHttpSpanExporterBuilder exporter, boolean withJdk) {
    if (withJdk) {
      exporter.setComponentLoader(
          new ComponentLoader() {
            @Override
            public <T> Iterable<T> load(Class<T> spi) {
              return List.of(spi.cast(new JdkHttpSenderProvider()));
            }
          });
    }
    return exporter.build();
  }

  private enum Bytes implements MethodDescriptor.Marshaller<byte[]> {
    INSTANCE;

    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
