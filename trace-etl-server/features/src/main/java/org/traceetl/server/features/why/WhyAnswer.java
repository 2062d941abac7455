package org.traceetl.server.features.why;

import java.time.Instant;
import java.util.List;

/**
 * What selected spans have more often than the baseline. A trace counts once in each operation.
 *
 * @param operation null for all
 * @param kind null for all
 * @param slowerThanMillis null for any duration
 * @param from time since which messages were read, as the broker stored them, or since which
 *     documents begin
 * @param baseline {@code rest}, or how much earlier the baseline is
 * @param source {@code broker}; or {@code index}, if the broker has no message of an interval: then
 *     both sides are slow and failed spans
 * @param complete whether all messages since then were read
 * @param spans spans in the interval
 * @param selectedSpans those that are selected
 * @param sampled whether the selection is a sample, because agents sent parts of it in groups
 * @param spansPerSample spans for each trace of the baseline, which is a sample; the median if
 *     operations differ
 * @param selectionTraces traces of the selection that were compared
 * @param baselineTraces traces of the baseline that were compared
 * @param valuesTested values that were tested as causes or outcomes
 * @param attributesLeftOut occurrences of values beyond the limits of memory
 * @param errorRate highest probability that an answer lists a value if the selection differs in
 *     nothing
 * @param operations the operations of the selection, most spans first; at most 20
 * @param causes groups of values, the most informative first; at most 10
 * @param outcomes the same of attributes that record how a span ended
 */
public record WhyAnswer(
    String application,
    String operation,
    String kind,
    boolean failed,
    Double slowerThanMillis,
    Instant from,
    Instant until,
    String baseline,
    String source,
    boolean complete,
    long messages,
    long spans,
    long selectedSpans,
    boolean sampled,
    double spansPerSample,
    int selectionTraces,
    int baselineTraces,
    int valuesTested,
    long attributesLeftOut,
    double errorRate,
    List<OperationShare> operations,
    List<Cause> causes,
    List<Cause> outcomes) {
  /** Returns the answer for those who may not see how many messages all applications have. */
  WhyAnswer withoutMessages() {
    return new WhyAnswer(
        application,
        operation,
        kind,
        failed,
        slowerThanMillis,
        from,
        until,
        baseline,
        source,
        complete,
        0,
        spans,
        selectedSpans,
        sampled,
        spansPerSample,
        selectionTraces,
        baselineTraces,
        valuesTested,
        attributesLeftOut,
        errorRate,
        operations,
        causes,
        outcomes);
  }

  /** An operation of the selection. A batch that an agent sent twice counts twice. */
  public record OperationShare(String operation, String kind, long spans, long selectedSpans) {}

  /**
   * An attribute and one of its values.
   *
   * @param value identifiers in it may be replaced; a range of numbers, such as {@code at least
   *     1024}; or null if the attribute is absent
   */
  public record Attribute(String key, String value) {}

  /**
   * A value, or a pair of values, and others that add no information.
   *
   * @param attributes one or two
   * @param selectionTraces traces of the selection with them
   * @param baselineTraces traces of the baseline with them
   * @param selectionShare share of the selection
   * @param baselineShare share of the baseline, with the operations of the selection
   * @param baselineLow lower bound of this share, 95 %
   * @param baselineHigh upper bound of this share, 95 %
   * @param lift the ratio of the shares; null if the baseline has none
   * @param leastLift the ratio with the upper bound
   * @param explained share of the selection that would be missing without the cause
   * @param g statistic of the test
   * @param traces examples, the longest spans first; at most 5
   * @param correlated others with the same explanation, at most 20
   */
  public record Cause(
      List<Attribute> attributes,
      int selectionTraces,
      int baselineTraces,
      double selectionShare,
      double baselineShare,
      double baselineLow,
      double baselineHigh,
      Double lift,
      double leastLift,
      double explained,
      double g,
      List<Example> traces,
      List<Correlated> correlated) {}

  /** A selected span. */
  public record Example(String traceId, String spanId, Instant start, double durationMillis) {}

  /** A value, or a pair of values, with its shares. */
  public record Correlated(
      List<Attribute> attributes, double selectionShare, double baselineShare) {}
}
