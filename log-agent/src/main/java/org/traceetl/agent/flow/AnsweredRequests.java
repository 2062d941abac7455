package org.traceetl.agent.flow;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The recently accepted requests with their answers. A sender that missed the answer repeats the
 * request and gets the same answer. A repeat makes the request recent again: a Collector repeats a
 * request for as long as one of the agents behind it is away. Bounded in number and age. Safe for
 * any thread.
 */
public final class AnsweredRequests {
  /** How long a request is remembered after its answer or its last repeat. */
  public static final long MOST_AGE_MILLIS = TimeUnit.MINUTES.toMillis(10);

  /**
   * A repeat is due to be recorded if the record is older. So after a kill a request is remembered
   * for as long again at least.
   */
  public static final long MOST_RECORD_AGE_MILLIS = MOST_AGE_MILLIS / 2;

  /**
   * The answer that a sender got.
   *
   * @param unixMillis time of the answer or of the last repeat, by the spool's clock
   * @param accepted number of accepted spans
   * @param rejected number of rejected spans
   * @param reason why they were rejected, or empty
   */
  public record Answer(long unixMillis, int accepted, int rejected, String reason) {
    private int reasonBytes() {
      return reason.getBytes(UTF_8).length;
    }

    private Answer at(long millis) {
      return new Answer(millis, accepted, rejected, reason);
    }
  }

  /** A request with its answer. */
  public record Answered(Checkpoint.Request request, Answer answer) {}

  /**
   * @param recordMillis the date in its newest record
   */
  private record Remembered(Answer answer, long recordMillis) {
    private Remembered later(long millis) {
      return new Remembered(answer.at(answer.unixMillis + millis), recordMillis + millis);
    }
  }

  private final int most;
  // Oldest first. Its lock guards all fields below.
  private final Map<Checkpoint.Request, Remembered> answers = new LinkedHashMap<>();
  private final Set<Checkpoint.Request> due = new LinkedHashSet<>();
  private LongSupplier millis = () -> 0;
  private long reasonBytes;

  /**
   * @param most limit of requests; above it the oldest is removed
   */
  public AnsweredRequests(int most) {
    this.most = most;
  }

  /** Adds a request that is recorded; replaces an equal one. */
  public void add(Checkpoint.Request request, Answer answer) {
    synchronized (answers) {
      Remembered before = answers.remove(request);
      answers.put(request, new Remembered(answer, answer.unixMillis()));
      due.remove(request);
      reasonBytes += answer.reasonBytes() - (before == null ? 0 : before.answer.reasonBytes());
      Iterator<Map.Entry<Checkpoint.Request, Remembered>> oldestFirst =
          answers.entrySet().iterator();
      boolean leaves = true;
      while (leaves && oldestFirst.hasNext()) {
        Map.Entry<Checkpoint.Request, Remembered> entry = oldestFirst.next();
        Answer oldest = entry.getValue().answer;
        leaves = isTooOld(oldest, answer.unixMillis()) || answers.size() > most;
        if (leaves) {
          reasonBytes -= oldest.reasonBytes();
          due.remove(entry.getKey());
          oldestFirst.remove();
        }
      }
    }
  }

  /**
   * Shifts all dates so that the last answer is dated now, and dates repeats by this clock from now
   * on. The agent's downtime does not count, because senders retry when it is back.
   *
   * @param clock the spool's clock
   */
  public void goOn(LongSupplier clock) {
    synchronized (answers) {
      millis = clock;
      long now = clock.getAsLong();
      long last =
          answers.values().stream()
              .mapToLong(remembered -> remembered.answer.unixMillis)
              .max()
              .orElse(now);
      answers.replaceAll((request, remembered) -> remembered.later(now - last));
    }
  }

  private static boolean isTooOld(Answer answer, long nowMillis) {
    return nowMillis - answer.unixMillis() > MOST_AGE_MILLIS;
  }

  /** Returns the answer to a repeat of a request; null if none is remembered. */
  public Answer answerAgain(Checkpoint.Request request) {
    synchronized (answers) {
      Remembered before = answers.remove(request);
      if (before == null) {
        return null;
      }
      long now = Math.max(millis.getAsLong(), before.answer.unixMillis);
      Answer again = before.answer.at(now);
      answers.put(request, new Remembered(again, before.recordMillis));
      if (now - before.recordMillis > MOST_RECORD_AGE_MILLIS) {
        due.add(request);
      }
      return again;
    }
  }

  /** Returns the requests whose repeats are due to be recorded, until they are added again. */
  public List<Answered> due() {
    synchronized (answers) {
      return due.stream()
          .map(request -> new Answered(request, answers.get(request).answer))
          .toList();
    }
  }

  /** Returns the requests that are not too old at that time, oldest first. */
  public List<Answered> all(long nowMillis) {
    synchronized (answers) {
      List<Answered> all = new ArrayList<>(answers.size());
      answers.forEach((request, remembered) -> {
        if (!isTooOld(remembered.answer, nowMillis)) {
          all.add(new Answered(request, remembered.answer));
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
