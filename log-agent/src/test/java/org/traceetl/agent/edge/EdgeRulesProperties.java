package org.traceetl.agent.edge;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.SpanView;

/** For any spans, with keys that are read, similar ones and others, and values of any bytes. */
final class EdgeRulesProperties {
  private static final int MOST_ATTRIBUTES = 20;

  /** The host of an absolute URL. */
  private static final Pattern HOST =
      Pattern.compile("[^:/]*://(?:[^/?#]*@)?(?:\\[([^]/?#]*)|([^:/?#]*))");

  private static final List<String> PARTS_OF_URLS =
      List.of("http", "://", "/", ":", "@", "[", "]", "?", "#", "host", "8080");

  private record Attribute(byte[] key, byte[] value) {}

  /** Reading past an array of exactly the slice fails; past a slice amid others, it shows. */
  @Property
  void onlySlicesAreRead(@ForAll long seed) {
    Random random = new Random(seed);
    List<Attribute> attributes = attributes(random);
    SpanView exact = span(seed);
    attributes.forEach(attribute ->
        exact.attributes.add(
            attribute.key, 0, attribute.key.length, attribute.value, 0, attribute.value.length));
    SpanView amid = span(seed);
    attributes.forEach(attribute -> addAmidOthers(attribute, amid.attributes, random));

    assertThat(classified(amid)).isEqualTo(classified(exact));
  }

  @Property
  void peerIsPartOfTheFirstKeyWithAValue(@ForAll long seed) {
    SpanView span = span(seed);
    List<Attribute> attributes = attributes(new Random(seed));
    attributes.forEach(attribute -> addAmidOthers(attribute, span.attributes, new Random(seed)));
    HalfEdge half = new HalfEdge();
    if (!EdgeRules.classify(span, span.attributes, half)) {
      return;
    }
    byte[] expected = isClientSide(span) ? expectedPeer(attributes) : new byte[0];
    byte[] peer = peer(half);

    assertThat(peer).isEqualTo(Arrays.copyOf(expected, peer.length));
    assertThat(peer).hasSizeLessThanOrEqualTo(HalfEdge.MAX_PEER_BYTES);
    if (expected.length <= HalfEdge.MAX_PEER_BYTES) {
      assertThat(peer).hasSameSizeAs(expected);
    }
    assertThat(half.waiting).isEqualTo((half.traceIdHigh | half.traceIdLow) != 0);
    assertThat(half.waiting).isEqualTo(half.clientSpanId != 0);
  }

  @Property
  void cutNamesAreUtf8(@ForAll String value) {
    byte[] bytes =
        value.repeat(HalfEdge.MAX_PEER_BYTES / Math.max(1, value.length()) + 1).getBytes(UTF_8);
    SpanView span = span(0);
    span.kind = 3;
    byte[] key = "server.address".getBytes(UTF_8);
    span.attributes.add(key, 0, key.length, bytes, 0, bytes.length);
    HalfEdge half = new HalfEdge();
    EdgeRules.classify(span, span.attributes, half);

    assertThat(new String(peer(half), UTF_8).getBytes(UTF_8)).isEqualTo(peer(half));
    assertThat(half.peerLength)
        .isBetween(
            Math.min(bytes.length, HalfEdge.MAX_PEER_BYTES - 3),
            Math.min(bytes.length, HalfEdge.MAX_PEER_BYTES));
  }

  @Property
  void otherAttributesThanTheReadOnesHaveNoEffect(@ForAll long seed) {
    KeySet keys = new KeySet(EdgeAttributes.NO_DIMENSIONS.readKeys());
    SpanView all = span(seed);
    SpanView read = span(seed);
    for (Attribute attribute : attributes(new Random(seed))) {
      addAmidOthers(attribute, all.attributes, new Random(seed));
      if (keys.contains(attribute.key, 0, attribute.key.length)) {
        addAmidOthers(attribute, read.attributes, new Random(seed));
      }
    }

    assertThat(classified(read)).isEqualTo(classified(all));
  }

  /** As a first reading puts attributes there that are not demanded. */
  @Property
  void additionalAttributesCountAlike(@ForAll long seed, @ForAll int additional) {
    SpanView together = span(seed);
    SpanView apart = span(seed);
    for (Attribute attribute : attributes(new Random(seed))) {
      addAmidOthers(attribute, together.attributes, new Random(seed));
      boolean isAdditional = (additional >> attribute.key.length % Integer.SIZE & 1) != 0;
      addAmidOthers(
          attribute, isAdditional ? apart.additional : apart.attributes, new Random(seed));
    }

    assertThat(classified(apart)).isEqualTo(classified(together));
  }

  private static boolean isClientSide(SpanView span) {
    return span.kind == 3 || span.kind == 4;
  }

  private static byte[] expectedPeer(List<Attribute> attributes) {
    byte[] number = new byte[0];
    for (byte[] key : EdgeAttributes.NO_DIMENSIONS.readKeys()) {
      for (Attribute attribute : attributes) {
        byte[] named = Arrays.equals(attribute.key, key) ? named(attribute) : new byte[0];
        if (named.length > 0) {
          boolean isIndex =
              new String(key, UTF_8).equals("db.namespace")
                  && new String(named, UTF_8).matches("[0-9]+");
          if (!isIndex) {
            return named;
          }
          number = number.length == 0 ? named : number;
        }
      }
    }
    return number;
  }

  /** Returns what an attribute with a key that is read names; empty for nothing. */
  private static byte[] named(Attribute attribute) {
    return switch (new String(attribute.key, UTF_8)) {
      case "url.full", "http.url" -> {
        Matcher matcher = HOST.matcher(new String(attribute.value, ISO_8859_1));
        String host =
            !matcher.lookingAt()
                ? ""
                : matcher.group(1) != null ? matcher.group(1) : matcher.group(2);
        yield host.getBytes(ISO_8859_1);
      }
      case "messaging.operation.type", "messaging.operation" -> new byte[0];
      default -> attribute.value;
    };
  }

  private static List<Object> classified(SpanView span) {
    HalfEdge half = new HalfEdge();
    return !EdgeRules.classify(span, span.attributes, half)
        ? List.of()
        : List.of(
            half.side,
            half.connectionType,
            half.waiting,
            half.traceIdHigh,
            half.traceIdLow,
            half.clientSpanId,
            new String(peer(half), ISO_8859_1));
  }

  private static byte[] peer(HalfEdge half) {
    return Arrays.copyOfRange(half.peer, half.peerOffset, half.peerOffset + half.peerLength);
  }

  private static SpanView span(long seed) {
    Random random = new Random(seed);
    SpanView span = new SpanView();
    span.kind = random.nextInt(8) - 1;
    span.traceIdHigh = random.nextInt(4) == 0 ? 0 : random.nextLong();
    boolean isLowZero = span.traceIdHigh != 0 && random.nextInt(4) == 0;
    span.traceIdLow = isLowZero ? 0 : random.nextLong() | 1;
    span.spanId = random.nextLong() | 1;
    span.parentSpanId = random.nextInt(4) == 0 ? 0 : random.nextLong();
    return span;
  }

  private static List<Attribute> attributes(Random random) {
    List<Attribute> attributes = new ArrayList<>();
    for (int i = random.nextInt(MOST_ATTRIBUTES); i > 0; i--) {
      attributes.add(new Attribute(key(random), value(random)));
    }
    return attributes;
  }

  private static byte[] key(Random random) {
    List<byte[]> keys = EdgeAttributes.NO_DIMENSIONS.readKeys();
    byte[] key = keys.get(random.nextInt(keys.size())).clone();
    return switch (random.nextInt(6)) {
      case 0 -> {
        key[random.nextInt(key.length)] ^= (byte) (1 << random.nextInt(8));
        yield key;
      }
      case 1 -> Arrays.copyOf(key, key.length - 1);
      case 2 -> bytes(random, random.nextInt(40));
      default -> key;
    };
  }

  private static byte[] value(Random random) {
    return switch (random.nextInt(7)) {
      case 0 -> new byte[0];
      case 1 -> Integer.toString(random.nextInt(100)).getBytes(UTF_8);
      case 2 -> bytes(random, random.nextInt(600));
      // Only continuation bytes: no character ends where the name is cut.
      case 3 -> "\u0080".repeat(random.nextInt(400)).getBytes(ISO_8859_1);
      case 4 -> url(random).getBytes(ISO_8859_1);
      case 5 -> List.of("receive", "settle", "process").get(random.nextInt(3)).getBytes(UTF_8);
      default -> ("name" + random.nextInt(10)).getBytes(UTF_8);
    };
  }

  private static String url(Random random) {
    StringBuilder url = new StringBuilder(random.nextInt(3) == 0 ? "" : "http://");
    for (int i = random.nextInt(8); i > 0; i--) {
      url.append(PARTS_OF_URLS.get(random.nextInt(PARTS_OF_URLS.size())));
    }
    return url.toString();
  }

  private static byte[] bytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private static void addAmidOthers(Attribute attribute, Attributes to, Random random) {
    int before = random.nextInt(5);
    byte[] key = amid(attribute.key, before, random);
    byte[] value = amid(attribute.value, before, random);
    to.add(key, before, attribute.key.length, value, before, attribute.value.length);
  }

  private static byte[] amid(byte[] slice, int before, Random random) {
    byte[] bytes = bytes(random, before + slice.length + random.nextInt(5));
    System.arraycopy(slice, 0, bytes, before, slice.length);
    return bytes;
  }
}
