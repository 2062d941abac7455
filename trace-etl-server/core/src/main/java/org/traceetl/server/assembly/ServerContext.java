package org.traceetl.server.assembly;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.LearntNames;
import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.consume.metrics.CardinalityReports;
import org.traceetl.server.decisions.DecisionLog;
import org.traceetl.server.decode.SpanRulesInForce;
import org.traceetl.server.journal.FleetWindows;
import org.traceetl.server.journal.chain.JournalComponent;
import org.traceetl.server.profile.ProfileParts;
import org.traceetl.server.queues.KnownQueues;
import org.traceetl.server.rules.Rules;
import org.traceetl.server.series.SpanNeeds;
import org.traceetl.server.telemetry.ServerTelemetry;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.StoredDocuments;

/**
 * What core gives to a feature that is constructed. Features are constructed in the order of the
 * server's list, and reach each other through this only.
 */
public interface ServerContext {
  CoreConfig config();

  ProfileParts profile();

  JournalComponent journal();

  /** The schema of series with this server's dimensions and buckets. */
  long schema();

  /** The journal of half-edges; null if this server reads none. It starts with their pipeline. */
  JournalComponent edgesJournal();

  /** The schema of the series of edges. As {@link #edgesJournal}. */
  long edgesSchema();

  /** Counts half-edges that changes of the list of their queues separated as moved. One thread. */
  void edgeQueues(EdgeQueues list);

  /** Joins names by these rules from the next batch on. */
  void learnt(LearntNames names);

  /** Returns the learnt names in force. Any thread. */
  LearntNames learnt();

  /** Applies the thresholds of rules from each queue's next window on. */
  void rules(Rules rules);

  /**
   * Applies the dimensions and templates of rules from each queue's next batch on.
   *
   * @param rules null for those of the configuration
   */
  void dimensions(Rules rules);

  /** Returns the dimensions and templates in force. Any thread. */
  SpanRulesInForce spanRules();

  /** Returns the objectives of an application that are in force. Any thread. */
  default List<ObjectiveConfig> objectives(String application) {
    return spanRules().of(application).measures().objectives();
  }

  /**
   * Checks rules of another server.
   *
   * @throws ConfigException if this server's configuration does not allow them
   */
  void checkRules(Rules rules);

  /**
   * Reads the content of a file of rules that are to be applied while servers run.
   *
   * @param file where the content is from, for messages
   * @throws ConfigException with all problems, if rules are invalid or cannot be applied
   */
  Rules parseRules(Path file, byte[] content);

  /**
   * Sets what {@link #needs()} returns: the thresholds in force, and these attributes.
   *
   * @param attributes of spans that rules have as dimensions, or have from now on, by the pattern
   *     of their applications
   */
  void needs(Map<String, Set<String>> attributes);

  /**
   * Returns what this server needs of spans by the rules in force. Any thread.
   *
   * @return null if they are awaited
   */
  SpanNeeds needs();

  /** Lets {@link #needs()} be null until {@link #stopAwaitingRules}. */
  void awaitRules();

  /** The rules in force were looked for. Any thread. */
  void stopAwaitingRules();

  /** Sets whether all servers read series that have labels of their own. */
  void labels(boolean readByAll);

  /**
   * Returns whether all servers read series that have labels of their own. Any thread.
   *
   * @return null if it is not known yet
   */
  Boolean labels();

  /**
   * Sets whether all servers read series that have buckets and a unit of their own, and those of
   * measures.
   */
  void forms(boolean readByAll);

  /** Sets whether all servers read variances of sampled series. */
  void variances(boolean readByAll);

  /**
   * Returns whether all servers read series that have buckets and a unit of their own. Any thread.
   *
   * @return null if it is not known yet
   */
  Boolean forms();

  /**
   * Lets this server write windows with their panes from the next window on, unless its
   * configuration forbids it.
   *
   * @param windows whether all servers read them
   * @param snapshots whether all servers read snapshots with open panes as well
   */
  void panes(boolean windows, boolean snapshots);

  /**
   * Makes windows keep their panes until {@link #panes} is called, unless the configuration forbids
   * it: a server that starts may read a long backlog before.
   */
  void awaitPanes();

  /** Lets no window wait for {@link #panes}, which is not called soon. */
  void stopAwaitingPanes();

  ServerTelemetry telemetry();

  Clocks clocks();

  /** The source of random numbers. Thread-safe. */
  RandomGenerator random();

  /** The applications near a limit of series. */
  CardinalityReports cardinality();

  /** Sets what {@link #documents()} returns. */
  void documents(StoredDocuments store);

  /** The documents of slow and failed spans; without a store until a feature sets one. */
  StoredDocuments documents();

  /** The windows of all queues, which one feature reads and others receive. */
  FleetWindows fleet();

  /** What this server knows of the fleet's queues. Never waits; called once it has started. */
  KnownQueues queues();

  /**
   * Adds to {@link #queues} those whose servers do not keep up with them.
   *
   * @param queues never waits
   */
  void growing(Supplier<Set<QueueId>> queues);

  /** Where decisions are written and read; null if no feature has a topic for them. */
  DecisionLog decisions();

  /** The topic of the decisions, and how often servers look at it. As {@link #decisions}. */
  DecisionsConfig decisionsConfig();

  /**
   * Whether this server may decide for the fleet. It needs the fleet's windows, and pages that stay
   * right while a series moves to another queue. Logs what is missing.
   */
  boolean decides();
}
