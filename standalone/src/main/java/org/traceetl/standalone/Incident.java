package org.traceetl.standalone;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What is wrong with the simulated services: a cause that an attribute of their spans has. Each
 * strikes one service most, by failed calls or by calls of more than a second.
 */
enum Incident {
  /** Calls of {@code cart} to its database fail on one {@code host.name}. */
  BAD_HOST,
  /** A new {@code service.version} of {@code checkout}, on half of the hosts, is slow. */
  BAD_VERSION,
  /** One {@code db.query.text} of {@code catalogue} is slow. */
  SLOW_QUERY,
  /** Payments of one {@code customer.id} fail. */
  ONE_CUSTOMER,
  /** A bank refuses most calls that {@code payment} repeats ({@code http.request.resend_count}). */
  RETRY_STORM;

  static final String ALL =
      Arrays.stream(values())
          .map(incident -> incident.number() + " " + incident.label)
          .collect(Collectors.joining(", "));

  final String label = name().toLowerCase(Locale.ROOT).replace('_', '-');

  /** Returns the number of the option {@code --incident}, from 1. */
  int number() {
    return ordinal() + 1;
  }

  /**
   * Returns the incident with a number or label.
   *
   * @throws IllegalArgumentException if there is no such incident; its message names the allowed
   *     ones
   */
  static Incident of(String text) {
    return Arrays.stream(values())
        .filter(incident ->
            incident.label.equals(text) || Integer.toString(incident.number()).equals(text))
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("'" + text + "' is no incident; allowed: " + ALL));
  }

  /** Returns whether calls take long; otherwise they fail. */
  boolean isSlow() {
    return this == BAD_VERSION || this == SLOW_QUERY;
  }
}
