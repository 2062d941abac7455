package org.traceetl.server.features.push;

/** A protocol: a version of Remote Write, or OTLP by HTTP or gRPC. */
public enum Protocol {
  V1("1.0", "0.1.0", "application/x-protobuf", "snappy"),
  V2("2.0", "2.0.0", "application/x-protobuf;proto=io.prometheus.write.v2.Request", "snappy"),
  OTLP("otlp", null, "application/x-protobuf", "gzip"),
  OTLP_GRPC("otlp-grpc", null, "application/grpc", "gzip");

  /** The version in the configuration, and the protocol in logs. */
  final String label;

  /** Value of the header with the version; null for none. */
  final String header;

  final String contentType;
  final String contentEncoding;

  Protocol(String label, String header, String contentType, String contentEncoding) {
    this.label = label;
    this.header = header;
    this.contentType = contentType;
    this.contentEncoding = contentEncoding;
  }
}
