package org.traceetl.agent.source.otlp;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** The bodies and statuses of OTLP answers. */
final class OtlpResponses {
  /** Delay that senders are given when the pipeline is full, seconds. */
  static final int RETRY_FULL_SECONDS = 1;

  /** Delay that senders are given when the broker or the agent is unavailable, seconds. */
  static final int RETRY_AWAY_SECONDS = 5;

  private static final Metadata.Key<byte[]> STATUS_DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);
  private static final String RETRY_INFO_TYPE = "type.googleapis.com/google.rpc.RetryInfo";
  private static final JsonFactory JSON = new JsonFactory();

  private OtlpResponses() {}

  /** Returns why a request over the limit is refused; its decompressed bytes count too. */
  static String tooLarge(int maxRequestBytes) {
    return "the request has more than " + maxRequestBytes + " bytes (otlp.max-request-bytes)";
  }

  /** Returns an {@code ExportTraceServiceResponse}; empty if no span was rejected. */
  static byte[] exported(int rejected, String reason) {
    if (rejected == 0) {
      return new byte[0];
    }
    byte[] partialSuccess =
        new ProtobufBuffer(64).varint(1, rejected).string(2, reason).toByteArray();
    return new ProtobufBuffer(64).bytes(1, partialSuccess).toByteArray();
  }

  /** Returns the same response as JSON. */
  static byte[] exportedJson(int rejected, String reason) {
    return json(generator -> {
      if (rejected > 0) {
        generator.writeObjectPropertyStart("partialSuccess");
        generator.writeStringProperty("rejectedSpans", Integer.toString(rejected));
        generator.writeStringProperty("errorMessage", reason);
        generator.writeEndObject();
      }
    });
  }

  /**
   * Returns a {@code google.rpc.Status}.
   *
   * @param retrySeconds 0: no {@code RetryInfo}
   */
  static byte[] status(Status status, int retrySeconds) {
    ProtobufBuffer body =
        new ProtobufBuffer(128)
            .varint(1, status.getCode().value())
            .string(2, status.getDescription());
    if (retrySeconds > 0) {
      byte[] delay = new ProtobufBuffer(16).varint(1, retrySeconds).toByteArray();
      byte[] retryInfo = new ProtobufBuffer(16).bytes(1, delay).toByteArray();
      body.bytes(
          3, new ProtobufBuffer(64).string(1, RETRY_INFO_TYPE).bytes(2, retryInfo).toByteArray());
    }
    return body.toByteArray();
  }

  /** Returns the same status as JSON. */
  static byte[] statusJson(Status status, int retrySeconds) {
    return json(generator -> {
      generator.writeNumberProperty("code", status.getCode().value());
      generator.writeStringProperty("message", status.getDescription());
      if (retrySeconds > 0) {
        generator.writeArrayPropertyStart("details");
        generator.writeStartObject();
        generator.writeStringProperty("@type", RETRY_INFO_TYPE);
        generator.writeStringProperty("retryDelay", retrySeconds + "s");
        generator.writeEndObject();
        generator.writeEndArray();
      }
    });
  }

  /** Returns a gRPC error. Senders retry {@code RESOURCE_EXHAUSTED} only if it has a delay. */
  static StatusRuntimeException error(Status status, int retrySeconds) {
    Metadata trailers = new Metadata();
    if (retrySeconds > 0) {
      trailers.put(STATUS_DETAILS, status(status, retrySeconds));
    }
    return status.asRuntimeException(trailers);
  }

  private interface Members {
    void write(JsonGenerator generator);
  }

  private static byte[] json(Members members) {
    try (StringWriter text = new StringWriter()) {
      try (JsonGenerator generator = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
        generator.writeStartObject();
        members.write(generator);
        generator.writeEndObject();
      }
      return text.toString().getBytes(StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
