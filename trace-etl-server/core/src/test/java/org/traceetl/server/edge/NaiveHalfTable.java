package org.traceetl.server.edge;

import java.util.ArrayList;
import java.util.List;

/** What a {@link HalfTable} does, by linear search in a list. Heads identify halves. */
final class NaiveHalfTable {
  record Entry(long key, int check, int side, int head, long arrivalMillis, boolean paired) {
    Entry withPartner() {
      return new Entry(key, check, side, head, arrivalMillis, true);
    }

    boolean isCaller() {
      return side == Half.CLIENT || side == Half.PRODUCER;
    }

    boolean isPartnerOf(Entry other) {
      return hasKeyOf(other) && isCaller() != other.isCaller();
    }

    boolean isRivalOf(Entry other) {
      boolean isRival = isCaller() ? other.isCaller() : side == Half.SERVER && side == other.side;
      return isRival && hasKeyOf(other);
    }

    private boolean hasKeyOf(Entry other) {
      return key == other.key && check == other.check;
    }
  }

  private final int capacity;
  private final long waitMillis;
  private final List<Entry> open = new ArrayList<>();
  private long streamMillis;

  NaiveHalfTable(int capacity, long waitMillis) {
    this.capacity = capacity;
    this.waitMillis = waitMillis;
  }

  int open() {
    return open.size();
  }

  void advance(long millis, RecordedJoins joins) {
    streamMillis = Math.max(streamMillis, millis);
    while (!open.isEmpty() && open.getFirst().arrivalMillis + waitMillis <= streamMillis) {
      Entry entry = open.removeFirst();
      joins.expired(entry.head, entry.paired);
    }
  }

  Outcome offer(long key, int check, int side, int head, RecordedJoins joins) {
    Entry half = new Entry(key, check, side, head, streamMillis, false);
    if (open.stream().anyMatch(half::isRivalOf)
        && (half.isCaller() || open.stream().noneMatch(half::isPartnerOf))) {
      return Outcome.DUPLICATE;
    }
    List<Entry> partners = new ArrayList<>();
    open.stream().filter(half::isPartnerOf).filter(e -> e.side != 4).forEach(partners::add);
    open.stream().filter(half::isPartnerOf).filter(e -> e.side == 4).forEach(partners::add);
    if (partners.isEmpty()) {
      return open.size() == capacity ? Outcome.OVERFLOWED : opened(half);
    }
    for (Entry partner : partners) {
      boolean isCall = half.side + partner.side == Half.CLIENT + Half.SERVER;
      if (half.isCaller()) {
        open.remove(partner);
        joins.paired(half.head, half.paired, partner.head);
        half = half.withPartner();
      } else {
        joins.paired(partner.head, partner.paired, half.head);
        if (isCall) {
          open.remove(partner);
        } else {
          open.set(open.indexOf(partner), partner.withPartner());
        }
      }
    }
    boolean isAnswered = half.side == Half.CLIENT && partners.getFirst().side == Half.SERVER;
    if (half.isCaller() && !isAnswered) {
      opened(half);
    }
    return Outcome.PAIRED;
  }

  private Outcome opened(Entry half) {
    open.add(half);
    return Outcome.WAITING;
  }
}
