package org.traceetl.server.edge;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.traceetl.server.edge.Half.CLIENT;
import static org.traceetl.server.edge.Half.SERVER;

import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.EdgeHead;

class OpenEdgesTest {
  private static final int MAX_NAME_BYTES = 12;

  private final EdgeHeads heads = new EdgeHeads(1_000, MAX_NAME_BYTES, 0, 1);
  private final OpenEdges edges = newEdges(2_000, 1);
  private final RecordedJoins joins = new RecordedJoins();
  private final Half half = new Half();

  private static OpenEdges newEdges(int capacity, long seed, String... dimensions) {
    return new OpenEdges(capacity, 100, MAX_NAME_BYTES, List.of(dimensions), seed);
  }

  private static int find(EdgeHeads in, String... texts) {
    return find(in, false, 0, 0, texts);
  }

  private static int find(EdgeHeads in, boolean failed, int type, long threshold, String... texts) {
    HeadTexts all = new HeadTexts(texts);
    return in.find(all.bytes(), all.slices(), 0, failed, type, threshold);
  }

  private static BitSet bits(int... set) {
    BitSet bits = new BitSet();
    for (int bit : set) {
      bits.set(bit);
    }
    return bits;
  }

  @Test
  void headsAreEqualIfAllPartsAre() {
    int first = find(heads, "shop", "");

    assertThat(find(heads, "x shop y", "")).isNotEqualTo(first);
    assertThat(heads.find("x shop y".getBytes(UTF_8), new int[] {9, 2, 4, 1, 0}, 1, false, 0, 0))
        .isEqualTo(first);
    assertThat(
            new int[] {
              find(heads, "till", ""),
              find(heads, "", "shop"),
              find(heads, "shop", "till"),
              find(heads, true, 0, 0, "shop", ""),
              find(heads, false, 3, 0, "shop", ""),
              find(heads, false, 0, (1L << 56) - 1, "shop", "")
            })
        .containsExactly(2, 3, 4, 5, 6, 7);
    assertThat(heads.copy(7)).isEqualTo(new EdgeHead("shop", false, 0, "", (1L << 56) - 1));
    assertThat(heads.find(heads.copy(5), new int[0])).isEqualTo(5);
  }

  @Test
  void headsDifferByTheirValues() {
    EdgeHeads of = new EdgeHeads(1_000, MAX_NAME_BYTES, 2, 1);
    int first = find(of, "shop", "", "/pay", "eu");

    assertThat(
            new int[] {
              find(of, "shop", "", "/pay", ""),
              find(of, "shop", "", "", "/pay"),
              find(of, "shop", "/pay", "", ""),
              find(of, "shop", "", "/payeu", "")
            })
        .containsExactly(1, 2, 3, 4);
    assertThat(find(of, "shop", "", "/pay", "eu")).isEqualTo(first);
    assertThat(of.value(first, 1)).asString(UTF_8).isEqualTo("eu");
    assertThat(of.copy(1).values()).containsExactly("/pay", "");
    assertThat(of.find(of.copy(first), new int[] {1, -1})).isEqualTo(5);
    assertThat(of.copy(5).values()).containsExactly("eu", "");
  }

  @Test
  void valuesTakeRoom() {
    int most = EdgeHeads.HEAD_BYTES + EdgeHeads.VALUE_BYTES + 8;
    EdgeHeads of = new EdgeHeads(most, MAX_NAME_BYTES, 1, 1);

    assertThat(find(of, "shop", "", "12345")).isEqualTo(EdgeHeads.NONE);
    assertThat(find(of, "shop", "", "1234")).isZero();
    of.keep(bits());
    assertThat(find(of, "shop", "1234", "")).isZero();
  }

  @Test
  void longNamesAreCutBetweenCharacters() {
    int head = find(heads, "0123456789é€", "0123456789€");

    assertThat(heads.copy(head)).isEqualTo(new EdgeHead("0123456789é", false, 0, "0123456789", 0));
    assertThat(find(heads, "0123456789éx", "0123456789éx".substring(0, 10))).isEqualTo(head);
  }

  @Test
  void numbersOfUnusedHeadsAreReused() {
    for (int i = 0; i < 6; i++) {
      assertThat(find(heads, "app-" + i, "")).isEqualTo(i);
    }
    heads.keep(bits(1, 4));

    assertThat(find(heads, "app-4", "")).isEqualTo(4);
    assertThat(find(heads, "new-1", "")).isZero();
    assertThat(find(heads, "app-0", "")).isEqualTo(2);
    assertThat(find(heads, "app-1", "")).isEqualTo(1);
    assertThat(heads.copy(0).application()).isEqualTo("new-1");
    assertThat(heads.end()).isEqualTo(5);
  }

  @Test
  void fullTableRefusesNewHeadsUntilUnusedOnesLeave() {
    String name = "0123";
    int count = 1_000 / (EdgeHeads.HEAD_BYTES + name.length());
    for (int i = 0; i < count; i++) {
      assertThat(find(heads, "012" + i, "")).isEqualTo(i);
    }
    assertThat(heads.isCrowded()).isFalse();
    assertThat(find(heads, name, "x")).isEqualTo(EdgeHeads.NONE);
    assertThat(find(heads, "0120", "")).isZero();
    assertThat(heads.isCrowded()).isTrue();

    heads.keep(bits(0, 1));
    assertThat(heads.isCrowded()).isFalse();
    assertThat(find(heads, name, "x")).isEqualTo(2);
  }

  @Test
  void malformedNamesCountAsTheyAreWritten() {
    byte[] malformed = new byte[MAX_NAME_BYTES];
    int[] slices = {0, MAX_NAME_BYTES, 0, 0};
    malformed[0] = (byte) 0xff;
    malformed[1] = (byte) 0xff;
    EdgeHeads small = new EdgeHeads(2 * EdgeHeads.HEAD_BYTES + 27, MAX_NAME_BYTES, 0, 1);
    small.find(malformed, slices, 0, false, 0, 0);

    assertThat(small.copy(0).application().getBytes(UTF_8)).hasSize(16);
    assertThat(find(small, "0123456789ab", "")).isEqualTo(EdgeHeads.NONE);
    assertThat(find(small, "0123456789a", "")).isEqualTo(1);
  }

  @Test
  void headsOfAJournalHaveRoom() {
    EdgeHeads full = new EdgeHeads(0, MAX_NAME_BYTES, 0, 1);
    EdgeHead head = new EdgeHead("shop", true, 2, "db", 5);

    assertThat(full.find(head, new int[0])).isZero();
    assertThat(full.copy(0)).isEqualTo(head);
    assertThat(find(full, "till", "")).isEqualTo(EdgeHeads.NONE);
  }

  private void offer(long key, int side, String application) {
    half.set(key, 0, side, find(edges.heads(), application, ""), 0, 0, 0);
    edges.offer(half, joins);
  }

  /** Each call has a head of its own; only the open ones are kept. */
  @Test
  void headsOfHalvesThatLeftAreRemoved() {
    edges.advance(1, joins);
    offer(-1, CLIENT, "open");
    OpenEdges follower = newEdges(2_000, 2);
    for (int window = 0; window < 20; window++) {
      for (int call = 0; call < 200; call++) {
        offer(call, SERVER, window + " " + call);
      }
      follower.apply(edges.endWindow());
      for (int call = 0; call < 200; call++) {
        offer(call, CLIENT, window + " of " + call);
      }
      follower.apply(edges.endWindow());
      assertThat(edges.open()).isEqualTo(1);
      assertThat(follower.open()).isEqualTo(1);
    }

    assertThat(edges.heads().end()).isLessThan(3_000);
    assertThat(follower.heads().end()).isLessThan(3_000);
    assertThat(follower.all().heads()).containsExactly(new EdgeHead("open", false, 0, "", 0));
    assertThat(follower.all()).usingRecursiveComparison().isEqualTo(edges.all());
  }

  @Test
  void anOwnerWithOtherDimensionsKeepsTheValuesOfThoseThatBothHave() {
    OpenEdges former = newEdges(10, 1, "a", "b", "c");
    former.advance(1, joins);
    for (String b : List.of("1", "2")) {
      half.set(b.hashCode(), 0, CLIENT, find(former.heads(), "shop", "", "x", b, "z"), 0, 0, 0);
      former.offer(half, joins);
    }
    EdgeChange change = former.endWindow();
    OpenEdges next = newEdges(10, 2, "c", "new", "a");
    next.apply(change);

    assertThat(next.all().dimensions()).containsExactly("c", "new", "a");
    assertThat(next.all().heads())
        .containsExactly(new EdgeHead("shop", false, 0, "", 0, List.of("z", "", "x")));
    assertThat(next.all().opened()).hasSize(2);
    OpenEdges without = newEdges(10, 3);
    without.apply(change);
    assertThat(without.all().heads()).containsExactly(new EdgeHead("shop", false, 0, "", 0));
  }

  @Test
  void changeOfOtherHalvesIsRefused() {
    edges.advance(1, joins);
    offer(1, CLIENT, "shop");
    EdgeChange change = edges.endWindow();
    OpenEdges follower = newEdges(1, 2);
    follower.apply(EdgeChange.NONE);
    follower.apply(change);

    assertThatThrownBy(() -> follower.apply(change))
        .isInstanceOf(InconsistentChangeException.class);
  }
}
