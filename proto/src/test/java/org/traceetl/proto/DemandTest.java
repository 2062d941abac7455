package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.Chars;
import net.jqwik.api.constraints.NotEmpty;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.Demand.KeyRule;
import org.traceetl.proto.Demand.Part;
import org.traceetl.proto.Demand.SlowRule;
import org.traceetl.proto.Demand.Wanted;

final class DemandTest {
  private static final int SERVER = 1 << 2;
  private static final int CLIENT = 1 << 3;

  private static final Part EMPTY =
      new Part(1, 1, false, 15_000, List.of(), List.of(), 1_000, List.of());

  @Test
  void withoutPartsNothingIsWanted() {
    assertThat(Demand.NONE.of("shop")).isNull();
    assertThat(Demand.NONE.version()).isZero();
  }

  @Test
  void applicationNeedsWhatAnyPartNeeds() {
    Part first = part(7, 30_000, List.of("b", "a"), List.of(), 5_000);
    Part second = part(9, 15_000, List.of("c", "b"), List.of(), 2_000);

    Wanted wanted = demand(first, second).of("shop");

    assertThat(wanted.spanKeys()).containsExactly("a", "b", "c");
    assertThat(wanted.exemplarIntervalMillis()).isEqualTo(15_000);
    assertThat(slow(wanted)).containsOnly(2_000L);
    assertThat(wanted.full()).isFalse();
    assertThat(demand(first, second).version()).isEqualTo(9);
  }

  @Test
  void slowIsWhatAnyPartCallsSlow() {
    Part first =
        part(
            1,
            1,
            List.of(),
            List.of(
                new SlowRule("shop*", SERVER, 100),
                new SlowRule("shop", SERVER | CLIENT, 50),
                new SlowRule("*", 0, 800)),
            5_000);
    Part second = part(1, 1, List.of(), List.of(new SlowRule("other", 0, 1)), 700);

    // The first rule that matches applies in a part, then the least of the parts.
    assertThat(slow(demand(first).of("shop"))).containsExactly(800L, 800L, 100L, 50L, 800L, 800L);
    assertThat(slow(demand(first, second).of("shop")))
        .containsExactly(700L, 700L, 100L, 50L, 700L, 700L);
    assertThat(slow(demand(first, second).of("other"))).containsOnly(1L);
  }

  @Test
  void fullIsWhatAnyPartNeedsInFull() {
    Part some = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of("audit", "shop-*"));
    Part everything = new Part(1, 1, true, 1, List.of(), List.of(), 0, List.of());

    assertThat(demand(EMPTY, some).of("shop-eu").full()).isTrue();
    assertThat(demand(EMPTY, some).of("audit").full()).isTrue();
    assertThat(demand(EMPTY, some).of("auditor").full()).isFalse();
    assertThat(demand(EMPTY, everything).of("auditor").full()).isTrue();
  }

  @Property(tries = 3_000)
  void starMatchesAnyRun(
      @ForAll @Chars({'a', 'b', '*'}) @NotEmpty @StringLength(max = 8) String pattern,
      @ForAll @CharRange(from = 'a', to = 'b') @StringLength(max = 12) String application) {
    String expression =
        Arrays.stream(pattern.split("\\*", -1))
            .map(Pattern::quote)
            .collect(Collectors.joining(".*"));
    Part part = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(pattern));

    assertThat(demand(part).of(application).full())
        .isEqualTo(Pattern.matches(expression, application));
  }

  @Test
  void longNameThatAlmostMatchesIsFast() {
    Part part = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of("*a".repeat(127) + "b"));

    // Backtracking over each star would take too long.
    assertThat(demand(part).of("a".repeat(100_000)).full()).isFalse();
  }

  @Test
  void renewalIsNoChange() {
    Demand demand = demand(EMPTY, part(2, 1, List.of("a"), List.of(), 1));
    Map<String, Part> renewed = new HashMap<>();
    demand.parts().forEach((key, part) -> renewed.put(key, part.at(5_000, 3)));

    assertThat(demand.sameContent(new Demand(99, 98, renewed))).isTrue();
    renewed.remove("p0");
    assertThat(demand.sameContent(new Demand(99, 98, renewed))).isFalse();
    renewed.put("p2", EMPTY);
    assertThat(demand.sameContent(new Demand(99, 98, renewed))).as("another key").isFalse();
  }

  @Test
  void everyFieldOfThePartsIsContent() {
    List<String> a = List.of("a");
    List<SlowRule> rules = List.of(new SlowRule("*", 0, 1));
    for (Part other :
        List.of(
            new Part(1, 1, true, 15_000, List.of(), List.of(), 1_000, List.of()),
            new Part(1, 1, false, 15_001, List.of(), List.of(), 1_000, List.of()),
            new Part(1, 1, false, 15_000, a, List.of(), 1_000, List.of()),
            new Part(1, 1, false, 15_000, List.of(), rules, 1_000, List.of()),
            new Part(1, 1, false, 15_000, List.of(), List.of(), 1_001, List.of()),
            new Part(1, 1, false, 15_000, List.of(), List.of(), 1_000, a),
            new Part(1, 1, false, 15_000, List.of(), List.of(), 1_000, List.of(), 1),
            new Part(1, 1, false, 15_000, List.of(), List.of(), 1_000, List.of(), 0, a, List.of()),
            restricted(new KeyRule("shop", 1)))) {
      assertThat(demand(EMPTY).sameContent(demand(other))).as("%s", other).isFalse();
    }
  }

  @Test
  void bundlesAreReadIfAllPartsSaySo() {
    Part reads = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), Demand.BUNDLES);

    assertThat(Demand.NONE.readsBundles()).isFalse();
    assertThat(demand(reads, reads).readsBundles()).isTrue();
    assertThat(demand(reads, EMPTY).readsBundles()).isFalse();
    assertThat(demand(reads.at(9, 9)).readsBundles()).isTrue();
  }

  @Test
  void panesAreReadIfAllPartsSaySo() {
    Part bundles = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), Demand.BUNDLES);
    Part panes = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), Demand.PANES);
    Part both = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), 3);

    assertThat(Demand.NONE.readsPanes()).isFalse();
    assertThat(demand(both, panes).readsPanes()).isTrue();
    assertThat(demand(both, panes).readsBundles()).isFalse();
    assertThat(demand(both, bundles).readsPanes()).isFalse();
    assertThat(demand(both, bundles).readsBundles()).isTrue();
    assertThat(demand(both, EMPTY).readsPanes()).isFalse();
  }

  @Test
  void heartbeatsAreReadIfAllPartsSaySo() {
    Part panes = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), 3);
    Part heartbeats =
        new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), Demand.HEARTBEATS);
    Part all = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), 7);

    assertThat(Demand.NONE.readsHeartbeats()).isFalse();
    assertThat(demand(all, heartbeats).readsHeartbeats()).isTrue();
    assertThat(demand(all, panes).readsHeartbeats()).isFalse();
    assertThat(demand(all, heartbeats).readsPanes()).isFalse();
  }

  @Test
  void openPanesAreReadIfAllPartsSaySo() {
    Part panes = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), 7);
    Part openPanes =
        new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), Demand.OPEN_PANES);
    Part all = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), 15);

    assertThat(Demand.NONE.readsOpenPanes()).isFalse();
    assertThat(demand(all, openPanes).readsOpenPanes()).isTrue();
    assertThat(demand(all, panes).readsOpenPanes()).isFalse();
  }

  @Test
  void halfEdgesAreReadIfAllPartsSaySo() throws MalformedDecisionsException {
    Part edges = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), Demand.EDGES);
    Part others = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), 31);
    Part all = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), 63);

    assertThat(Demand.NONE.readsEdges()).isFalse();
    assertThat(demand(all, edges).readsEdges()).isTrue();
    assertThat(demand(all, others).readsEdges()).isFalse();
    assertThat(Demand.FORMAT.decode(demand(all, edges).encode()).readsEdges()).isTrue();
  }

  @Test
  void labelsAreReadIfAllPartsSaySo() throws MalformedDecisionsException {
    Part labels = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), Demand.LABELS);
    Part others = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), 63);
    Part all = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), 127);

    assertThat(Demand.NONE.readsLabels()).isFalse();
    assertThat(demand(all, labels).readsLabels()).isTrue();
    assertThat(demand(all, others).readsLabels()).isFalse();
    assertThat(Demand.FORMAT.decode(demand(all, labels).encode()).readsLabels()).isTrue();
  }

  @Test
  void sizesAreNeededIfAnyPartSaysSo() throws MalformedDecisionsException {
    Part sizes = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), Demand.SIZES);
    Part formats = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), 15);

    assertThat(Demand.NONE.needsSizes()).isFalse();
    assertThat(demand(EMPTY, formats).needsSizes()).isFalse();
    assertThat(demand(EMPTY, sizes).needsSizes()).isTrue();
    assertThat(demand(sizes, formats).needsSizes()).isTrue();
    assertThat(demand(sizes, formats).sameContent(demand(EMPTY, formats))).isFalse();
    assertThat(Demand.FORMAT.decode(demand(sizes).encode()).needsSizes()).isTrue();
  }

  @Test
  void halfEdgesNeedTheKeysOfAllParts() throws MalformedDecisionsException {
    Demand demand = demand(withEdgeKeys("k", "c"), EMPTY, withEdgeKeys("b", "k"));

    Demand read = Demand.FORMAT.decode(demand.encode());

    assertThat(read).isEqualTo(demand);
    assertThat(read.edgeKeys()).containsExactly("b", "c", "k");
    assertThat(read.of("shop").spanKeys()).isEmpty();
    assertThat(read.parts().get("p0").at(5, 6).edgeKeys()).containsExactly("k", "c");
    assertThat(Demand.NONE.edgeKeys()).isEmpty();
  }

  /** The list is behind all that earlier servers and agents know, and they skip it. */
  @Test
  void edgeKeysFollowTheFieldsOfAPartWithoutThem() {
    byte[] without = demand(EMPTY).encode();
    byte[] with = demand(withEdgeKeys("k")).encode();
    int fields = 23 + 4 + Short.BYTES;

    assertThat(with).hasSize(without.length + 2 + 2 + 1);
    assertThat(Arrays.copyOfRange(with, fields, without.length - 4))
        .isEqualTo(Arrays.copyOfRange(without, fields, without.length - 4));
  }

  private static Part withEdgeKeys(String... keys) {
    return new Part(
        1, 1, false, 15_000, List.of(), List.of(), 1_000, List.of(), 0, List.of(keys), List.of());
  }

  @Test
  void keysOfARuleAreNeededOnlyOfItsApplications() throws MalformedDecisionsException {
    // Of the keys a, b, c, d.
    Part restricted = restricted(new KeyRule("shop-*", 0b0110), new KeyRule("cart", 0b0100));
    Demand read = Demand.FORMAT.decode(demand(restricted).encode());

    assertThat(read).isEqualTo(demand(restricted));
    assertThat(read.of("orders").spanKeys()).containsExactly("a", "d");
    assertThat(read.of("shop-eu").spanKeys()).containsExactly("a", "b", "c", "d");
    assertThat(read.of("cart").spanKeys()).containsExactly("a", "c", "d");
    assertThat(demand(restricted, part(1, 1, List.of("b"), List.of(), 1)).of("orders").spanKeys())
        .as("another part needs b of all")
        .containsExactly("a", "b", "d");
  }

  @Test
  void keyRulesAreAtTheEndAndAbsentWithoutRules() {
    byte[] without = demand(restricted()).encode();
    byte[] with = demand(restricted(new KeyRule("cart", 1))).encode();

    // Numbers of edge keys and of rules, the length and bytes of the pattern, the keys.
    assertThat(with).hasSize(without.length + 2 + 2 + 2 + 4 + 8);
  }

  @Test
  void keyRulesAreBounded() throws MalformedDecisionsException {
    KeyRule[] most = new KeyRule[Demand.MAX_KEY_RULES];
    Arrays.fill(most, new KeyRule("ö".repeat(Demand.MAX_TEXT_BYTES / 2), -1));
    assertThat(Demand.FORMAT.decode(demand(restricted(most)).encode()))
        .isEqualTo(demand(restricted(most)));
    KeyRule[] more = Arrays.copyOf(most, most.length + 1);
    more[most.length] = most[0];

    assertThatIllegalArgumentException().isThrownBy(() -> restricted(more));
    assertThatIllegalArgumentException().isThrownBy(() -> new KeyRule("", 1));
  }

  private static Part restricted(KeyRule... rules) {
    return new Part(
        1,
        1,
        false,
        15_000,
        List.of("a", "b", "c", "d"),
        List.of(),
        1_000,
        List.of(),
        0,
        List.of(),
        List.of(rules));
  }

  @Test
  void formatsOfLaterReleasesStay() throws MalformedDecisionsException {
    Part later = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), 0xfe);

    Demand read = Demand.FORMAT.decode(demand(later).encode());

    assertThat(read).isEqualTo(demand(later));
    assertThat(read.parts().values()).extracting(Part::formats).containsExactly(0xfe);
    assertThat(read.readsPanes()).isTrue();
  }

  @Test
  void variancesAreReadIfAllPartsSaySo() throws MalformedDecisionsException {
    Part before = new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), 0xff);
    Part now =
        new Part(1, 1, false, 1, List.of(), List.of(), 0, List.of(), Demand.VARIANCES | 0x8000);
    Part withRules =
        new Part(
            1,
            1,
            false,
            1,
            List.of("a"),
            List.of(),
            0,
            List.of(),
            Demand.VARIANCES,
            List.of("b"),
            List.of(new Demand.KeyRule("shop", 1)));

    assertThat(demand(now, before).readsVariances()).isFalse();
    assertThat(demand(now, withRules).readsVariances()).isTrue();
    assertThat(Demand.FORMAT.decode(demand(now, withRules).encode()))
        .isEqualTo(demand(now, withRules));
    assertThat(Demand.FORMAT.decode(demand(now, before).encode())).isEqualTo(demand(now, before));
  }

  @Test
  void partWithoutFormatsSaysNothingOfBundles() throws MalformedDecisionsException {
    byte[] known = demand(EMPTY).encode();
    // The part without its last byte, and the checksum.
    ByteBuffer earlier = ByteBuffer.allocate(known.length - 1);
    earlier.put(known, 0, known.length - 5);
    earlier.putShort(23 + 4, (short) (ByteBuffer.wrap(known).getShort(23 + 4) - 1));
    CRC32C checksum = new CRC32C();
    checksum.update(earlier.array(), 0, earlier.position());
    earlier.putInt((int) checksum.getValue());

    assertThat(Demand.FORMAT.decode(earlier.array())).isEqualTo(demand(EMPTY));
  }

  @Test
  void bytesOfALaterVersionAreSkipped() throws MalformedDecisionsException {
    Part latest =
        new Part(
            1,
            1,
            false,
            1,
            List.of("a"),
            List.of(),
            0,
            List.of(),
            Demand.VARIANCES,
            List.of(),
            List.of(new KeyRule("shop", 1)));
    Demand demand = demand(latest, part(2, 1, List.of("a"), List.of(), 1));
    byte[] known = demand.encode();
    // The first part's length is behind the number of parts and its fingerprint.
    int at = 23 + 4;
    int length = ByteBuffer.wrap(known).getShort(at);
    ByteBuffer later = ByteBuffer.allocate(known.length + 3);
    later.put(known, 0, at).putShort((short) (length + 3));
    later.put(known, at + 2, length).put(new byte[] {1, 2, 3});
    later.put(known, at + 2 + length, known.length - at - 2 - length - 4);
    CRC32C checksum = new CRC32C();
    checksum.update(later.array(), 0, later.position());
    later.putInt((int) checksum.getValue());

    assertThat(Demand.FORMAT.decode(later.array())).isEqualTo(demand);
  }

  @Test
  void largestRecordIsReadAsWritten() throws MalformedDecisionsException {
    String longest = "ö".repeat(Demand.MAX_TEXT_BYTES / 2);
    List<SlowRule> rules =
        Collections.nCopies(Demand.MAX_RULES, new SlowRule(longest.substring(8), 63, 1));
    Part largest =
        new Part(
            Long.MIN_VALUE,
            Long.MAX_VALUE,
            true,
            Integer.MAX_VALUE,
            Collections.nCopies(Demand.MAX_KEYS, longest.substring(8)),
            rules.subList(8, Demand.MAX_RULES),
            Long.MAX_VALUE,
            Collections.nCopies(Demand.MAX_FULL, longest.substring(4)),
            0xff,
            Collections.nCopies(Demand.MAX_EDGE_KEYS, longest),
            List.of());
    Map<String, Part> parts = new HashMap<>();
    for (int i = 0; i < Demand.MAX_PARTS; i++) {
      parts.put("%032x".formatted(i), largest);
    }
    Demand demand = new Demand(Long.MAX_VALUE, -1, parts);

    byte[] bytes = demand.encode();

    assertThat(bytes.length).isLessThanOrEqualTo(Demand.FORMAT.maxBytes());
    assertThat(Demand.FORMAT.decode(bytes)).isEqualTo(demand);
    assertThat(demand.of("shop").spanKeys()).hasSize(1);
    parts.put("one more", largest);
    assertThatIllegalArgumentException().isThrownBy(() -> new Demand(Long.MAX_VALUE, 1, parts));
  }

  @Test
  void partsAreBounded() {
    List<String> keys = Collections.nCopies(Demand.MAX_KEYS + 1, "a");
    List<String> patterns = Collections.nCopies(Demand.MAX_FULL + 1, "a");
    List<SlowRule> rules = Collections.nCopies(Demand.MAX_RULES + 1, new SlowRule("a", 0, 0));
    String longest = "a".repeat(Demand.MAX_TEXT_BYTES);
    List<String> longer = List.of(longest + "a");

    refusesPart(1, 1, keys, List.of(), 0, List.of());
    refusesPart(1, 1, List.of(), List.of(), 0, patterns);
    refusesPart(1, 1, List.of(), rules, 0, List.of());
    refusesPart(1, 1, longer, List.of(), 0, List.of());
    refusesPart(1, 1, List.of(), List.of(), 0, longer);
    refusesPart(1, 1, List.of(""), List.of(), 0, List.of());
    refusesPart(1, 1, List.of("\ud800"), List.of(), 0, List.of());
    refusesPart(0, 1, List.of(), List.of(), 0, List.of());
    refusesPart(1, 0, List.of(), List.of(), 0, List.of());
    refusesPart(1, 1, List.of(), List.of(), -1, List.of());
    // Each list is within its limit, but a part's length has only two bytes.
    refusesPart(
        1,
        1,
        Collections.nCopies(Demand.MAX_KEYS, longest),
        Collections.nCopies(Demand.MAX_RULES, new SlowRule(longest, 0, 0)),
        0,
        Collections.nCopies(Demand.MAX_FULL, longest));
    for (List<String> edgeKeys :
        List.of(Collections.nCopies(Demand.MAX_EDGE_KEYS + 1, "a"), longer, List.of(""))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> withEdgeKeys(edgeKeys.toArray(String[]::new)))
          .withMessageContaining(edgeKeys.size() + " edge keys");
    }
    assertThatIllegalArgumentException().isThrownBy(() -> new SlowRule("", 0, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> new SlowRule("a", 64, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> new SlowRule("a", -1, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> new SlowRule("a", 0, -1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Demand(1, 1, Map.of("a".repeat(33), EMPTY)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Demand(1, 1, Map.of("a", EMPTY.at(1, 2))));
  }

  @Test
  void keysOfAllPartsFitIntoABatch() {
    assertThat(Demand.MAX_PARTS * Demand.MAX_KEYS).isLessThanOrEqualTo(Limits.MAX_ATTRIBUTES);
    assertThat(Demand.MAX_PARTS * Demand.MAX_EDGE_KEYS)
        .isLessThanOrEqualTo(Limits.MAX_EDGE_DIMENSIONS);
  }

  private static void refusesPart(
      long changed,
      int interval,
      List<String> keys,
      List<SlowRule> rules,
      long otherwise,
      List<String> full) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Part(1, changed, false, interval, keys, rules, otherwise, full));
  }

  private static Demand demand(Part... parts) {
    Map<String, Part> byFingerprint = new HashMap<>();
    for (int i = 0; i < parts.length; i++) {
      byFingerprint.put("p" + i, parts[i]);
    }
    return new Demand(10, 1, byFingerprint);
  }

  private static Part part(
      long changed, int interval, List<String> keys, List<SlowRule> rules, long otherwise) {
    return new Part(1, changed, false, interval, keys, rules, otherwise, List.of());
  }

  private static List<Long> slow(Wanted wanted) {
    return IntStream.range(0, 6).mapToObj(wanted::slowNanos).toList();
  }
}
