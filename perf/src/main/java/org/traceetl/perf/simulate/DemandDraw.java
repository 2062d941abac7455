package org.traceetl.perf.simulate;

import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.DetailConfig.Detail;

/**
 * How a run uses demand. It is drawn from a stream of its own, so the seed's other draws are those
 * of a run without demand.
 *
 * @param published whether servers publish what they need of spans
 * @param dimension whether spans have attributes, one of which is a dimension of the configuration
 *     or of rules
 * @param panes whether servers write windows with panes, since all announce that they read them
 * @param twoConfigurations whether every other server has another configuration
 * @param sizes whether servers count the sizes of spans, and demand them
 * @param weights whether some spans were sampled before they reach their agent
 * @param forms whether rules that change also have buckets, units and measures
 * @param agents by agent: whether it sends what servers demand
 * @param bundles by agent: whether it sends bundles while servers say that they read them
 * @param lingerMillis by agent: how long its batches wait for others to share a bundle
 * @param sampleRatios by agent: how many of its spans in groups are also sent whole
 */
record DemandDraw(
    boolean published,
    boolean dimension,
    boolean panes,
    boolean twoConfigurations,
    boolean sizes,
    boolean weights,
    boolean forms,
    List<Boolean> agents,
    List<Boolean> bundles,
    List<Integer> lingerMillis,
    List<Double> sampleRatios) {
  private static final long STREAM = 0x22;
  private static final long BUNDLES_STREAM = 0x2222;

  /** One of this number of installations is upgraded in part only. */
  private static final int INCOMPLETE = 8;

  private static final int AGENTS_WITHOUT = 4;

  /** One of this number of installations has no bundles, and of its agents. */
  private static final int WITHOUT_BUNDLES = 4;

  /** With it, the kept schedules that use demand draw no sizes, so their runs stay as they were. */
  private static final long SIZES_STREAM = 0x53;

  /** As {@link #SIZES_STREAM}. */
  private static final long WEIGHTS_STREAM = 0xe0;

  /** One of this number of installations changes its rules. */
  private static final int CHANGES_RULES = 3;

  private static final long RULES_STREAM = 0x2225;

  /**
   * With it, the kept schedule that adds a dimension draws no forms, so its run stays as it was.
   */
  private static final long FORMS_STREAM = 0x22253;

  private static final long SAMPLES_STREAM = 0x222222;
  private static final List<Double> SAMPLE_RATIOS = List.of(0.0, 1.0 / 128, 0.25, 1.0);

  private static final int[] LINGER_MILLIS = {0, 20, 100, 2_000};

  /** Returns whether runs of a seed use demand, unless their plans say otherwise. */
  static boolean isUsedBy(long seed) {
    return stream(seed).nextBoolean();
  }

  /**
   * Draws what a plan uses.
   *
   * @param recorded whether the run begins or ends with a recorded state. Any build must be able to
   *     continue with it, so it has no dimension of spans, no panes, sizes, weights or bundles
   */
  static DemandDraw of(Plan plan, boolean recorded) {
    int agents = plan.fleet().agents();
    if (!plan.demand()) {
      List<Boolean> none = Collections.nCopies(agents, false);
      return new DemandDraw(
          false,
          false,
          false,
          false,
          false,
          false,
          false,
          none,
          none,
          Collections.nCopies(agents, 0),
          Collections.nCopies(agents, 0.0));
    }
    SplittableRandom random = stream(plan.seed()).split();
    boolean obeyed = random.nextInt(INCOMPLETE) > 0;
    boolean published = !obeyed || random.nextInt(INCOMPLETE) > 0;
    boolean twoConfigurations = published && random.nextBoolean();
    // From another stream, so that what else a seed draws stays.
    SplittableRandom bundles = new SplittableRandom(plan.seed() ^ BUNDLES_STREAM);
    return new DemandDraw(
        published,
        !recorded,
        published && !recorded,
        twoConfigurations,
        published && !recorded && new SplittableRandom(plan.seed() ^ SIZES_STREAM).nextBoolean(),
        published && !recorded && new SplittableRandom(plan.seed() ^ WEIGHTS_STREAM).nextBoolean(),
        published && !recorded && rules(plan.seed()).nextBoolean(),
        Stream.generate(() -> obeyed && random.nextInt(AGENTS_WITHOUT) > 0).limit(agents).toList(),
        bundles(bundles, agents, published && !recorded),
        Stream.generate(() -> LINGER_MILLIS[bundles.nextInt(LINGER_MILLIS.length)])
            .limit(agents)
            .toList(),
        sampleRatios(new SplittableRandom(plan.seed() ^ SAMPLES_STREAM), agents));
  }

  /** Returns whether the faults of a plan without a recorded state include changes of rules. */
  static boolean changesRules(Plan plan) {
    return of(plan, false).panes()
        && new SplittableRandom(plan.seed() ^ RULES_STREAM).nextInt(CHANGES_RULES) == 0;
  }

  /** Returns the random numbers of the contents of rules. */
  static SplittableRandom rules(long seed) {
    return new SplittableRandom(seed ^ FORMS_STREAM);
  }

  private static List<Double> sampleRatios(SplittableRandom random, int agents) {
    return Stream.generate(() -> SAMPLE_RATIOS.get(random.nextInt(SAMPLE_RATIOS.size())))
        .limit(agents)
        .toList();
  }

  private static List<Boolean> bundles(SplittableRandom random, int agents, boolean read) {
    boolean used = read && random.nextInt(WITHOUT_BUNDLES) > 0;
    return Stream.generate(() -> used && random.nextInt(WITHOUT_BUNDLES) > 0)
        .limit(agents)
        .toList();
  }

  /** Returns the configuration of what an agent sends. */
  DetailConfig detail(int agent) {
    Detail detail = agents.get(agent) ? Detail.DEMAND : Detail.FULL;
    return new DetailConfig(detail, List.of(), sampleRatios.get(agent));
  }

  private static SplittableRandom stream(long seed) {
    return new SplittableRandom(seed ^ STREAM);
  }
}
