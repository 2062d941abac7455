package org.traceetl.perf.systest.ozhera;

/** What must not be seen of an address of a database. */
final class DatabaseSecret {
  static final String PASSWORD = "s3cret-of-the-database";

  private DatabaseSecret() {}

  /** The address as it may be seen. */
  static String hide(String address) {
    return address.replace(PASSWORD, "***");
  }
}
