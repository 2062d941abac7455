package org.traceetl.perf.simulate.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.traceetl.perf.simulate.world.World;

/**
 * The files of rules of simulated servers. A change reaches each server at another time, as that of
 * a ConfigMap does.
 */
public final class SimulatedRules {
  private static final long LATEST_NANOS = TimeUnit.SECONDS.toNanos(90);

  private record File(long revision, String content) {
    static File of(long revision, DrawnRules rules) {
      return new File(revision, rules.text(revision));
    }
  }

  private final World world;
  private final SplittableRandom contents;

  /** By name of the server. */
  private final Map<String, File> files = new TreeMap<>();

  private long revision = 1;
  private DrawnRules newest = DrawnRules.none();

  /**
   * Creates the files of servers, without rules of applications.
   *
   * @param contents draws dimensions, buckets, units and measures of rules; null for rules that
   *     have spans' regions as a dimension, and nothing else
   */
  public SimulatedRules(World world, List<String> servers, SplittableRandom contents) {
    this.world = world;
    this.contents = contents;
    servers.forEach(server -> files.put(server, File.of(revision, newest)));
  }

  /**
   * Raises the revision.
   *
   * @param applications all that have rules from now on
   */
  public void change(List<String> applications) {
    newest =
        contents == null
            ? DrawnRules.ofRegion(applications)
            : DrawnRules.draw(applications, contents);
    File changed = File.of(++revision, newest);
    world.timeline().note("rules", changed.content());
    for (String server : files.keySet()) {
      world.after(world.random().nextLong(LATEST_NANOS), () -> replace(server, changed));
    }
  }

  /** A later change may have reached the server before. */
  private void replace(String server, File by) {
    files.merge(server, by, (one, other) -> one.revision() > other.revision() ? one : other);
  }

  byte[] content(String server) {
    return files.get(server).content().getBytes(UTF_8);
  }

  /** Returns the newest file, which may not have reached all servers yet. */
  byte[] newest() {
    return File.of(revision, newest).content().getBytes(UTF_8);
  }

  /** Returns the newest revision. */
  public long revision() {
    return revision;
  }

  /** Returns whether the newest rules have spans' regions as a dimension. */
  public boolean addRegion() {
    return newest.addRegion();
  }

  /** Returns the metrics of measures that the newest rules have, by application. */
  public Map<String, Set<String>> measures() {
    return newest.measures();
  }
}
