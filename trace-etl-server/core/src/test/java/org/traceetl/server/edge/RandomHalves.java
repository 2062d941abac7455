package org.traceetl.server.edge;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.traceetl.proto.Limits;

/** Offers random halves of few keys, of up to two dimensions: equal seeds offer equal halves. */
public final class RandomHalves {
  private final Random random;
  private final Half half = new Half();
  private long millis;

  /**
   * @param millis stream time of the first half, about
   */
  public RandomHalves(long seed, long millis) {
    random = new Random(seed);
    this.millis = millis;
  }

  /** Offers halves; returns what became of them and of their partners. */
  public List<String> offerSome(OpenEdges edges) {
    List<String> events = new ArrayList<>();
    Joins joins =
        new Joins() {
          @Override
          public void paired(Half caller, Half callee) {
            events.add(text(edges, caller) + " with " + text(edges, callee));
          }

          @Override
          public void expired(Half expired) {
            events.add(text(edges, expired) + " expired");
          }
        };
    for (int i = random.nextInt(30); i > 0; i--) {
      millis += random.nextInt(1, 5);
      edges.advance(millis, joins);
      int side = random.nextInt(Half.CLIENT, Half.CONSUMER + 1);
      half.set(
          random.nextInt(4) - 2L,
          random.nextInt(2) * 0xFFFF,
          side,
          head(edges.heads()),
          random.nextLong() >>> random.nextInt(1, 64),
          random.nextInt(9) == 0 ? random.nextLong() : millis - random.nextInt(99),
          side < Half.PRODUCER ? 0 : random.nextLong(Limits.MAX_MESSAGE_MICROS + 1));
      events.add(edges.offer(half, joins).name());
    }
    return events;
  }

  private int head(EdgeHeads heads) {
    String application = "shop " + random.nextInt(4);
    String peer = random.nextBoolean() ? "" : "naïve 😀";
    String value = random.nextBoolean() ? "" : "/é " + random.nextInt(2);
    HeadTexts texts = new HeadTexts(application, peer, value, random.nextBoolean() ? "" : "eu");
    return heads.find(
        texts.bytes(),
        texts.slices(),
        0,
        random.nextBoolean(),
        random.nextInt(4),
        random.nextBoolean() ? 0 : random.nextLong(1L << 56));
  }

  private static String text(OpenEdges edges, Half half) {
    return edges.heads().copy(half.head())
        + ":"
        + half.side()
        + ":"
        + half.durationNanos()
        + ":"
        + half.pane()
        + ":"
        + half.messageMicros()
        + ":"
        + half.isPaired();
  }
}
