package org.traceetl.proto.ring;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The ring that all writers and readers are held to: {@code ring_1.hex} is its file without the
 * zeros, {@code ring_1.txt} what it says.
 */
public final class RingGolden {
  /** What any writer that is to be held to the golden file makes. */
  public static final RingWriter.Shape SHAPE =
      new RingWriter.Shape(
          4_096,
          4_096,
          65_536,
          4_711,
          1_795_255_028_123L,
          0x0123_4567_89ab_cdefL,
          0xfedc_ba98_7654_3210L,
          ordered("service.name", "checkout", "service.instance.id", 7L));

  /** What it writes. */
  public static final List<RingSpan> SPANS =
      List.of(
          RingSpan.numbered(1),
          new RingSpan(
              0x0af7_6519_16cd_43ddL,
              0x8448_eb21_1c80_319cL,
              0xb7ad_6b71_6920_3331L,
              0x00f0_67aa_0ba9_02b7L,
              1_795_255_028_312_000_000L,
              1_500_000L,
              3,
              2,
              0xc0_0000_0000_0000L,
              0x6e_6d1a_75b4_f3e1L,
              "SELECT carts",
              "deadline \u00fcberschritten",
              ordered(
                  "db.system",
                  "postgresql",
                  "db.rows",
                  -3L,
                  "retry",
                  true,
                  "cached",
                  false,
                  "ratio",
                  0.25,
                  "db.tables",
                  new RingSpan.Json("[\"carts\",\"users\"]"),
                  "plan",
                  new RingSpan.Base64("AP8="),
                  "largest",
                  Long.MIN_VALUE,
                  "empty",
                  ""),
              List.of(
                  new RingSpan.Event(
                      "exception",
                      1_250_000,
                      ordered("exception.type", "java.sql.SQLTimeoutException")),
                  new RingSpan.Event("retry", -1, Map.of()))),
          RingSpan.numbered(2),
          new RingSpan(
              0x5b8a_a5a2_d2c8_72e8L,
              0x321c_f373_08d6_9df2L,
              0x0515_81bf_3cb5_5c13L,
              0,
              1_795_255_028_400_000_000L,
              2_000_000L,
              5,
              1,
              0,
              -1,
              "orders process",
              "",
              ordered("messaging.batch.message_count", 2L),
              List.of(new RingSpan.Event("retry", 500_000, Map.of())),
              List.of(
                  new RingSpan.Link(
                      0x0af7_6519_16cd_43ddL, 0x8448_eb21_1c80_319cL, 0xb7ad_6b71_6920_3331L),
                  new RingSpan.Link(1, -2, 3))));

  /** Returns a map in the order of its arguments: keys, each followed by its value. */
  public static Map<String, Object> ordered(Object... keysAndValues) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      map.put((String) keysAndValues[i], keysAndValues[i + 1]);
    }
    return map;
  }

  private RingGolden() {}

  /** The golden file of this name. */
  public static String read(String name) throws IOException {
    try (InputStream in = RingGolden.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }
}
