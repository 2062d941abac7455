package org.traceetl.server;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.rocketmq.remoting.netty.TlsSystemConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The program's options, and what it says of configurations that cannot be run. */
class TraceEtlServerTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void helpAndVersionStartNothing() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString())
        .contains("Usage: trace-etl-server", "--check-config", "Exit codes: 1 cannot start");
    assertThat(run("--version")).isZero();
    assertThat(out.toString()).endsWith("trace-etl-server development\n");
  }

  @Test
  void defaultsCanBeRun() {
    assertThat(run("--check-config")).isZero();
    assertThat(out.toString()).contains("The configuration is valid.");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "trace-etl.window.length=0s | trace-etl.window.length = 0s: must be 100 ms to 1 h",
        "trace-etl.window.length=soon | trace-etl.window.length = soon: must be a duration, such as 500ms, 15s or 10m",
        "trace-etl.windw.length=15s | trace-etl.windw.length: is not a key of this server; on the command line",
        "trace-etl.series.max=many | trace-etl.series.max = many: must be a number",
        "trace-etl.metrics.profile=zipkin | trace-etl.metrics.profile = zipkin: must be one of otel, tempo, ozhera",
        "trace-etl.metrics.namespace=9 | trace-etl.metrics.namespace = 9: must be a prefix of a Prometheus metric name: letters, digits, _ and :",
        "trace-etl.series.dimensions[0].attribute=span.name | trace-etl.series.dimensions[0].label = span_name: is a label of every series; configure for attribute span.name another label",
        "trace-etl.drain-within=0s | trace-etl.drain-within = 0s: must be above 0 and at most 10 minutes",
        "trace-etl.web.token= | trace-etl.web.token = : must not be empty; omit the key to allow requests without a token",
        "trace-etl.index.batch-documents=0 | trace-etl.index.batch-documents = 0: must be between 1 and 10000",
        "trace-etl.index.elasticsearch.pasword=hush | trace-etl.index.elasticsearch.pasword: is not a key of this server; on the command line",
        "trace-etl.rocketmq.tls-ca-file=/none | trace-etl.rocketmq.tls-ca-file = /none: requires tls: true",
        "trace-etl.rocketmq.access-key-file=/none | trace-etl.rocketmq.access-key-file = /none: cannot be read: it does not exist",
        "trace-etl.discovery.address=http://etl-1 | trace-etl.discovery.address = http://etl-1: must be host:port, or host, as scrapers reach this server; IPv6 as [::1]:8080",
        "trace-etl.discovery.forget-after=2h | trace-etl.discovery.forget-after = 2h: must be 0s to 1h",
        "server.port=70000 | server.port = 70000: must be a port, 1 to 65535, or 0 for a free one",
        "trace-etl.rocketmq.name-server=mq-1 | trace-etl.rocketmq.name-server = mq-1: must be host:port, or several separated by ;",
        "trace-etl.window=5 | trace-etl.window = 5: must be a section of keys",
        "trace-etl.rocketmq.tls=maybe | trace-etl.rocketmq.tls = maybe: must be true or false",
        "trace-etl.series.dimensions[0].label=x | trace-etl.series.dimensions[0].attribute: must name an attribute",
        "trace-etl.series.dimensions[0].from=nowhere | trace-etl.series.dimensions[0].from = nowhere: must be one of span, resource, any",
        "trace-etl.web.token-file=/nope | trace-etl.web.token-file = /nope: cannot be read: it does not exist",
      })
  void refusedKeysAreNamedWithoutAStackTrace(String property, String message) {
    assertThat(run("--check-config", "--" + property)).isEqualTo(2);
    assertThat(err.toString()).isEqualToIgnoringNewLines(message);
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void allRefusedKeysAreListedAtOnce(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("server.yaml");
    Files.writeString(
        file,
        """
        server:
          port: 70000
        trace-etl:
          window:
            length: 1ms
            idle: never
          windw:
            length: 15s
          index:
            batch-documents: 0
          rocketmq:
            name-server: mq-1
            workers: some
          series:
            dimensions:
              - label: route
              - attribute: b
                from: nowhere
          drain-within: 0s
          web:
            sign-in: magic
            users-file: /none
        """);

    assertThat(run("--check-config", "--config=" + file)).isEqualTo(2);

    assertThat(err.toString().lines())
        .containsExactlyInAnyOrder(
            "server.port = 70000: must be a port, 1 to 65535, or 0 for a free one; " + file + ":2",
            "trace-etl.window.idle = never: must be a duration, such as 500ms, 15s or 10m; "
                + file
                + ":6",
            "trace-etl.windw.length: is not a key of this server; " + file + ":8",
            "trace-etl.index.batch-documents = 0: must be between 1 and 10000; " + file + ":10",
            "trace-etl.rocketmq.workers = some: must be a number; " + file + ":13",
            "trace-etl.series.dimensions[0].attribute: must name an attribute; " + file + ":16",
            "trace-etl.series.dimensions[1].from = nowhere: must be one of span, resource, any; "
                + file
                + ":18",
            "trace-etl.drain-within = 0s: must be above 0 and at most 10 minutes; " + file + ":19",
            "trace-etl.web.sign-in = magic: must be one of none, basic, oidc; " + file + ":21");
  }

  @Test
  void indexDirectoryThatCannotBeMadeIsNamedWithoutAStackTrace(@TempDir Path directory)
      throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "");
    assertThat(
            run(
                "--server.port=0",
                "--trace-etl.index.type=lucene",
                "--trace-etl.index.lucene.directory=" + file.resolve("index")))
        .isEqualTo(2);
    assertThat(err.toString().lines())
        .singleElement(as(STRING))
        .startsWith(
            "trace-etl.index.lucene.directory = " + file.resolve("index") + ": cannot be opened (")
        .endsWith("configure a directory that this user may create and write");
  }

  @Test
  void addressOfAnotherHostIsNamedWithoutAStackTrace() {
    assertThat(run("--server.port=0", "--server.address=192.0.2.1")).isEqualTo(2);
    assertThat(err.toString().lines())
        .singleElement(as(STRING))
        .startsWith("server.address = 192.0.2.1, server.port = 0: cannot be opened (");
  }

  @Test
  void nameThatDoesNotResolveIsRefusedWhenThePortIsOpened() {
    assertThat(run("--server.port=0", "--server.address=foo.invalid")).isEqualTo(2);
    assertThat(err.toString())
        .isEqualToIgnoringNewLines(
            "server.address = foo.invalid: must be an IP address of this host, or a name that"
                + " resolves to one");
  }

  @Test
  void numbersThatAreNotWholeAreRefused() {
    assertThat(run("--dry-run", "--messages=x")).isEqualTo(2);
    assertThat(err.toString()).contains("'x' is not a whole number");
  }

  @Test
  void aNamespaceIsRefusedWhereNamesBeginOtherwise() {
    assertThat(
            run(
                "--check-config",
                "--trace-etl.metrics.profile=ozhera",
                "--trace-etl.metrics.namespace=shop"))
        .isEqualTo(2);
    assertThat(err.toString())
        .isEqualToIgnoringNewLines(
            "trace-etl.metrics.namespace = shop: must be absent with profile ozhera,"
                + " whose metric names begin with trace-etl.ozhera.env");
  }

  @Test
  void portOfAnotherProgramIsNamedWithoutAStackTrace() throws IOException {
    try (ServerSocket other = new ServerSocket(0)) {
      int port = other.getLocalPort();
      assertThat(run("--server.port=" + port)).isEqualTo(1);
      assertThat(err.toString())
          .isEqualToIgnoringNewLines(
              "server.port = "
                  + port
                  + ": is in use by another program; stop that program, or configure another port");
    }
  }

  @Test
  void tlsThatTheClientWouldGoOnWithoutEndsTheStart(@TempDir Path directory) throws IOException {
    Path roots = Files.writeString(directory.resolve("roots.pem"), "no certificate");
    try {
      assertThat(
              run(
                  "--server.port=0",
                  "--trace-etl.rocketmq.tls=true",
                  "--trace-etl.rocketmq.tls-ca-file=" + roots))
          .isEqualTo(1);
    } finally {
      TlsSystemConfig.tlsTestModeEnable = true;
      TlsSystemConfig.tlsClientAuthServer = false;
      TlsSystemConfig.tlsClientTrustCertPath = null;
    }
    assertThat(err.toString())
        .startsWith("trace-etl.rocketmq.tls = true: TLS cannot be set up (")
        .contains("check trace-etl.rocketmq.tls-ca-file = " + roots);
  }

  @Test
  void serverWithAWrongConfigurationDoesNotStart() {
    assertThat(run("--trace-etl.window.length=0s")).isEqualTo(2);
    assertThat(err.toString()).contains("must be 100 ms to 1 h");
  }

  @Test
  void argumentsThatAreNoKeysAreRefused() {
    assertThat(run("--trace-ett.window.length=15s")).isEqualTo(2);
    assertThat(err.toString().lines())
        .containsExactly(
            "--trace-ett.window.length=15s: is neither an option nor --KEY=VALUE with a key of this"
                + " server",
            "See --help.");
  }

  @Test
  void fileIsReadAndSecretsAreMasked(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("server.yaml");
    Files.writeString(
        file,
        """
        trace-etl:
          window:
            length: 20s
          series:
            dimensions:
              - attribute: http.route
              - attribute: k8s.namespace.name
                label: namespace
                from: resource
          documents:
            thresholds:
              - application: batch-*
                kinds: [consumer]
                slower-than: 30s
          rocketmq:
            access-key: us
            secret-key-file: %1$s
            tls: true
            tls-ca-file: %1$s
          web:
            token: hush
          index:
            type: elasticsearch
            elasticsearch:
              urls: [http://es-1:9200, http://es-2:9200]
              username: writer
              password: hush
        """
            .formatted(Files.writeString(directory.resolve("key"), "hush")));

    assertThat(run("--check-config", "--config=" + file)).isZero();

    assertThat(out.toString())
        .contains("trace-etl.window.length = 20s")
        .contains("trace-etl.series.dimensions[1].label = namespace")
        .contains("trace-etl.series.dimensions[1].from = resource")
        .contains("trace-etl.documents.thresholds[0].kinds = consumer")
        .contains("trace-etl.documents.thresholds[0].slower-than = 30s")
        .contains("trace-etl.drain-within = 20s")
        .contains("trace-etl.web.token = ***")
        .contains("trace-etl.index.elasticsearch.urls = http://es-1:9200,http://es-2:9200")
        .doesNotContain("hush");
  }

  @Test
  void fileOfRulesIsChecked(@TempDir Path directory) throws IOException {
    Path rules = directory.resolve("rules.yaml");
    String option = "--trace-etl.rules.file=" + rules;
    assertThat(run("--check-config", option)).isEqualTo(2);
    assertThat(err.toString())
        .contains("trace-etl.rules.file = " + rules + ": must be a readable file");

    Files.writeString(rules, "revision: 1\ndefaults: {metrics.unit: hours}\n");
    assertThat(run("--check-config", option)).isEqualTo(2);
    assertThat(err.toString())
        .contains("defaults.metrics.unit = hours: must be one of milliseconds, seconds")
        .contains("; " + rules + ":2");

    Files.writeString(rules, "revision: 1\ndefaults: {documents.slower-than: 2s}\n");
    assertThat(run("--check-config", option)).isZero();
    assertThat(out.toString()).contains("trace-etl.rules.file = " + rules);
    assertThat(
            run(
                "--check-config",
                option,
                "--trace-etl.metrics.profile=ozhera",
                "--trace-etl.ozhera.temporality=cumulative"))
        .isEqualTo(2);
    assertThat(err.toString())
        .contains("must be absent with profile ozhera, which has rules of its own");
  }

  @Test
  void checkedConfigurationIsListedByKeysThatCanBeGivenAgain(@TempDir Path directory)
      throws IOException {
    Path given = directory.resolve("given.properties");
    Files.writeString(
        given,
        """
        trace-etl.window.length = 2500ms
        trace-etl.series.dimensions[0].attribute = http.route
        trace-etl.series.filters[0].kinds = client
        trace-etl.rocketmq.access-key = us
        trace-etl.rocketmq.secret-key = hush
        trace-etl.index.elasticsearch.password = hush
        trace-etl.index.elasticsearch.username = us
        """);
    assertThat(run("--check-config", "--config=" + given)).isZero();
    String listed = out.toString();
    assertThat(listed)
        .contains("trace-etl.window.length = 2500ms")
        .contains("trace-etl.rocketmq.secret-key = ***")
        .doesNotContain("hush");

    Path again = directory.resolve("again.properties");
    Files.writeString(again, listed.replace("The configuration is valid.", ""));
    out.getBuffer().setLength(0);
    assertThat(run("--check-config", "--config=" + again)).isZero();
    assertThat(out.toString()).isEqualTo(listed);
  }

  @Test
  void missingFileIsNamed() {
    assertThat(run("--config=/no/such/file.yaml")).isEqualTo(2);
    assertThat(err.toString()).contains("--config = /no/such/file.yaml: must be a readable file");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "trace-etl:\\n  window: [15s | --config = FILE:2: is not YAML: expected ',' or ']', but got <stream end>",
        "a: b: c | --config = FILE:1: is not YAML: mapping values are not allowed here",
        "server:\\n  port: 0\\ntracetl:\\n  x: hush | tracetl.x: must begin with one of trace-etl, server, spring, management, logging; FILE:4",
        "trace-etl:\\n  windw:\\n    length: 15s | trace-etl.windw.length: is not a key of this server; FILE:3",
        "trace-etl:\\n  window:\\n    length: 0s | trace-etl.window.length = 0s: must be 100 ms to 1 h; FILE:3",
        "trace-etl:\\n  window:\\n    length: soon | trace-etl.window.length = soon: must be a duration, such as 500ms, 15s or 10m; FILE:3",
        "trace-etl:\\n  index:\\n    batch-documents: 0 | trace-etl.index.batch-documents = 0: must be between 1 and 10000; FILE:3",
        "server:\\n  port: 70000 | server.port = 70000: must be a port, 1 to 65535, or 0 for a free one; FILE:2",
      })
  void wrongFilesAreRefusedByLine(String content, String message, @TempDir Path directory)
      throws IOException {
    Path file = directory.resolve("server.yaml");
    Files.writeString(file, content.replace("\\n", "\n"));

    assertThat(run("--check-config", "--config=" + file)).isEqualTo(2);

    assertThat(err.toString()).isEqualToIgnoringNewLines(message.replace("FILE", file.toString()));
  }

  @Test
  void sectionsMayBeWrittenAsSpringReadsThem(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("server.properties");
    Files.writeString(file, "traceEtl.window.length=20s\nlogging.level.root=warn\n");

    assertThat(run("--check-config", "--config=" + file)).isZero();
    assertThat(out.toString()).contains("trace-etl.window.length = 20s");
  }

  private int run(String... arguments) {
    return TraceEtlServer.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
  }
}
