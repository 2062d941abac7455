package org.traceetl.server.features.preview;

import java.io.PrintWriter;
import java.time.Instant;

/**
 * What the series of an application cost by the rules in force and by a file of rules, for the same
 * messages.
 *
 * @param messages messages that were read, of all applications
 * @param refused messages of these that servers would refuse
 * @param applicationMessages messages of the application
 * @param spans spans of the application, without those that filters exclude
 * @param filtered spans of the application that filters exclude
 * @param queues queues with messages of the application
 * @param maxPerApplication the limit of an application's series on one queue
 * @param from time since which messages were read
 * @param complete whether all messages since then were read; if not, memory or time did not suffice
 * @param inForce by the rules that servers follow; by the configuration if no rules were published
 */
public record RulesComparison(
    String application,
    long messages,
    long refused,
    long applicationMessages,
    long spans,
    long filtered,
    int queues,
    int maxPerApplication,
    Instant from,
    boolean complete,
    RulesCost inForce,
    RulesCost proposed) {
  /** Prints the comparison as tables. */
  public void print(PrintWriter out) {
    new RulesTable(this, out).print();
  }
}
