package org.traceetl.server.features.remotewrite;

/** A version of Remote Write. */
enum Protocol {
  V1("1.0", "0.1.0", "application/x-protobuf"),
  V2("2.0", "2.0.0", "application/x-protobuf;proto=io.prometheus.write.v2.Request");

  /** The version in the configuration and in logs. */
  final String label;

  /** Value of the header with the version. */
  final String header;

  final String contentType;

  Protocol(String label, String header, String contentType) {
    this.label = label;
    this.header = header;
    this.contentType = contentType;
  }
}
