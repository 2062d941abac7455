package org.traceetl.perf.simulate.check;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.traceetl.perf.simulate.world.Durable;

/** The documents that the index must have: each slow or failed span once, as it was sent. */
public final class SentDocuments implements Durable {
  private record Sent(Document document, boolean certain) {}

  private final Map<String, Sent> sent = new TreeMap<>();

  /**
   * Adds a span once or several times.
   *
   * @param id its ID in the index
   * @param certain whether its sender got a good answer; otherwise the index may have it or not
   */
  public void add(String id, Document document, boolean certain) {
    sent.merge(
        id,
        new Sent(document, certain),
        (before, now) -> new Sent(document, before.certain || now.certain));
  }

  @Override
  public void write(DataOutputStream to) throws IOException {
    to.writeInt(sent.size());
    for (Map.Entry<String, Sent> one : sent.entrySet()) {
      to.writeUTF(one.getKey());
      one.getValue().document.write(to);
      to.writeBoolean(one.getValue().certain);
    }
  }

  @Override
  public void read(DataInputStream from) throws IOException {
    for (int left = from.readInt(); left > 0; left--) {
      add(from.readUTF(), Document.read(from), from.readBoolean());
    }
  }

  /** Forgets all, once nothing differs. */
  public void forget() {
    sent.clear();
  }

  /**
   * Compares what the index got since {@link #forget}, by ID, with what it must have got.
   *
   * @param stored ascending
   */
  public void compare(Map<String, Document> stored, Consumer<String> differences) {
    sent.forEach((id, one) -> {
      Document found = stored.get(id);
      if (found == null && one.certain) {
        differences.accept("document " + id + " is missing in the index");
      } else if (found != null && !found.equals(one.document)) {
        differences.accept(
            "document " + id + " is in the index as " + found + " instead of " + one.document);
      }
    });
    stored.keySet().stream()
        .filter(id -> !sent.containsKey(id))
        .forEach(
            id -> differences.accept("document " + id + " is in the index, and no sender sent it"));
  }

  /** Checks documents of ordinary spans, by ID. */
  public static void checkExemplars(Map<String, Document> stored, Consumer<String> differences) {
    stored.forEach((id, found) -> {
      if (!found.wasSentAs(id)) {
        differences.accept("exemplar " + id + " is " + found + ", which no sender sent");
      }
    });
  }

  /**
   * Checks the documents that were written again, which the index recognizes by ID.
   *
   * @param faultless whether nothing is a reason to write a document again
   */
  public static void checkRepeats(long repeated, boolean faultless, Consumer<String> failures) {
    if (faultless && repeated > 0) {
      failures.accept(repeated + " documents were written again without a fault");
    }
  }
}
