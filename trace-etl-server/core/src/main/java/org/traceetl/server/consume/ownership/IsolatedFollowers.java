package org.traceetl.server.consume.ownership;

import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** Passes each call to all followers; a failure of one does not affect the rest. */
final class IsolatedFollowers implements WindowFollower {
  private static final Logger log = LoggerFactory.getLogger(IsolatedFollowers.class);

  private final List<WindowFollower> followers;
  private final SpanPipelineMetrics metrics;

  IsolatedFollowers(List<WindowFollower> followers, SpanPipelineMetrics metrics) {
    this.followers = List.copyOf(followers);
    this.metrics = metrics;
  }

  @Override
  public void restored(QueueId queue, QueueImage image, long showFromNanos) {
    each(queue, follower -> follower.restored(queue, image, showFromNanos));
  }

  @Override
  public void window(SealedWindow window) {
    each(window.queue(), follower -> follower.window(window));
  }

  @Override
  public void shownUntil(QueueId queue, long nanos) {
    each(queue, follower -> follower.shownUntil(queue, nanos));
  }

  @Override
  public void released(QueueId queue) {
    each(queue, follower -> follower.released(queue));
  }

  private void each(QueueId queue, Consumer<WindowFollower> call) {
    for (WindowFollower follower : followers) {
      try {
        call.accept(follower);
      } catch (RuntimeException e) {
        metrics.failed();
        log.error("{} failed to process an update of queue {}", follower, queue, e);
      }
    }
  }
}
