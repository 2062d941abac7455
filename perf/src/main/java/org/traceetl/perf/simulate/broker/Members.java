package org.traceetl.perf.simulate.broker;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.rocketmq.remoting.protocol.ResponseCode;

/** The members of consumer groups, as one broker knows them: ConsumerManager of RocketMQ 5.5.0. */
final class Members {
  /** A connected member. */
  static final class Member {
    final SimulatedConsumer consumer;
    long heardNanos;

    Member(SimulatedConsumer consumer) {
      this.consumer = consumer;
    }
  }

  private final Map<String, Map<String, Member>> groups = new TreeMap<>();

  /** Returns whether the member is new. */
  boolean heartbeat(String group, SimulatedConsumer consumer, long nowNanos) {
    Map<String, Member> members = groups.computeIfAbsent(group, name -> new TreeMap<>());
    Member known = members.get(consumer.id());
    Member member = known == null ? new Member(consumer) : known;
    member.heardNanos = nowNanos;
    members.put(consumer.id(), member);
    return known == null;
  }

  /** Returns whether the member was there. */
  boolean remove(String group, String id) {
    Map<String, Member> members = groups.get(group);
    return members != null && members.remove(id) != null;
  }

  /** Removes silent members; returns the groups that changed. */
  List<String> expire(long nowNanos, long expiryNanos) {
    List<String> changed = new ArrayList<>();
    groups.forEach((group, members) -> {
      boolean any = false;
      for (Iterator<Member> each = members.values().iterator(); each.hasNext(); ) {
        Member member = each.next();
        // A killed process closes its connections: ConsumerManager.doChannelCloseEvent.
        if (!member.consumer.alive() || nowNanos - member.heardNanos > expiryNanos) {
          each.remove();
          any = true;
        }
      }
      if (any) {
        changed.add(group);
      }
    });
    return changed;
  }

  /** Answers with the names of the members: ConsumerManageProcessor.getConsumerListByGroup. */
  Reply<List<String>> answer(String group) {
    Map<String, Member> members = groups.getOrDefault(group, Map.of());
    return members.isEmpty()
        ? Reply.refused(ResponseCode.SYSTEM_ERROR, "no consumer for this group, " + group)
        : Reply.of(new ArrayList<>(members.keySet()));
  }

  List<SimulatedConsumer> consumers(String group) {
    return groups.getOrDefault(group, Map.of()).values().stream()
        .map(member -> member.consumer)
        .toList();
  }

  /** Returns the members of all groups. */
  List<SimulatedConsumer> consumers() {
    return groups.keySet().stream().flatMap(group -> consumers(group).stream()).toList();
  }

  void clear() {
    groups.clear();
  }

  @Override
  public String toString() {
    return groups.values().stream()
        .flatMap(members -> members.keySet().stream())
        .toList()
        .toString();
  }
}
