package org.traceetl.server.binding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.server.features.index.IndexConfig;
import org.traceetl.server.web.WebServer;

/** How documents of profile ozhera are asked for. */
final class OzheraLayoutConfigTest {
  private static final String PROFILE = "--trace-etl.metrics.profile=ozhera";
  private static final String TYPE = "--trace-etl.index.type=elasticsearch";
  private static final String KEY = "trace-etl.index.elasticsearch.";

  @Test
  void theProfileBringsItsLayout() {
    IndexConfig.Elasticsearch ozhera = index(PROFILE, TYPE);
    assertThat(ozhera.layout()).isEqualTo("ozhera");
    assertThat(ozhera.indexPrefix()).isEqualTo("zgq_common_staging_private_prometheus-");
    assertThat(ozhera.domain()).isEqualTo("hera");
    assertThat(ozhera.timeZone()).isEqualTo(ZoneOffset.UTC);
    assertThat(index(TYPE).layout()).isEqualTo("data-stream");
    assertThat(index(PROFILE, TYPE, "--" + KEY + "layout=data-stream")).isEqualTo(index(TYPE));
  }

  @Test
  void everyKeyIsTakenAndShown() {
    ServerConfig config =
        check(
            PROFILE,
            TYPE,
            "--" + KEY + "layout=ozhera",
            "--" + KEY + "index-prefix=errors-",
            "--" + KEY + "domain=mone",
            "--" + KEY + "time-zone=Asia/Shanghai");
    assertThat(config.feature(IndexConfig.class).elasticsearch().timeZone())
        .isEqualTo(ZoneId.of("Asia/Shanghai"));
    assertThat(KeyLines.of(config))
        .contains(
            KEY + "layout = ozhera",
            KEY + "index-prefix = errors-",
            KEY + "domain = mone",
            KEY + "time-zone = Asia/Shanghai");
  }

  @Test
  void ordinarySpansAreNotKept() {
    String wanted = "--trace-etl.documents.exemplars-per-queue=9";
    assertThat(check(PROFILE, TYPE, wanted).documents().exemplarsPerQueue()).isZero();
    assertThat(check(PROFILE, wanted).documents().exemplarsPerQueue()).isEqualTo(9);
  }

  @Test
  void whatIsWrongIsNamed() {
    assertThatThrownBy(() -> check(TYPE, "--" + KEY + "layout=ozhera"))
        .hasMessageContaining("layout = ozhera: requires trace-etl.metrics.profile = ozhera");
    assertThatThrownBy(() -> check(PROFILE, "--" + KEY + "index-prefix=Errors*"))
        .hasStackTraceContaining("index.elasticsearch.index-prefix = Errors*: must be lower-case");
    assertThatThrownBy(() -> check(PROFILE, "--" + KEY + "time-zone=Mars/Base"))
        .hasStackTraceContaining("Mars/Base");
  }

  private static IndexConfig.Elasticsearch index(String... arguments) {
    return check(arguments).feature(IndexConfig.class).elasticsearch();
  }

  private static ServerConfig check(String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.add("--trace-etl.ozhera.scrapers=prometheus");
    return WebServer.check(all);
  }
}
