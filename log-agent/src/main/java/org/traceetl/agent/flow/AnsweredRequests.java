package org.traceetl.agent.flow;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The recently accepted requests with their answers. A sender that missed the answer repeats the
 * request and gets the same answer. Bounded in number and age. Safe for any thread.
 */
public final class AnsweredRequests {
  /** How long a request is remembered; senders stop retrying well before. */
  public static final long MOST_AGE_MILLIS = TimeUnit.MINUTES.toMillis(10);

  /**
   * The answer that a sender got.
   *
   * @param unixMillis time of the answer, by the spool's clock
   * @param accepted number of accepted spans
   * @param rejected number of rejected spans
   * @param reason why they were rejected, or empty
   */
  public record Answer(long unixMillis, int accepted, int rejected, String reason) {
    private int reasonBytes() {
      return reason.getBytes(UTF_8).length;
    }

    private Answer later(long millis) {
      return new Answer(unixMillis + millis, accepted, rejected, reason);
    }
  }

  /** A request with its answer. */
  public record Answered(Checkpoint.Request request, Answer answer) {}

  private final int most;
  // Guarded by itself; oldest first.
  private final Map<Checkpoint.Request, Answer> answers = new LinkedHashMap<>();
  private long reasonBytes;

  /**
   * @param most limit of requests; above it the oldest is removed
   */
  public AnsweredRequests(int most) {
    this.most = most;
  }

  /** Adds a request; replaces an equal one. */
  public void add(Checkpoint.Request request, Answer answer) {
    synchronized (answers) {
      Answer before = answers.remove(request);
      answers.put(request, answer);
      reasonBytes += answer.reasonBytes() - (before == null ? 0 : before.reasonBytes());
      Iterator<Answer> oldestFirst = answers.values().iterator();
      boolean leaves = true;
      while (leaves && oldestFirst.hasNext()) {
        Answer oldest = oldestFirst.next();
        leaves = isTooOld(oldest, answer.unixMillis()) || answers.size() > most;
        if (leaves) {
          reasonBytes -= oldest.reasonBytes();
          oldestFirst.remove();
        }
      }
    }
  }

  /**
   * Shifts all dates so that the last answer is dated now. The agent's downtime does not count,
   * because senders retry when it is back.
   */
  public void goOn(long nowMillis) {
    synchronized (answers) {
      long last = answers.values().stream().mapToLong(Answer::unixMillis).max().orElse(nowMillis);
      answers.replaceAll((request, answer) -> answer.later(nowMillis - last));
    }
  }

  private static boolean isTooOld(Answer answer, long nowMillis) {
    return nowMillis - answer.unixMillis() > MOST_AGE_MILLIS;
  }

  /** Returns the answer to an equal request; null if none is remembered. */
  public Answer find(Checkpoint.Request request) {
    synchronized (answers) {
      return answers.get(request);
    }
  }

  /** Returns the requests that are not too old at that time, oldest first. */
  public List<Answered> all(long nowMillis) {
    synchronized (answers) {
      List<Answered> all = new ArrayList<>(answers.size());
      answers.forEach((request, answer) -> {
        if (!isTooOld(answer, nowMillis)) {
          all.add(new Answered(request, answer));
        }
      });
      return all;
    }
  }

  /** Returns the bytes of all requests on disk, each with a fixed part and its reason. */
  public long bytes(int fixedBytes) {
    synchronized (answers) {
      return (long) answers.size() * fixedBytes + reasonBytes;
    }
  }

  /** Returns the number of requests. */
  public int size() {
    synchronized (answers) {
      return answers.size();
    }
  }
}
