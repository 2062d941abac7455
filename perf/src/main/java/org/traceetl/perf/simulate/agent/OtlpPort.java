package org.traceetl.perf.simulate.agent;

import java.util.ArrayDeque;
import java.util.Queue;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.source.otlp.OtlpRequests;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;
import org.traceetl.perf.simulate.world.Exchange;
import org.traceetl.perf.simulate.world.Process;

/**
 * The port of a simulated agent: a thread of its process that offers requests to the pipeline, as
 * the threads of the real ports do. Answers correspond to those of {@code HttpExchange}.
 */
final class OtlpPort implements SteppedTask {
  /** What a sender gets. */
  enum Reply {
    /** 200: all spans are stored. */
    STORED,
    /** 429 or 503: nothing is stored; the sender repeats the request. */
    RETRY,
    /** 400, or 200 with rejected spans. */
    REJECTED,
    /** The connection was refused: the agent does not have the request. */
    NOT_CONNECTED,
    /** The connection broke or timed out: the agent may have the request. */
    LOST
  }

  private record Arrival(byte[] request, Exchange<Reply> answer) {}

  private final Process process;
  private final OtlpRequests requests;
  private final Queue<Arrival> arrivals = new ArrayDeque<>();
  private final SteppedThread thread;

  OtlpPort(Process process, OtlpRequests requests) {
    this.process = process;
    this.requests = requests;
    Clocks clocks = process.clocks();
    thread = new SteppedThread(clocks, "otlp", this, new LogThrottle(clocks.nanoClock()));
  }

  void start() {
    thread.start();
  }

  /** Delivers a request. Called by its sender. */
  void deliver(byte[] request, Exchange<Reply> answer) {
    arrivals.add(new Arrival(request, answer));
    thread.wake();
  }

  @Override
  public long doWork() {
    Arrival arrival = arrivals.poll();
    if (arrival == null) {
      return UNTIL_WOKEN;
    }
    process.enter("otlp request");
    Admission admission = requests.offer(arrival.request, new Outcome(arrival.answer));
    if (admission != Admission.ACCEPTED) {
      arrival.answer.answer(Reply.RETRY);
    }
    return 0;
  }

  private record Outcome(Exchange<Reply> answer) implements Completion {
    @Override
    public void confirmed(int accepted, int rejected, String reason) {
      answer.answer(rejected == 0 ? Reply.STORED : Reply.REJECTED);
    }

    @Override
    public void malformed(String reason) {
      answer.answer(Reply.REJECTED);
    }

    @Override
    public void failed(String reason) {
      answer.answer(Reply.RETRY);
    }
  }
}
