package org.traceetl.server.edge;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.traceetl.server.edge.Half.CLIENT;
import static org.traceetl.server.edge.Half.SERVER;

import java.util.BitSet;
import org.junit.jupiter.api.Test;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.EdgeHead;

class OpenEdgesTest {
  private static final int MAX_NAME_BYTES = 12;

  private final EdgeHeads heads = new EdgeHeads(1_000, MAX_NAME_BYTES, 1);
  private final OpenEdges edges = new OpenEdges(2_000, 100, MAX_NAME_BYTES, 1);
  private final RecordedJoins joins = new RecordedJoins();
  private final Half half = new Half();

  private static int find(EdgeHeads in, String application, String peer) {
    return find(in, application.getBytes(UTF_8), peer.getBytes(UTF_8), false, 0, 0);
  }

  private static int find(
      EdgeHeads in, byte[] application, byte[] peer, boolean failed, int type, long threshold) {
    return in.find(
        application, 0, application.length, peer, 0, peer.length, failed, type, threshold);
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
    byte[] shop = "shop".getBytes(UTF_8);
    byte[] till = "till".getBytes(UTF_8);
    byte[] none = {};
    int first = find(heads, shop, none, false, 0, 0);

    assertThat(find(heads, "x shop y".getBytes(UTF_8), none, false, 0, 0)).isNotEqualTo(first);
    assertThat(heads.find("x shop y".getBytes(UTF_8), 2, 4, till, 1, 0, false, 0, 0))
        .isEqualTo(first);
    assertThat(
            new int[] {
              find(heads, till, none, false, 0, 0),
              find(heads, none, shop, false, 0, 0),
              find(heads, shop, till, false, 0, 0),
              find(heads, shop, none, true, 0, 0),
              find(heads, shop, none, false, 3, 0),
              find(heads, shop, none, false, 0, (1L << 56) - 1)
            })
        .containsExactly(2, 3, 4, 5, 6, 7);
    assertThat(heads.copy(7)).isEqualTo(new EdgeHead("shop", false, 0, "", (1L << 56) - 1));
    assertThat(heads.find(heads.copy(5))).isEqualTo(5);
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
    malformed[0] = (byte) 0xff;
    malformed[1] = (byte) 0xff;
    EdgeHeads small = new EdgeHeads(2 * EdgeHeads.HEAD_BYTES + 27, MAX_NAME_BYTES, 1);
    find(small, malformed, new byte[0], false, 0, 0);

    assertThat(small.copy(0).application().getBytes(UTF_8)).hasSize(16);
    assertThat(find(small, "0123456789ab", "")).isEqualTo(EdgeHeads.NONE);
    assertThat(find(small, "0123456789a", "")).isEqualTo(1);
  }

  @Test
  void headsOfAJournalHaveRoom() {
    EdgeHeads full = new EdgeHeads(0, MAX_NAME_BYTES, 1);
    EdgeHead head = new EdgeHead("shop", true, 2, "db", 5);

    assertThat(full.find(head)).isZero();
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
    OpenEdges follower = new OpenEdges(2_000, 100, MAX_NAME_BYTES, 2);
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
  void changeOfOtherHalvesIsRefused() {
    edges.advance(1, joins);
    offer(1, CLIENT, "shop");
    EdgeChange change = edges.endWindow();
    OpenEdges follower = new OpenEdges(1, 100, MAX_NAME_BYTES, 2);
    follower.apply(EdgeChange.NONE);
    follower.apply(change);

    assertThatThrownBy(() -> follower.apply(change))
        .isInstanceOf(InconsistentChangeException.class);
  }
}
