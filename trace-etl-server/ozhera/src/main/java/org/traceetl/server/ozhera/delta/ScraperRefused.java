package org.traceetl.server.ozhera.delta;

/** A scraper gets no answer; the message says why and what to do. */
public final class ScraperRefused extends Exception {
  private static final long serialVersionUID = 1L;

  /** The reason of a refusal. */
  public enum Reason {
    /** Its previous answer is not finished. */
    BUSY,

    /** It is not one of the configured scrapers. */
    NOT_CONFIGURED,

    /** Its positions could not be read from the brokers. */
    POSITION_UNKNOWN
  }

  private final Reason reason;

  private ScraperRefused(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  static ScraperRefused busy(String message) {
    return new ScraperRefused(Reason.BUSY, message);
  }

  static ScraperRefused notConfigured(String message) {
    return new ScraperRefused(Reason.NOT_CONFIGURED, message);
  }

  static ScraperRefused positionUnknown(String message) {
    return new ScraperRefused(Reason.POSITION_UNKNOWN, message);
  }

  public Reason reason() {
    return reason;
  }
}
