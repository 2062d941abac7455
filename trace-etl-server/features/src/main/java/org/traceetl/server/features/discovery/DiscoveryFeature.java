package org.traceetl.server.features.discovery;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.Reason;
import org.traceetl.common.SteppedThread;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.http.Feature;
import org.traceetl.server.rocketmq.Announcement;
import org.traceetl.server.rocketmq.Endpoint;

/**
 * The servers of the consumer group, including this one. A dead server leaves the group once its
 * connections have ended. Brokers that are away, or were restarted and do not know their clients
 * yet, remove no server from the list.
 *
 * <p>One thread queries the brokers; other threads read its latest result.
 */
public final class DiscoveryFeature implements Feature {
  /** Failed queries of a usual start. */
  private static final int USUAL_FAILURES = 10;

  /** Also the maximum time until a new server is listed. */
  static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** Limit of the list, because any program may join the group and announce something. */
  static final int MAX_SERVERS = 1_000;

  private static final Logger log = LoggerFactory.getLogger(DiscoveryFeature.class);

  /** Returns the members of the group. */
  public interface Members {
    /**
     * Returns the names of the group's clients as known to the brokers that answer.
     *
     * @throws IOException if no broker answers
     */
    Collection<String> names() throws IOException, InterruptedException;
  }

  /** Why a member of the group is not listed. */
  private enum LeftOut {
    /** It announces nothing: an older server or another program. */
    UNANNOUNCED,
    /** Its announcement is not an endpoint. */
    MALFORMED,
    /** The list is full. */
    TOO_MANY
  }

  /**
   * The latest result. Immutable.
   *
   * @param servers in order; null until a broker has answered
   * @param current whether a broker answered the latest query
   */
  private record Seen(List<Endpoint> servers, boolean current, Map<String, Integer> leftOut) {}

  private final Members members;
  private final long forgetAfterNanos;
  private final LongSupplier nanoTime;
  private final LogThrottle throttle;
  private final SteppedThread thread;

  /** Set before the first query. */
  private volatile Endpoint own;

  /**
   * When each server was last seen, in the time of {@link #answeredNanos}. Confined to the thread.
   */
  private final Map<Endpoint, Long> lastSeen = new HashMap<>();

  /** Total time between consecutive answered queries. Servers are forgotten on this clock. */
  private long answeredNanos;

  private long lookNanos;

  /** Failed queries. */
  private int failures;

  private volatile Seen seen = new Seen(null, false, Map.of());

  public DiscoveryFeature(DiscoveryConfig config, Members members, Clocks clocks) {
    this.members = members;
    nanoTime = clocks.nanoClock();
    forgetAfterNanos = config.forgetAfter().toNanos();
    throttle = new LogThrottle(clocks.wall());
    thread = SteppedThread.daemon(clocks, "trace-etl-discovery", this::look, throttle);
  }

  /**
   * Starts the queries. Call once.
   *
   * @param here endpoint of this server
   */
  @Override
  public void start(Endpoint here) {
    at(here);
    log.info("This server announces itself to scrapers as {}", here);
    thread.start();
  }

  /** Sets the endpoint of this server. Called before the first query. */
  void at(Endpoint here) {
    own = here;
  }

  /** Returns the endpoint of this server; empty before the start. */
  public Optional<Endpoint> here() {
    return Optional.ofNullable(own);
  }

  /**
   * Returns the servers in order; empty until a broker has answered, because others may exist. Does
   * not block.
   */
  public Optional<List<Endpoint>> servers() {
    return Optional.ofNullable(seen.servers);
  }

  /** Returns whether a broker answered the latest query. Does not block. */
  public boolean current() {
    return seen.current;
  }

  /** Returns the number of unlisted members of the group by reason. Does not block. */
  public Map<String, Integer> leftOut() {
    return seen.leftOut;
  }

  @Override
  public void metrics(MetricRegistry registry) {
    registry.gauge(
        "trace_etl_discovery_servers",
        "Servers listed by /api/targets; 0 until a broker has answered.",
        () -> servers().map(List::size).orElse(0));
    registry.gauge(
        "trace_etl_discovery_current",
        "1 if a broker returned the list of servers at the last query, else 0 and the list"
            + " is the last known one.",
        () -> current() ? 1 : 0);
    registry.gauge(
        "trace_etl_discovery_left_out",
        "Members of the consumer group that /api/targets does not list, by reason.",
        "reason",
        this::leftOut);
  }

  @Override
  public List<Object> resources() {
    return List.of(new TargetsResource(this));
  }

  @Override
  public void status(Map<String, Object> fields) {
    fields.put("server", here().map(Endpoint::target).orElse(null));
    fields.put(
        "servers", servers().map(all -> all.stream().map(Endpoint::target).toList()).orElse(null));
  }

  @Override
  public boolean healthy() {
    return thread.alive();
  }

  @Override
  public void close() {
    thread.close();
  }

  /** Queries the brokers once. Called by the thread and by tests. */
  long look() throws InterruptedException {
    Collection<String> names;
    try {
      names = members.names();
    } catch (IOException e) {
      seen = new Seen(seen.servers, false, seen.leftOut);
      failures++;
      // At each start the list is unknown until the broker has this server's own consumer.
      if ((seen.servers != null || failures > USUAL_FAILURES) && throttle.permits()) {
        if (seen.servers == null) {
          log.info("The list of servers is not known yet; the server retries: {}", Reason.of(e));
        } else {
          log.warn(
              "Could not read the members of the consumer group; /api/targets keeps the"
                  + " last known list of servers: {}",
              e.getMessage());
        }
      }
      return LOOK_NANOS;
    }
    long nowNanos = nanoTime.getAsLong();
    if (seen.current) {
      answeredNanos += nowNanos - lookNanos;
    }
    lookNanos = nowNanos;
    Map<LeftOut, Integer> leftOut = new EnumMap<>(LeftOut.class);
    lastSeen.put(own, answeredNanos);
    for (String name : names) {
      note(name, leftOut);
    }
    lastSeen.values().removeIf(last -> answeredNanos - last > forgetAfterNanos);
    Map<String, Integer> byReason = new HashMap<>();
    leftOut.forEach((reason, count) -> byReason.put(reason.name().toLowerCase(Locale.ROOT), count));
    List<Endpoint> servers = new ArrayList<>(lastSeen.keySet());
    servers.sort(null);
    seen = new Seen(List.copyOf(servers), true, Map.copyOf(byReason));
    return LOOK_NANOS;
  }

  private void note(String name, Map<LeftOut, Integer> leftOut) {
    if (!Announcement.announces(name)) {
      leftOut.merge(LeftOut.UNANNOUNCED, 1, Integer::sum);
      return;
    }
    Optional<Endpoint> server = Announcement.read(name);
    if (server.isEmpty()) {
      leftOut.merge(LeftOut.MALFORMED, 1, Integer::sum);
    } else if (lastSeen.size() < MAX_SERVERS || lastSeen.containsKey(server.get())) {
      lastSeen.put(server.get(), answeredNanos);
    } else {
      leftOut.merge(LeftOut.TOO_MANY, 1, Integer::sum);
    }
  }
}
