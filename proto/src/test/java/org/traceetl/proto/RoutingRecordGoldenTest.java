package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.traceetl.proto.Demand.KeyRule;
import org.traceetl.proto.Demand.Part;
import org.traceetl.proto.Demand.SlowRule;
import org.traceetl.proto.RulesRecord.Constant;
import org.traceetl.proto.RulesRecord.Dimension;
import org.traceetl.proto.RulesRecord.Form;
import org.traceetl.proto.RulesRecord.Measure;
import org.traceetl.proto.RulesRecord.MeasureType;
import org.traceetl.proto.RulesRecord.MeasureValue;
import org.traceetl.proto.RulesRecord.Objective;
import org.traceetl.proto.RulesRecord.Rule;
import org.traceetl.proto.RulesRecord.Source;
import org.traceetl.proto.RulesRecord.Unit;

/**
 * Routing records with every optional field, and a signed one; {@link RoutingRecordTest} has one of
 * each kind without them.
 */
final class RoutingRecordGoldenTest {
  private static final long EPOCH = 1_795_255_028_312L;
  private static final long NOW_MILLIS = 1_795_255_028_000L;

  private static final Demand DEMAND =
      new Demand(
          EPOCH,
          NOW_MILLIS,
          Map.of(
              "0a1b",
              new Part(
                  NOW_MILLIS,
                  EPOCH - 1,
                  false,
                  15_000,
                  List.of("http.route", "größe"),
                  List.of(new SlowRule("shop-*", 1 << 2, 250_000_000)),
                  1_000_000_000,
                  List.of("audit"),
                  Demand.BUNDLES
                      | Demand.PANES
                      | Demand.HEARTBEATS
                      | Demand.OPEN_PANES
                      | Demand.SIZES
                      | Demand.EDGES
                      | Demand.LABELS
                      | Demand.FORMS,
                  List.of("net.peer.name"),
                  List.of(new KeyRule("till", 0b10)))));

  private static final RulesRecord RULES =
      new RulesRecord(
          EPOCH,
          NOW_MILLIS,
          Map.of(
              "shop-*",
              new Rule(
                  0,
                  2_000_000_000L,
                  List.of(new SlowRule("*", 1 << 4, 30_000_000_000L)),
                  List.of(new Dimension("cloud.region", "region", Source.RESOURCE)),
                  List.of(new RulesRecord.Template("*", "job [^ ]+", "job {name}")),
                  new Form(
                      List.of(1_000_000L, 5_000_000L), RulesRecord.Kind.BOTH, -4, Unit.SECONDS),
                  List.of(
                      new Measure(
                          "gen_ai.client.token.usage",
                          "Tokens",
                          "{token}",
                          MeasureType.HISTOGRAM,
                          MeasureValue.ATTRIBUTE,
                          "gen_ai.usage.input_tokens",
                          1 << 3,
                          List.of("gen_ai.usage.input_tokens"),
                          List.of(new Dimension("gen_ai.system", null, Source.SPAN)),
                          List.of(new Constant("gen_ai_token_type", "input")),
                          List.of(1.0, 4.0, 16.5)),
                      new Measure(
                          "shop.orders",
                          "Orders",
                          "1",
                          MeasureType.COUNTER,
                          MeasureValue.ONE,
                          null,
                          0,
                          List.of(),
                          List.of(),
                          List.of(),
                          List.of()))),
              "größe",
              new Rule(1, null, null, null, null, new Form(null, null, null, null), null)));

  /** Also with formats behind the first byte. */
  private static final Demand LATER_DEMAND =
      new Demand(
          EPOCH,
          NOW_MILLIS,
          Map.of(
              "0a1b",
              new Part(
                  NOW_MILLIS,
                  EPOCH - 1,
                  false,
                  15_000,
                  List.of("http.route"),
                  List.of(),
                  1_000_000_000,
                  List.of(),
                  Demand.BUNDLES | Demand.VARIANCES,
                  List.of("net.peer.name"),
                  List.of(new KeyRule("till", 0b1)))));

  private static final RulesRecord OBJECTIVES =
      new RulesRecord(
          EPOCH,
          NOW_MILLIS,
          Map.of(
              "shop",
              new Rule(
                  0,
                  null,
                  null,
                  null,
                  null,
                  Form.NONE,
                  null,
                  List.of(
                      new Objective("fast", 99.5, 250_000_000L, 28, 1 << 2, "GET /größe"),
                      new Objective("right", 99.9, null, 30, 1 << 2 | 1 << 5, null)))));

  /** A key for tests alone. */
  private static final String PRIVATE_KEY =
      pem("PRIVATE KEY", "302e020100300506032b657004220420" + "0123456789abcdef".repeat(4));

  private static final String PUBLIC_KEY =
      pem(
          "PUBLIC KEY",
          "302a300506032b6570032100"
              + "207a067892821e25d770f1fba0c47c11ff4b813e54162ece9eb839e076231ab6");

  private static String pem(String kind, String der) {
    return "-----BEGIN %1$s-----%n%2$s%n-----END %1$s-----%n"
        .formatted(kind, Base64.getEncoder().encodeToString(HexFormat.of().parseHex(der)));
  }

  static Stream<Arguments> records() {
    return Stream.of(
        Arguments.of("demand_keys.hex", DEMAND, Demand.FORMAT),
        Arguments.of("demand_formats.hex", LATER_DEMAND, Demand.FORMAT),
        Arguments.of("rules_measures.hex", RULES, RulesRecord.FORMAT),
        Arguments.of("rules_objectives.hex", OBJECTIVES, RulesRecord.FORMAT));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("records")
  void bytesNeverChange(String file, RoutingRecord record, RecordFormat<?, ?> format)
      throws Exception {
    assertThat(GoldenBytesTest.lines(record.encode())).isEqualTo(GoldenBytesTest.golden(file));
    assertThat(format.decode(GoldenBytesTest.bytes(file))).isEqualTo(record);
  }

  @Test
  void aSignedRecordIsTheseBytes() throws Exception {
    byte[] record = GoldenBytesTest.bytes("demand_keys.hex");
    byte[] signed =
        SignedRecord.sign(record, "trace-routing", SignedRecord.privateKey(PRIVATE_KEY));

    assertThat(GoldenBytesTest.lines(signed)).isEqualTo(GoldenBytesTest.golden("signed.hex"));
    assertThat(
            SignedRecord.open(
                GoldenBytesTest.bytes("signed.hex"),
                "trace-routing",
                SignedRecord.publicKeys(PUBLIC_KEY)))
        .isEqualTo(record);
  }
}
