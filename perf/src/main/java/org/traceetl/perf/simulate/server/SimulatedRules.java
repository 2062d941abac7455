package org.traceetl.perf.simulate.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.traceetl.perf.simulate.check.SeriesKey;
import org.traceetl.perf.simulate.world.World;

/**
 * The files of rules of simulated servers. A change reaches each server at another time, as that of
 * a ConfigMap does.
 */
public final class SimulatedRules {
  private static final long LATEST_NANOS = TimeUnit.SECONDS.toNanos(90);

  private record File(long revision, String content) {
    static File of(long revision, List<String> applications) {
      StringBuilder content = new StringBuilder("revision: " + revision + "\n");
      if (!applications.isEmpty()) {
        content.append("applications:\n");
      }
      for (String application : applications) {
        content.append("  - application: ").append(application).append('\n');
        content.append("    series: {dimensions: [{attribute: ").append(SeriesKey.REGION);
        content.append("}]}\n");
      }
      return new File(revision, content.toString());
    }
  }

  private final World world;

  /** By name of the server. */
  private final Map<String, File> files = new TreeMap<>();

  private long revision = 1;

  /** Creates the files of servers, without rules of applications. */
  public SimulatedRules(World world, List<String> servers) {
    this.world = world;
    servers.forEach(server -> files.put(server, File.of(revision, List.of())));
  }

  /**
   * Raises the revision, and gives spans' regions to the series of some applications.
   *
   * @param applications all that have this dimension from now on
   */
  public void change(List<String> applications) {
    File changed = File.of(++revision, applications);
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
}
