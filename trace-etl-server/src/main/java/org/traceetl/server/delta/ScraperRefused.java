package org.traceetl.server.delta;

/** A scraper is given nothing now; the message says why, and what to do. */
public final class ScraperRefused extends Exception {
  private static final long serialVersionUID = 1L;

  private final boolean busy;

  private ScraperRefused(boolean busy, String message) {
    super(message);
    this.busy = busy;
  }

  /** Its answer before is still under way. */
  static ScraperRefused busy(String message) {
    return new ScraperRefused(true, message);
  }

  /** There are too many. */
  static ScraperRefused tooMany(String message) {
    return new ScraperRefused(false, message);
  }

  /** It is not known what it was given. */
  static ScraperRefused unknown(String message) {
    return new ScraperRefused(false, message);
  }

  /** Whether it is for its answer before, which is still under way. */
  public boolean isBusy() {
    return busy;
  }
}
