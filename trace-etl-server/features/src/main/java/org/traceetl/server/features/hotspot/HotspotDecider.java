package org.traceetl.server.features.hotspot;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.Reason;
import org.traceetl.common.WildcardPattern;
import org.traceetl.proto.HotspotDecisions;
import org.traceetl.proto.HotspotDecisions.Decision;
import org.traceetl.server.decisions.Decider;
import org.traceetl.server.decisions.DecisionLog;
import org.traceetl.server.features.hotspot.Hotspots.State;
import org.traceetl.server.features.hotspot.LoadMeter.End;
import org.traceetl.server.log.Printable;
import org.traceetl.server.window.Books;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Watches the load of the fleet. On the deciding server it decides on hotspots and publishes the
 * decisions to agents and servers.
 *
 * <p>Concurrency: one thread checks and decides, and owns all state, except the load meter, which
 * the journal's follower updates, and the published counters and picture.
 */
public final class HotspotDecider extends Decider<HotspotDecisions> {
  private static final Logger LOG = LoggerFactory.getLogger(HotspotDecider.class);

  /** Applications without a decision in the picture: those with most load. */
  private static final int OTHERS_SHOWN = 20;

  /** Queues with a backlog in the picture: those with the largest one. */
  private static final int BEHIND_SHOWN = 10;

  /** Maximum length of a name, and of all changes, in a log line. */
  private static final int MOST_NAME = 200;

  private static final int MOST_CHANGES = 2_000;

  private final HotspotsConfig config;
  private final List<WildcardPattern> pinned;
  private final LoadMeter meter = new LoadMeter();
  private final HotspotPolicy policy;
  private final LongAdder decided = new LongAdder();
  private final LongAdder lost = new LongAdder();
  private volatile Hotspots picture = Hotspots.NONE;

  /** Confined to the thread. */
  private boolean wasDecider;

  /** Creates a decider that is not started. */
  public HotspotDecider(HotspotsConfig config, DecisionLog decisions, Clocks clocks) {
    super(
        "trace-hotspots",
        config.topic(),
        HotspotDecisions.FORMAT,
        epoch -> new HotspotDecisions(epoch, epoch, Map.of()),
        config.interval(),
        decisions,
        clocks);
    this.config = config;
    pinned = config.pinned().stream().map(WildcardPattern::new).toList();
    policy = new HotspotPolicy(config);
  }

  /** Counts a window of any queue. Thread-safe. */
  @Override
  public void window(SealedWindow window) {
    meter.add(window);
  }

  /** Returns the decisions and loads as of the latest check. */
  public Hotspots picture() {
    return picture;
  }

  /** Returns the number of decisions that this server has written. */
  public long decided() {
    return decided.sum();
  }

  /** Returns the number of this server's decisions that another server's decision preceded. */
  public long lost() {
    return lost.sum();
  }

  @Override
  protected void adopted(HotspotDecisions now) {
    policy.adopt(now.applications());
  }

  @Override
  protected long look() throws InterruptedException {
    try {
      update();
    } catch (IOException e) {
      picture = shown(State.AWAY, picture.loadMillis(), picture.maxToMean(), picture.queues());
      if (throttle.permits()) {
        LOG.warn("Could not check the applications for hotspots, trying again: {}", Reason.of(e));
      }
    }
    return config.interval().toNanos();
  }

  private void update() throws IOException, InterruptedException {
    Set<QueueId> queues = new TreeSet<>(decisions.queues());
    QueueLoads taken = meter.take(queues, ends(queues));
    QueueLoads loads = decisions.upToDate() ? taken : null;
    if (!published.find()) {
      picture = picture(State.NO_TOPIC, loads, queues.size());
      return;
    }
    boolean readAll = published.read();
    boolean decider = decides(queues);
    if (decider != wasDecider) {
      LOG.info(
          "This server {} the hotspots of the fleet",
          decider ? "decides on" : "no longer decides on");
      policy.forget();
      wasDecider = decider;
    }
    if (decider) {
      boolean changed = loads != null && policy.look(loads, this::pinned, clock.millis());
      policy.takeNewlyStuck().forEach(HotspotDecider::tell);
      if (changed) {
        decide();
      } else {
        published.repeat(readAll);
      }
    }
    picture = picture(decider ? State.DECIDER : State.FOLLOWER, loads, queues.size());
  }

  /**
   * Returns the ends of the queues whose brokers answer. A broker that fails is not asked again in
   * this check.
   */
  private Map<QueueId, End> ends(Set<QueueId> queues) throws InterruptedException {
    Map<QueueId, End> ends = new HashMap<>();
    Set<String> silent = new HashSet<>();
    for (QueueId queue : queues) {
      if (!silent.contains(queue.broker())) {
        try {
          // Each end has its own time: a slow broker delays those after it.
          ends.put(queue, new End(decisions.end(queue), nanoTime.getAsLong()));
        } catch (IOException e) {
          silent.add(queue.broker());
          if (throttle.permits()) {
            LOG.warn("Could not read the end of queue {}, trying again: {}", queue, Reason.of(e));
          }
        }
      }
    }
    return ends;
  }

  private static void tell(String application) {
    LOG.warn(
        "Application {} stays a hotspot although it has more queues: few of its series have"
            + " most of the load, or agents do not apply the decisions. With"
            + " trace-etl.hotspots.spread-random its spans are distributed at random",
        Printable.of(application, MOST_NAME));
  }

  private boolean pinned(String application) {
    // These names stand for several applications: spans rejected before their application was
    // known, or beyond a limit.
    return application.isEmpty()
        || application.equals(Books.OTHER)
        || pinned.stream().anyMatch(glob -> glob.matches(application));
  }

  private void decide() throws IOException, InterruptedException {
    HotspotDecisions before = published.current();
    HotspotDecisions next =
        new HotspotDecisions(published.nextEpoch(), clock.millis(), policy.decided());
    boolean holds;
    try {
      holds = published.put(next);
    } catch (IOException e) {
      // The record may or may not be stored: the next check reads it, or decides again.
      policy.adopt(published.current().applications());
      throw e;
    }
    if (holds) {
      decided.increment();
      tell(before.applications(), next);
    } else {
      lost.increment();
      policy.adopt(published.current().applications());
      policy.forget();
    }
  }

  private static void tell(Map<String, Decision> before, HotspotDecisions now) {
    Map<String, String> changes = new TreeMap<>();
    now.applications()
        .forEach((name, decision) -> {
          if (!decision.equals(before.get(name))) {
            changes.put(name, decision.queues() + (decision.random() ? " at random" : ""));
          }
        });
    before
        .keySet()
        .forEach(name -> {
          if (!now.applications().containsKey(name)) {
            changes.put(name, "default");
          }
        });
    LOG.info(
        "Changed the number of queues of hotspots; epoch={}, queues={}",
        now.epoch(),
        Printable.of(changes.toString(), MOST_CHANGES));
  }

  private Hotspots picture(State state, QueueLoads loads, int queues) {
    if (loads == null) {
      return shown(state, picture.loadMillis(), picture.maxToMean(), queues);
    }
    HotspotDecisions current = published.current();
    double[] totals = loads.totals();
    double all = Arrays.stream(totals).sum();
    List<Hotspots.Application> applications = new ArrayList<>();
    loads
        .rates()
        .forEach((name, rates) ->
            applications.add(
                application(name, rates, all, loads.waiting().getOrDefault(name, 0.0))));
    current
        .applications()
        .forEach((name, decision) -> {
          if (!loads.rates().containsKey(name)) {
            applications.add(application(name, new double[0], all, 0));
          }
        });
    applications.removeIf(application -> application.application().isEmpty());
    applications.sort(
        Comparator.comparing((Hotspots.Application application) -> application.sinceMillis() == 0)
            .thenComparingDouble(application -> -application.rate())
            .thenComparing(Hotspots.Application::application));
    int shown = Math.min(applications.size(), current.applications().size() + OTHERS_SHOWN);
    return new Hotspots(
        state,
        current.epoch(),
        current.decidedMillis(),
        queues,
        clock.millis(),
        all == 0 ? Double.NaN : Arrays.stream(totals).max().orElse(0) * totals.length / all,
        List.copyOf(applications.subList(0, shown)),
        behind(loads, totals));
  }

  private static List<Hotspots.Queue> behind(QueueLoads loads, double[] totals) {
    return IntStream.range(0, totals.length)
        .filter(queue -> loads.lags().get(queue).messages() > 0)
        .boxed()
        .sorted(Comparator.comparingLong(queue -> -loads.lags().get(queue).messages()))
        .limit(BEHIND_SHOWN)
        .map(queue -> {
          QueueLag lag = loads.lags().get(queue);
          return new Hotspots.Queue(
              loads.queues().get(queue),
              totals[queue],
              lag.recorded(),
              lag.messages(),
              lag.spans(),
              lag.growing());
        })
        .toList();
  }

  private Hotspots.Application application(String name, double[] rates, double all, double lag) {
    Decision decision = published.current().applications().get(name);
    double rate = Arrays.stream(rates).sum();
    return new Hotspots.Application(
        name,
        rate,
        all == 0 ? 0 : rate / all,
        decision == null ? config.minQueues() : decision.queues(),
        (int) Arrays.stream(rates).filter(perQueue -> perQueue > 0).count(),
        Arrays.stream(rates).max().orElse(0),
        decision != null && decision.random(),
        decision == null ? 0 : decision.sinceMillis(),
        pinned(name),
        policy.stuck(name),
        lag);
  }

  private Hotspots shown(State state, long loadMillis, double maxToMean, int queues) {
    HotspotDecisions current = published.current();
    return new Hotspots(
        state,
        current.epoch(),
        current.decidedMillis(),
        queues,
        loadMillis,
        maxToMean,
        picture.applications(),
        picture.behind());
  }
}
