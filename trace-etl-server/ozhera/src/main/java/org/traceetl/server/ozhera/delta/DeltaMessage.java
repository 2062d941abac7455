package org.traceetl.server.ozhera.delta;

import java.util.concurrent.CompletableFuture;
import org.traceetl.server.expose.Lease;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** A message to the fold thread of {@link DeltaPages}. */
sealed interface DeltaMessage {
  /** Ends the wait of the sender, because the fold thread has ended. */
  default void abandon(IllegalStateException ended) {}

  record Fold(SealedWindow window) implements DeltaMessage {}

  record Restore(QueueId queue, QueueImage image, Lease lease) implements DeltaMessage {}

  /**
   * @param done completes when the brokers have the positions in the queue
   */
  record Release(QueueId queue, CompletableFuture<Void> done) implements DeltaMessage {
    @Override
    public void abandon(IllegalStateException ended) {
      done.completeExceptionally(ended);
    }
  }

  /**
   * A configured scraper requests the windows that it has not received.
   *
   * @param deadlineNanos when the scraper gives up
   * @param patientUntilNanos how long the request waits for positions and for the previous answer
   */
  record Take(
      String identity,
      String address,
      long deadlineNanos,
      long patientUntilNanos,
      CompletableFuture<Answer> answer)
      implements DeltaMessage {
    @Override
    public void abandon(IllegalStateException ended) {
      answer.completeExceptionally(ended);
    }
  }

  /** A reader requests the newest windows without receiving them. */
  record Look(long deadlineNanos, CompletableFuture<Answer> answer) implements DeltaMessage {
    @Override
    public void abandon(IllegalStateException ended) {
      answer.completeExceptionally(ended);
    }
  }

  record Commit(Answer answer, CompletableFuture<Boolean> permitted) implements DeltaMessage {
    @Override
    public void abandon(IllegalStateException ended) {
      permitted.complete(false);
    }
  }

  record Settle(Answer answer, boolean written) implements DeltaMessage {}

  record Located(PositionFinder.Found found) implements DeltaMessage {}

  /**
   * @param done completes when all earlier messages are applied
   */
  record Barrier(CompletableFuture<Void> done) implements DeltaMessage {
    @Override
    public void abandon(IllegalStateException ended) {
      done.completeExceptionally(ended);
    }
  }
}
