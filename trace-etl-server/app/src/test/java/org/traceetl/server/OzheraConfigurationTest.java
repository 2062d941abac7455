package org.traceetl.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.features.hotspot.HotspotFeature;
import org.traceetl.server.features.learn.LearnConfig;
import org.traceetl.server.features.pages.PagesFeature;
import org.traceetl.server.ozhera.OzheraConfig;
import org.traceetl.server.ozhera.OzheraProfile;
import org.traceetl.server.ozhera.delta.http.DeltaFeature;
import org.traceetl.server.web.WebServer;

class OzheraConfigurationTest {
  private static final String PROFILE = "--trace-etl.metrics.profile=ozhera";
  private static final String SCRAPERS = "--trace-etl.ozhera.scrapers=prometheus-a,prometheus-b";

  @TempDir private Path directory;

  private final StringWriter err = new StringWriter();

  private int check(String... arguments) {
    String[] all = new String[arguments.length + 3];
    all[0] = "--check-config";
    all[1] = PROFILE;
    all[2] = SCRAPERS;
    System.arraycopy(arguments, 0, all, 3, arguments.length);
    return run(all);
  }

  private static OzheraConfig own(ServerConfig config) {
    return (OzheraConfig) config.settings(new OzheraProfile());
  }

  private int run(String... arguments) {
    return TraceEtlServer.run(new PrintWriter(new StringWriter()), new PrintWriter(err), arguments);
  }

  @Test
  void withoutScrapersNobodyCouldTakeDeltas() {
    assertThat(run(PROFILE)).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("trace-etl.ozhera.scrapers = []: must list each Prometheus")
        .contains("such as trace-etl.ozhera.scrapers: [prometheus-a, prometheus-b]")
        .contains("params: {scraper: [prometheus-a]}");
  }

  @Test
  void cumulativePagesNeedNoScrapersAndRefuseThem() {
    assertThat(run("--check-config", PROFILE, "--trace-etl.ozhera.temporality=sum")).isEqualTo(2);
    assertThat(err.toString())
        .contains("trace-etl.ozhera.temporality = sum: must be one of delta, cumulative");
    err.getBuffer().setLength(0);
    assertThat(check("--trace-etl.ozhera.temporality=cumulative")).isEqualTo(2);
    assertThat(err.toString())
        .contains(
            "trace-etl.ozhera.scrapers = [prometheus-a, prometheus-b]: must be absent with"
                + " trace-etl.ozhera.temporality = cumulative");
    ServerConfig config =
        WebServer.check(List.of(PROFILE, "--trace-etl.ozhera.temporality=cumulative"));
    assertThat(own(config).temporality()).isEqualTo(OzheraConfig.Temporality.CUMULATIVE);
    assertThat(config.metrics().queueLabel()).isEqualTo(MetricsConfig.QueueLabel.ALWAYS);
    assertThat(own(WebServer.check(List.of(PROFILE, SCRAPERS))).temporality())
        .isEqualTo(OzheraConfig.Temporality.DELTA);
  }

  @Test
  void aCumulativePipelineHasPagesInPlaceOfDeltas() {
    try (var server =
        ServerAssembly.assemble(
            WebServer.check(List.of(PROFILE, "--trace-etl.ozhera.temporality=cumulative")),
            ServerPlatform.system())) {
      assertThat(server.components().of(DeltaFeature.class)).isEmpty();
      assertThat(server.components().of(PagesFeature.class)).hasSize(1);
    }
  }

  @Test
  void namesOfScrapersAreChecked() {
    assertThat(run("--check-config", PROFILE, "--trace-etl.ozhera.scrapers=a b")).isEqualTo(2);
    assertThat(run("--check-config", PROFILE, "--trace-etl.ozhera.scrapers=a,b,a")).isEqualTo(2);
    assertThat(err.toString())
        .contains("trace-etl.ozhera.scrapers = a b: must be 1 to 64 letters")
        .contains("trace-etl.ozhera.scrapers = a: must be configured once");
    assertThat(own(WebServer.check(List.of(PROFILE, SCRAPERS))).scrapers())
        .containsExactly("prometheus-a", "prometheus-b");
  }

  @Test
  void someDefaultsAreOthersAndWhatIsToldHolds() {
    ServerConfig config = WebServer.check(List.of(PROFILE, SCRAPERS));
    assertThat(config.series().templates().enabled()).isFalse();
    assertThat(config.feature(LearnConfig.class).enabled()).isFalse();
    assertThat(config.documents().exemplarsPerQueue()).isZero();

    ServerConfig told =
        WebServer.check(
            List.of(
                PROFILE,
                SCRAPERS,
                "--trace-etl.series.templates.enabled=true",
                "--trace-etl.documents.exemplars-per-queue=3"));
    assertThat(told.series().templates().enabled()).isTrue();
    assertThat(told.documents().exemplarsPerQueue()).isEqualTo(3);
    assertThat(WebServer.check(List.of()).series().templates().enabled()).isTrue();
  }

  @Test
  void whatOzheraHasOfItsOwnMustBeAbsent() {
    assertThat(check("--trace-etl.histogram.kind=both")).isEqualTo(2);
    assertThat(check("--trace-etl.series.dimensions[0].attribute=user")).isEqualTo(2);
    assertThat(check("--trace-etl.series.max-applications=100001")).isEqualTo(2);
    assertThat(err.toString())
        .contains("trace-etl.histogram = given: must be absent with profile ozhera")
        .contains("trace-etl.series.dimensions = 1 of them: must be absent with profile ozhera")
        .contains("trace-etl.series.max-applications = 100001: must be at most 100000");
  }

  @Test
  void aWrongRulesFileIsAWrongConfiguration() throws IOException {
    Path file = directory.resolve("rules.yaml");
    String key = "--trace-etl.ozhera.rules-file=" + file;
    assertThat(check(key)).isEqualTo(2);
    assertThat(err.toString())
        .startsWith("trace-etl.ozhera.rules-file = " + file + ": cannot be read");
    err.getBuffer().setLength(0);
    Files.writeString(file, "exclude:\n  urls: x\n");
    assertThat(check(key)).isEqualTo(2);
    assertThat(err.toString())
        .isEqualToIgnoringNewLines(
            "trace-etl.ozhera.rules-file = "
                + file
                + ":2: exclude.urls = x: must be a list of texts, at most 1000");
    Files.writeString(file, "exclude:\n  urls: [x]\n");
    assertThat(check(key)).isZero();
  }

  @Test
  void hotspotsNeedNoLabelOfTheQueue() {
    try (var server =
        ServerAssembly.assemble(
            WebServer.check(List.of(PROFILE, SCRAPERS)), ServerPlatform.system())) {
      assertThat(server.components().of(HotspotFeature.class))
          .singleElement()
          .satisfies(feature -> assertThat(feature.hotspots()).isNotNull());
    }
  }
}
