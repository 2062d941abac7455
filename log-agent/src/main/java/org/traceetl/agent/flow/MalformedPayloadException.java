package org.traceetl.agent.flow;

/** A payload that cannot be read as a whole. Its message holds no data of the payload. */
public final class MalformedPayloadException extends Exception {
  public MalformedPayloadException(String message) {
    super(message);
  }
}
