package org.traceetl.server.ozhera.delta;

/** A scraper is given nothing now; the message says why, and what to do. */
public final class ScraperRefused extends Exception {
  private static final long serialVersionUID = 1L;

  /** Why a scraper is refused. */
  public enum Reason {
    /** Its answer before is still under way. */
    BUSY,

    /** No configuration names it. */
    NOT_CONFIGURED,

    /** It is not known what it was given. */
    PLACE_UNKNOWN
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

  static ScraperRefused placeUnknown(String message) {
    return new ScraperRefused(Reason.PLACE_UNKNOWN, message);
  }

  public Reason reason() {
    return reason;
  }
}
