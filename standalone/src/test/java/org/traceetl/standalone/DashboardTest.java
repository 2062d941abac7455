package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** Tests that the dashboards are complete and can be imported into any Grafana. */
final class DashboardTest {
  /** The version of the classic model, which Grafana 12 and 13 import. */
  private static final int SCHEMA_VERSION = 42;

  private static final int COLUMNS = 24;

  static Stream<Dashboard> dashboards() throws IOException {
    return Dashboard.all().stream();
  }

  @ParameterizedTest
  @MethodSource("dashboards")
  void dashboardCanBeImportedIntoAnyGrafana(Dashboard dashboard) {
    JsonNode json = dashboard.json();

    assertThat(json.path("schemaVersion").asInt()).isEqualTo(SCHEMA_VERSION);
    assertThat(json.has("id")).isFalse();
    assertThat(json.path("uid").asString()).isEqualTo(dashboard.name());
    assertThat(json.path("title").asString()).isNotBlank();
    assertThat(json.path("description").asString()).isNotBlank();
    assertThat(json.findValues("datasource"))
        .allSatisfy(datasource ->
            assertThat(datasource.path("uid").asString())
                .isIn("${datasource}", "${documents}", "-- Grafana --"));
  }

  @ParameterizedTest
  @MethodSource("dashboards")
  void everyPanelHasTitleDescriptionAndUnit(Dashboard dashboard) {
    assertThat(dashboard.panels())
        .isNotEmpty()
        .allSatisfy(panel -> {
          JsonNode json = panel.json();
          assertThat(panel.title()).isNotBlank();
          assertThat(json.path("description").asString("")).as(panel.title()).isNotBlank();
          assertThat(json.path("targets").size()).as(panel.title()).isPositive();
          assertThat(json.path("fieldConfig").toString() + json.path("options"))
              .as(panel.title())
              .contains("\"unit\"");
        });
    assertThat(dashboard.variables())
        .isNotEmpty()
        .allSatisfy(variable -> {
          assertThat(variable.path("label").asString("")).isNotBlank();
          assertThat(variable.path("description").asString("")).isNotBlank();
        });
  }

  @ParameterizedTest
  @MethodSource("dashboards")
  void panelsHaveUniqueIdsAndPlaces(Dashboard dashboard) {
    Set<Integer> numbers = new HashSet<>();
    Set<String> cells = new HashSet<>();
    for (Dashboard.Panel panel : dashboard.panels()) {
      assertThat(numbers.add(panel.json().path("id").asInt())).as(panel.title()).isTrue();
      JsonNode place = panel.json().path("gridPos");
      int right = place.path("x").asInt() + place.path("w").asInt();
      int bottom = place.path("y").asInt() + place.path("h").asInt();
      assertThat(right).as(panel.title()).isBetween(1, COLUMNS);
      for (int x = place.path("x").asInt(); x < right; x++) {
        for (int y = place.path("y").asInt(); y < bottom; y++) {
          assertThat(cells.add(x + "," + y)).as(panel.title()).isTrue();
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("dashboards")
  void everyVariableIsDefined(Dashboard dashboard) {
    Set<String> defined = new HashSet<>();
    dashboard.variables().forEach(variable -> defined.add(variable.path("name").asString()));

    Matcher used = Dashboard.VARIABLE.matcher(dashboard.json().toString());
    while (used.find()) {
      String name = used.group(1) != null ? used.group(1) : used.group(2);
      if (!name.startsWith("__")) {
        assertThat(defined).contains(name);
      }
    }
  }
}
