package org.traceetl.server.journal;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * A journal that lasts as long as the process: appending a window hands it to the followers, in
 * their order, on the caller's thread. The first one decides: a window that it refuses is kept by
 * nobody, and the caller may append it again. Any other that throws loses that window alone.
 *
 * <p>Callers append one window at a time.
 */
public final class InProcessJournal implements Journal {
  private static final Logger log = LoggerFactory.getLogger(InProcessJournal.class);

  private final List<WindowFollower> followers;

  /**
   * @param followers at least one
   */
  public InProcessJournal(List<WindowFollower> followers) {
    this.followers = List.copyOf(followers);
  }

  @Override
  public CompletionStage<Void> append(SealedWindow window) {
    try {
      followers.getFirst().window(window);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
    for (WindowFollower follower : followers.subList(1, followers.size())) {
      try {
        follower.window(window);
      } catch (RuntimeException e) {
        log.error("{} lost window {} of queue {}", follower, window.from(), window.queue(), e);
      }
    }
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public void release(QueueId queue) {
    for (WindowFollower follower : followers) {
      try {
        follower.released(queue);
      } catch (RuntimeException e) {
        log.error("{} failed to release queue {}", follower, queue, e);
      }
    }
  }
}
