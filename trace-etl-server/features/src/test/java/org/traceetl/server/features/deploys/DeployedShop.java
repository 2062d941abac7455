package org.traceetl.server.features.deploys;

import java.time.InstantSource;
import java.util.List;
import java.util.SplittableRandom;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.http.Feature;

/** The deploys of an application shop whose version 1.4 takes longer than 1.3, for tests. */
public final class DeployedShop {
  private static final int OLD_SLOTS = 40;
  private static final int NEW_SLOTS = 20;

  private DeployedShop() {}

  /**
   * Returns the feature of a server that has read all.
   *
   * @param clock what it takes for now; the deploy was ten minutes earlier
   */
  public static Feature feature(InstantSource clock) {
    Versions versions =
        new Versions(
            new SeriesVersions.Reader(
                "service.version", List.of(new Dimension("service.version", null, null))),
            1_000,
            VersionQueue.BUCKETS,
            VersionQueue.SCHEMA,
            () -> true,
            clock,
            new SplittableRandom(1));
    VersionQueue queue = new VersionQueue(0);
    long millis = clock.millis() - (OLD_SLOTS + NEW_SLOTS + 2) * Timeline.SLOT_MILLIS;
    for (int slot = 0; slot < OLD_SLOTS + NEW_SLOTS; slot++) {
      boolean isOld = slot < OLD_SLOTS;
      queue.calls(isOld ? "1.3" : "1.4", (isOld ? 1_000 : 1_200) + slot % 7, 90, 10 + slot % 3);
      versions.window(queue.failed(isOld ? "1.3" : "1.4", slot % 2).seal(millis));
      millis += Timeline.SLOT_MILLIS;
    }
    return new DeploysFeature(versions);
  }
}
