package org.traceetl.agent.flow;

/** Thrown when a payload cannot be decoded. The message has no data of the payload. */
public final class MalformedPayloadException extends Exception {
  public MalformedPayloadException(String message) {
    super(message);
  }
}
