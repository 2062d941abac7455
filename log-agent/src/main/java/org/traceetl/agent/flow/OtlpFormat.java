package org.traceetl.agent.flow;

/** How an OTLP trace request is encoded. */
public enum OtlpFormat {
  PROTOBUF("application/x-protobuf"),
  JSON("application/json");

  private final String mediaType;

  OtlpFormat(String mediaType) {
    this.mediaType = mediaType;
  }

  /** Returns the content type of requests and answers. */
  public String mediaType() {
    return mediaType;
  }
}
