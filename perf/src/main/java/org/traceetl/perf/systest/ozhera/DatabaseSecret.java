package org.traceetl.perf.systest.ozhera;

/** The password in database addresses, which must not be shown. */
final class DatabaseSecret {
  static final String PASSWORD = "s3cret-of-the-database";

  private DatabaseSecret() {}

  /** Returns the address without its password. */
  static String hide(String address) {
    return address.replace(PASSWORD, "***");
  }
}
