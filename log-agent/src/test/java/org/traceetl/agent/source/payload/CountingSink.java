package org.traceetl.agent.source.payload;

import java.util.ArrayList;
import java.util.List;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.flow.WantedEvents;

/** Counts spans and their events of type exception. Allocates nothing for them. */
public final class CountingSink implements SpanSink {
  private final WantedEvents wantedEvents =
      WantedEvents.of(List.of("exception"), List.of("exception.type"));
  public final List<String> rejected = new ArrayList<>();
  public long spans;
  public long events;

  @Override
  public WantedEvents wantedEvents() {
    return wantedEvents;
  }

  @Override
  public void resource(Attributes attributes) {}

  @Override
  public boolean span(SpanView span) {
    spans++;
    events += span.events.size();
    return true;
  }

  @Override
  public void rejected(String reason) {
    rejected.add(reason);
  }
}
