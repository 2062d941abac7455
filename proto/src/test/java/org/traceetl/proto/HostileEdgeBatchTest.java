package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.traceetl.proto.thrift.EdgeBatch;
import org.traceetl.proto.thrift.EdgeGroup;

/** Any bytes are read or refused, without an exception and without a large allocation. */
final class HostileEdgeBatchTest {
  /** More than a rejection allocates, and less than a hostile count would. */
  private static final long SMALL_BYTES = 64 * 1024;

  private final EdgeBatchReader reader = new EdgeBatchReader();

  private static List<byte[]> goodMessages() {
    return List.of(
        EdgeBatches.generated(EdgeBatches.fixed()),
        Messages.permuted(EdgeBatches.fixed(), EdgeBatches.FIELDS, EdgeBatches.GROUP_FIELDS));
  }

  @Test
  void everyTruncationIsRefused() {
    for (byte[] message : goodMessages()) {
      for (int length = 0; length < message.length; length++) {
        // Cut where the array ends, and where it continues.
        assertThat(outcome(Arrays.copyOf(message, length)))
            .as("the first %d bytes", length)
            .isNotEqualTo(Rejection.NONE);
        assertThat(EdgeBatches.outcome(reader, message, 0, length)).isNotEqualTo(Rejection.NONE);
        assertThat(reader.halfCount()).as("read whole or not at all").isIn(0, 25);
      }
      assertThat(outcome(message)).isEqualTo(Rejection.NONE);
    }
  }

  @Test
  void bytesAfterTheEndAreRefused() {
    byte[] message = EdgeBatches.generated(EdgeBatches.fixed());
    assertThat(outcome(Arrays.copyOf(message, message.length + 1))).isEqualTo(Rejection.MALFORMED);
  }

  @Test
  void everyFlippedBitIsReadOrRefused() {
    for (byte[] message : goodMessages()) {
      for (int bit = 0; bit < 8 * message.length; bit++) {
        message[bit >> 3] ^= (byte) (1 << (bit & 7));
        outcome(message);
        message[bit >> 3] ^= (byte) (1 << (bit & 7));
      }
      assertThat(outcome(message)).isEqualTo(Rejection.NONE);
    }
  }

  @Property(tries = 2000)
  void severalChangedBytesAreReadOrRefused(@ForAll long seed) {
    Random random = new Random(seed);
    byte[] message = goodMessages().get(random.nextInt(2));
    for (int i = random.nextInt(8); i >= 0; i--) {
      message[random.nextInt(message.length)] = (byte) random.nextInt();
    }
    outcome(message);
  }

  @Property(tries = 2000)
  void noiseIsRefused(@ForAll byte[] noise) {
    assertThat(outcome(noise)).isNotEqualTo(Rejection.NONE);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("badBatches")
  void invalidBatchIsRefusedWithReason(String what, Rejection reason, Consumer<EdgeBatch> damage) {
    EdgeBatch batch = EdgeBatches.fixed();
    damage.accept(batch);
    assertThat(outcome(EdgeBatches.generated(batch))).as(what).isEqualTo(reason);
    // The reader reads the next message.
    assertThat(outcome(EdgeBatches.generated(EdgeBatches.fixed()))).isEqualTo(Rejection.NONE);
  }

  static Stream<Arguments> badBatches() {
    return Stream.of(
        bad("no version", Rejection.MISSING_FIELD, EdgeBatch::unsetVersion),
        bad("no agent", Rejection.MISSING_FIELD, EdgeBatch::unsetAgent),
        bad("no epoch", Rejection.MISSING_FIELD, EdgeBatch::unsetEpoch),
        bad("no sequence", Rejection.MISSING_FIELD, EdgeBatch::unsetSequence),
        bad("no half count", Rejection.MISSING_FIELD, EdgeBatch::unsetHalf_count),
        bad("no dictionary", Rejection.MISSING_FIELD, EdgeBatch::unsetDictionary),
        bad("no groups", Rejection.MISSING_FIELD, EdgeBatch::unsetGroups),
        bad("version 2", Rejection.UNSUPPORTED_VERSION, b -> b.setVersion(2)),
        bad("version 4", Rejection.UNSUPPORTED_VERSION, b -> b.setVersion(4)),
        bad("short agent", Rejection.BAD_VALUE, b -> b.setAgent(new byte[15])),
        bad("negative sequence", Rejection.BAD_VALUE, b -> b.setSequence(-1)),
        bad("empty groups", Rejection.BAD_LENGTH, b -> b.setGroups(List.of())),
        bad("too low a count", Rejection.BAD_LENGTH, b -> b.setHalf_count(24)),
        bad("fewer than the groups", Rejection.BAD_LENGTH, b -> b.setHalf_count(2)),
        bad("too high a count", Rejection.BAD_LENGTH, b -> b.setHalf_count(26)),
        bad("negative count", Rejection.BAD_LENGTH, b -> b.setHalf_count(-1)),
        bad(
            "count above the limit",
            Rejection.BAD_LENGTH,
            b -> b.setHalf_count(Limits.MAX_HALF_EDGES + 1)),
        badGroup("no application", Rejection.MISSING_FIELD, EdgeGroup::unsetApplication),
        badGroup("no side", Rejection.MISSING_FIELD, EdgeGroup::unsetSide),
        badGroup(
            "no durations",
            Rejection.MISSING_FIELD,
            g -> {
              g.unsetDurations_nanos();
              g.unsetKeys();
            }),
        badGroup("keys without durations", Rejection.MISSING_FIELD, g -> g.unsetDurations_nanos()),
        badGroup("application outside", Rejection.BAD_INDEX, g -> g.setApplication(70)),
        badGroup("application negative", Rejection.BAD_INDEX, g -> g.setApplication(-1)),
        badGroup("namespace outside", Rejection.BAD_INDEX, g -> g.setNamespace_name(70)),
        badGroup("peer outside", Rejection.BAD_INDEX, g -> g.setPeer(70)),
        badGroup("peer negative", Rejection.BAD_INDEX, g -> g.setPeer(-1)),
        badGroup("side 0", Rejection.BAD_VALUE, g -> g.setSide((byte) 0)),
        badGroup("side 5", Rejection.BAD_VALUE, g -> g.setSide((byte) 5)),
        badGroup("side negative", Rejection.BAD_VALUE, g -> g.setSide((byte) -1)),
        badGroup("connection type 3", Rejection.BAD_VALUE, g -> g.setConnection_type((byte) 3)),
        badGroup("threshold 2^56", Rejection.BAD_VALUE, g -> g.setSampling_threshold(1L << 56)),
        badGroup("threshold negative", Rejection.BAD_VALUE, g -> g.setSampling_threshold(-1)),
        badGroup("dimension outside", Rejection.BAD_INDEX, g -> g.setDimensions(List.of(0, 70))),
        badGroup("half a pair", Rejection.BAD_LENGTH, g -> g.setDimensions(List.of(0))),
        badGroup(
            "too many dimensions",
            Rejection.BAD_LENGTH,
            g -> g.setDimensions(Collections.nCopies(2 * Limits.MAX_EDGE_DIMENSIONS + 2, 0))),
        badGroup("part of a key", Rejection.BAD_LENGTH, g -> g.setKeys(new byte[19])),
        badGroup("more keys than halves", Rejection.BAD_LENGTH, g -> g.setKeys(new byte[50])),
        badGroup(
            "message of a server",
            Rejection.BAD_LENGTH,
            g -> g.setMessage_steps_micros(List.of(0L, 0L))),
        bad("a message missing", Rejection.BAD_LENGTH, b -> steps(b).removeLast()),
        bad("one message more", Rejection.BAD_LENGTH, b -> steps(b).add(0L)),
        bad("message before 1970", Rejection.BAD_VALUE, b -> steps(b).set(0, -1L)),
        bad("message after 2255", Rejection.BAD_VALUE, b -> steps(b).set(0, 1L << 53)),
        bad("time that overflows", Rejection.BAD_VALUE, b -> steps(b).set(1, Long.MAX_VALUE)),
        badGroup("no duration", Rejection.BAD_LENGTH, g -> g.setDurations_nanos(List.of())),
        badGroup("one missing", Rejection.BAD_LENGTH, g -> g.getDurations_nanos().removeLast()),
        badGroup("one more", Rejection.BAD_LENGTH, g -> g.addToDurations_nanos(0)),
        badGroup("negative", Rejection.BAD_VALUE, g -> g.getDurations_nanos().set(3, -1L)));
  }

  private static List<Long> steps(EdgeBatch batch) {
    return batch.getGroups().get(1).getMessage_steps_micros();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("badBytes")
  void invalidBytesAreRefusedWithReason(String what, Rejection reason, String hex) {
    byte[] message = HexFormat.of().parseHex(hex.replace(" ", ""));
    // The first rejection of its kind may load classes; the second may not allocate.
    outcome(message);
    long allocated =
        AllocatedBytes.by(() -> {
          reader.wrap(message, 0, message.length);
          while (reader.nextHead()) {}
        });
    assertThat(reader.rejection()).as(what).isEqualTo(reason);
    assertThat(allocated).isLessThan(SMALL_BYTES);
  }

  static Stream<Arguments> badBytes() {
    // Version 3, a name of zeros, one half-edge, one string.
    String name = "1506 1810" + "00".repeat(16) + "1600 1600";
    String head = name + "1502 19 18 01 61";
    String group = head + "49 1c 15 00";
    return Stream.of(
        bytes("nothing", Rejection.TRUNCATED, ""),
        bytes("only a stop", Rejection.MISSING_FIELD, "00"),
        bytes("one half", Rejection.NONE, group + "73 01 29 16 00 00 00"),
        bytes("groups before the dictionary", Rejection.MISSING_FIELD, name + "1502 59 0c"),
        bytes("dictionary twice", Rejection.MALFORMED, head + "09 0c 18 01 61 49 0c 00"),
        bytes(
            "a field of the head after the groups",
            Rejection.MALFORMED,
            group + "73 01 29 16 00 00" + "05 0a 02 00"),
        bytes("groups twice", Rejection.MALFORMED, group + "73 01 29 16 00 00" + "09 14 0c 00"),
        bytes("2^31 - 1 groups", Rejection.BAD_LENGTH, head + "49 fc ffffffff07"),
        bytes("one group, no bytes", Rejection.BAD_LENGTH, head + "49 1c"),
        bytes("groups of numbers", Rejection.MALFORMED, head + "49 15" + "00".repeat(10)),
        bytes("application twice", Rejection.MALFORMED, group + "05 02 00 73 01 29 16 00 00 00"),
        bytes("failed as a number", Rejection.MALFORMED, group + "23 01 53 01 29 16 00 00 00"),
        bytes("keys of 2^31 - 1", Rejection.BAD_LENGTH, group + "73 01 18 ffffffff07 00"),
        bytes("keys of 2^32 - 1", Rejection.BAD_LENGTH, group + "73 01 18 ffffffff0f 00"),
        bytes("keys as a list", Rejection.MALFORMED, group + "73 01 19 16 00 19 16 00 00 00"),
        bytes("2^31 - 1 durations", Rejection.BAD_LENGTH, group + "73 01 29 f6 ffffffff07"),
        bytes("durations of another type", Rejection.MALFORMED, group + "73 01 29 15 00 00 00"),
        bytes("a duration that does not end", Rejection.TRUNCATED, group + "73 01 29 16 80 80"),
        bytes(
            "a duration of 70 bits", Rejection.MALFORMED, group + "73 01 29 16" + "ff".repeat(10)),
        bytes("structs in structs", Rejection.MALFORMED, "0c c601" + "1c".repeat(100_000)));
  }

  @Test
  void tooLargeMessageIsRefused() {
    assertThat(outcome(new byte[Limits.MAX_MESSAGE_BYTES + 1])).isEqualTo(Rejection.TOO_LARGE);
  }

  @Test
  void halvesReadBeforeTheRejectionStay() {
    EdgeBatch batch = EdgeBatches.fixed();
    batch.getGroups().get(1).setSide((byte) 9);
    byte[] message = EdgeBatches.generated(batch);
    assertThat(reader.wrap(message, 0, message.length)).isEqualTo(Rejection.NONE);
    assertThat(reader.nextHead()).isTrue();
    assertThat(reader.next()).isTrue();
    assertThat(reader.nextHead()).isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.BAD_VALUE);
    assertThat(reader.nextHead()).isFalse();
    assertThat(reader.next()).isFalse();
    assertThat(reader.halfCount()).isEqualTo(25);
  }

  private static Arguments bad(String what, Rejection reason, Consumer<EdgeBatch> damage) {
    return Arguments.of(what, reason, damage);
  }

  /** Damages the first group, which has two waiting halves and two immediate ones. */
  private static Arguments badGroup(String what, Rejection reason, Consumer<EdgeGroup> damage) {
    return bad(
        "group: " + what,
        reason,
        batch -> {
          EdgeGroup group = batch.getGroups().getFirst();
          group.setDurations_nanos(new ArrayList<>(group.getDurations_nanos()));
          damage.accept(group);
        });
  }

  private static Arguments bytes(String what, Rejection reason, String hex) {
    return Arguments.of(what, reason, hex);
  }

  private Rejection outcome(byte[] message) {
    return EdgeBatches.outcome(reader, message, 0, message.length);
  }
}
