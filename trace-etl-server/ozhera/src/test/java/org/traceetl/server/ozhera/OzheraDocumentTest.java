package org.traceetl.server.ozhera;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.TraceDocument.Reason;
import tools.jackson.databind.node.ObjectNode;

final class OzheraDocumentTest {
  private static final String TRACE_ID = "0af7651916cd43dd8448eb211c80319c";

  private static TraceDocument document(long start, long duration, Map<String, String> attributes) {
    return new TraceDocument(
        TRACE_ID,
        "b7ad6b7169203331",
        "shop",
        "password=hunter2",
        3,
        2,
        "login of root with password=hunter2 failed",
        start,
        duration,
        Reason.ERROR,
        attributes);
  }

  /** Fault 10 of OzHera. What the mapping gives has none either: its own tests say so. */
  @Test
  void whatIsNoFieldOfOzherasDoesNotEnter() {
    ObjectNode json =
        OzheraDocument.toJson(
            document(
                1,
                1,
                Map.of(
                    "type",
                    "mysql",
                    "dataSource",
                    "mysql://***@db:3306/shop",
                    "db.connection_string",
                    "mysql://root:hunter2@db:3306",
                    "db.driver.password",
                    "hunter2")),
            "hera");
    assertThat(json.toString()).doesNotContain("hunter2").contains("mysql://***@db:3306/shop");
  }

  /** Both parts are cut to their unit before they are added up, as OzHera does. */
  @ParameterizedTest
  @CsvSource({
    "1999999, 1999999, 2, 1.999",
    "1000000, 0, 1, 0.0",
    "0, 50000, 0, 0.05",
    "-5, 2000000, 2, 2.0",
    "1795219200123456789, 1234567890, 1795219201357, 1234.567",
    "0, 86400000000000, 86400000, 8.64E7",
  })
  void timesAreReckonedAsOzheraDoes(long start, long duration, String timestamp, String millis) {
    ObjectNode json = OzheraDocument.toJson(document(start, duration, Map.of()), "hera");
    assertThat(json.path("timestamp").asString()).isEqualTo(timestamp);
    assertThat(json.path("duration").asString()).isEqualTo(millis);
  }

  @Test
  void fieldsWithoutAValueAreEmptyButForTheHost() {
    ObjectNode json = OzheraDocument.toJson(document(1, 1, Map.of("type", "http")), "hera");
    assertThat(json.path("dataSource").asString()).isEmpty();
    assertThat(json.path("errorCode").asString()).isEmpty();
    assertThat(json.has("host")).isFalse();
  }
}
