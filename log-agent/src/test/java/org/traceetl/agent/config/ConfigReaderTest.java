package org.traceetl.agent.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.config.DetailConfig.Detail;
import org.traceetl.agent.config.EdgesConfig.Edges;
import org.traceetl.agent.config.ForwardConfig.Endpoint;
import org.traceetl.agent.config.RoutingRules.Rule;
import org.traceetl.agent.config.RoutingRules.Spread;
import org.traceetl.common.ConfigException;
import org.traceetl.common.Secret;

final class ConfigReaderTest {
  @Test
  void emptyFileGivesTheDefaults() throws ConfigException {
    AgentConfig config = ConfigReader.read("", Map.of()).config();

    assertThat(config)
        .isEqualTo(
            new AgentConfig(
                Path.of("log-agent-data"),
                10_000,
                OtlpConfig.defaults(),
                FilesConfig.defaults(),
                RingConfig.defaults(),
                PipelineConfig.defaults(),
                SpoolConfig.defaults(Path.of("log-agent-data")),
                RoutingConfig.defaults(),
                Optional.empty(),
                DetailConfig.defaults(),
                PublishConfig.defaults(),
                TelemetryConfig.defaults()));
  }

  @Test
  void environmentPrecedesFileAndFileDefaults() throws ConfigException {
    String yaml =
        """
        otlp:
          grpc-port: 14317
          http-port: 14318
        files:
          paths: [/var/log/*/trace.log, /srv/trace.log]
        routing:
          queues-per-application: 3
          applications:
            checkout: {queues: 8}
            hot: {queues: 16, spread: random}
        """;

    AgentConfig config =
        ConfigReader.read(
                yaml,
                Map.of(
                    "TRACE_ETL_AGENT_OTLP_GRPC_PORT", "24317",
                    "TRACE_ETL_AGENT_ROCKETMQ_NAME_SERVER", "mq-1:9876;mq-2:9876",
                    "HOME", "/root"))
            .config();

    assertThat(config.otlp().grpcPort()).isEqualTo(24_317);
    assertThat(config.otlp().httpPort()).isEqualTo(14_318);
    assertThat(config.rocketmq().nameServer()).isEqualTo("mq-1:9876;mq-2:9876");
    assertThat(config.files().paths()).containsExactly("/var/log/*/trace.log", "/srv/trace.log");
    RoutingRules rules = config.routing().keys();
    assertThat(rules.rule("other")).isEqualTo(new Rule(3, Spread.SERIES, false));
    assertThat(rules.rule("checkout")).isEqualTo(new Rule(8, Spread.SERIES, true));
    assertThat(rules.rule("hot")).isEqualTo(new Rule(16, Spread.RANDOM, true));
  }

  @Test
  void bundlesAreOffOrAuto() throws ConfigException {
    assertThat(ConfigReader.read("", Map.of()).config().rocketmq().bundles())
        .isEqualTo(PublishConfig.Bundles.AUTO);
    assertThat(bundles("off")).isEqualTo(PublishConfig.Bundles.OFF);
    assertThat(bundles("auto")).isEqualTo(PublishConfig.Bundles.AUTO);
  }

  private static PublishConfig.Bundles bundles(String value) throws ConfigException {
    return ConfigReader.read("rocketmq: {bundles: " + value + "}", Map.of())
        .config()
        .rocketmq()
        .bundles();
  }

  @Test
  void keysMayBeWrittenWithDots() {
    String yaml =
        """
        otlp.grpc-port: 14317
        telemetry: {tls.client-ca-file: ''}
        routing.applications: {shop.eu: {queues: 3}}
        """;
    AgentConfig config = ConfigReader.read(yaml, Map.of()).config();

    assertThat(config.otlp().grpcPort()).isEqualTo(14_317);
    assertThat(config.routing().keys().rule("shop.eu").queues()).isEqualTo(3);
  }

  @Test
  void effectiveConfigurationCanBeReadAgain() {
    ConfigReader reader = ConfigReader.read("otlp: {grpc-port: 14317}", Map.of());

    assertThat(ConfigReader.read(reader.effective(), Map.of()).config().otlp())
        .isEqualTo(reader.config().otlp());
  }

  @Test
  void listsAndSectionsAreReadFromTheEnvironment() throws ConfigException {
    AgentConfig config =
        ConfigReader.read(
                "",
                Map.of(
                    "TRACE_ETL_AGENT_FILES_PATHS", "/a/*.log, /b/{x,y}/*.log , /c",
                    "TRACE_ETL_AGENT_ROUTING_APPLICATIONS", "{hot: {queues: 4}}"))
            .config();

    assertThat(config.files().paths()).containsExactly("/a/*.log", "/b/{x,y}/*.log", "/c");
    assertThat(config.routing().keys().rule("hot").queues()).isEqualTo(4);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          otlp: {grpc-port: 70000}            | otlp.grpc-port = 70000: must be a whole number from 0 to 65535
          otlp: {grpc-port: x}                | otlp.grpc-port = x: must be a whole number from 0 to 65535
          otlp: {enabled: maybe}              | otlp.enabled = maybe: must be true or false
          otlp: {host: *h}                    | otlp.host = *h: must be text; if the key is absent, it is 0.0.0.0; quote a value that begins with *
          otlp: {grpcport: 1}                 | otlp.grpcport: no such key; known are enabled, host, grpc-port
          nonsense: 1                         | nonsense: no such key
          otlp: 5                             | otlp = 5: must be a section of keys
          {otlp: {enabled: false}, ring: {enabled: false}} | otlp.enabled = false: no source is enabled
          otlp: {max-request-bytes: 67108864} | otlp.max-request-bytes = 67108864: must be at most half of
          rocketmq: {name-server: nowhere}        | rocketmq.name-server = nowhere: must be host:port
          rocketmq: {topic: 'a b'}            | rocketmq.topic = a b: must be 1 to 127
          rocketmq: {access-key: k}           | rocketmq.secret-key = : the other key is configured
          rocketmq: {tls-ca-file: /x}         | rocketmq.tls-ca-file = /x: requires rocketmq.tls
          rocketmq: {tls: true, tls-ca-file: /none} | rocketmq.tls-ca-file = /none: cannot be read
          rocketmq: {access-key-file: /none}  | rocketmq.access-key-file = /none: cannot be read: it does not exist
          otlp: {tls: {certificate-file: /x}} | otlp.tls.private-key-file = : TLS requires a certificate and its private key
          otlp: {tls: {client-ca-file: /x}}   | otlp.tls.certificate-file = : TLS requires a certificate and its private key
          otlp: {tls: {certificate-file: /none, private-key-file: /none}} | otlp.tls.certificate-file = /none: cannot be read
          otlp: {max-client-bytes-in-flight: 1024} | otlp.max-client-bytes-in-flight = 1024: must be at least otlp.max-request-bytes
          otlp: {token: a b}                  | otlp.token = : it must consist of letters
          otlp: {token: a, token-file: /none} | otlp.token-file = /none: must be absent if token is configured
          otlp: {token: a}                    | otlp.host = 0.0.0.0: senders would send their tokens in clear text
          otlp: {host: 192.0.2.7, token: a}   | otlp.host = 192.0.2.7: senders would send their tokens in clear text
          telemetry: {token: a}               | telemetry.host = 0.0.0.0: clients would send their tokens in clear text
          telemetry: {tls: {private-key-file: /x}} | telemetry.tls.certificate-file = : TLS requires a certificate and its private key: set both, or no key of tls.*
          telemetry: {token-file: /none}      | telemetry.token-file = /none: cannot be read
          spool: {when-full: wait}           | spool.when-full = wait: must be refuse or drop-oldest
          spool: {flush: never}              | spool.flush = never: must be os or commit
          spool: {max-batches: 1000}         | spool.max-batches = 1000: must be a whole number from 16384 to 16777216
          spool: {max-bytes: 1024}           | spool.max-bytes = 1024: must be a whole number from 8388608 to 68719476736
          routing: {spread: wide}             | routing.spread = wide: must be series or random
          routing: {applications: {a: {queues: 0}}} | routing.applications.a.queues = 0: must be a whole number
          routing: {applications: {a: {q: 1}}} | routing.applications.a.q: no such key; known are queues, spread
          routing: {file: /none.yaml}        | routing.file = /none.yaml: does not exist
          routing: {applications: 3}          | routing.applications = 3: must be sections by name
          rocketmq: {bundles: yes}           | rocketmq.bundles = yes: must be off or auto
          rocketmq: {linger-millis: 10001}    | rocketmq.linger-millis = 10001: must be a whole number from 0 to 10000
          rocketmq: {edges-topic: 'a b'}      | rocketmq.edges-topic = a b: must be 1 to 127
          rocketmq: {edges-topic: ''}         | rocketmq.edges-topic = : must be text; if the key is absent, it is trace-edges
          rocketmq: {edges-topic: trace-spans} | rocketmq.edges-topic = trace-spans: must differ from rocketmq.topic
          edges: {default: on}                | edges.default = on: must be off or auto
          edges: {enabled: true}              | edges.enabled: no such key; known are default, applications
          edges: auto                         | edges = auto: must be a section of keys
          edges: {applications: 3}            | edges.applications = 3: must be a list of rules
          edges: {applications: [a]}          | edges.applications = a: must be a rule: a section of keys
          edges: {applications: [{application: a}]} | edges.applications.edges: is missing in the rule that begins here
          edges: {applications: [{edges: off}]} | edges.applications.application: is missing in the rule that begins here
          edges: {applications: [{application: a, edges: full}]} | edges.applications.edges = full: must be off or auto
          edges: {applications: [{application: '', edges: off}]} | edges.applications.application = : must be a name or a pattern of 1 to 1024 bytes
          edges: {applications: [{application: a, detail: full}]} | edges.applications.detail: no such key; known are application, edges
          detail: {default: half}             | detail.default = half: must be full or demand
          detail: {applications: 3}           | detail.applications = 3: must be a list of rules
          detail: {applications: [a]}         | detail.applications = a: must be a rule: a section of keys
          detail: {applications: [{application: a}]} | detail.applications.detail: is missing in the rule that begins here
          detail: {applications: [{detail: full}]} | detail.applications.application: is missing in the rule that begins here
          detail: {applications: [{application: a, detail: some}]} | detail.applications.detail = some: must be full or demand
          detail: {applications: [{application: '', detail: full}]} | detail.applications.application = : must be a name or a pattern of 1 to 1024 bytes
          detail: {applications: [{application: *a, detail: full}]} | detail.applications.application = *a: must be a name or a pattern of 1 to 1024 bytes; quote a value that begins with *
          detail: {applications: [{application: a, details: full}]} | detail.applications.details: no such key; known are application, detail
          detail: {applications: {a: full}}   | detail.applications.a: no such key; known are default, applications
          forward: {buffer-bytes: 1024}       | forward.buffer-bytes = 1024: must be a whole number from 16777216 to 68719476736
          forward: {keep: a}                  | forward.keep = a: must be a section of keys
          forward: {keep: {wait-millis: 999}} | forward.keep.wait-millis = 999: must be a whole number from 1000 to 120000
          forward: {keep: {ratio: 1.1}}       | forward.keep.ratio = 1.1: must be 0 or a number from 0.000001 to 1
          forward: {keep: {slow-millis: -1}}  | forward.keep.slow-millis = -1: must be a whole number from 0 to 86400000
          {forward: {keep: {enabled: true, buffer-bytes: 16777216}, endpoints: [{name: a, url: 'http://x'}]}} | forward.keep.buffer-bytes = 16777216: must be at least twice otlp.max-request-bytes = 16777216
          forward: {endpoints: a}             | forward.endpoints = : must be a list of endpoints, each a section of keys
          forward: {endpoints: [a]}           | forward.endpoints = : must be a list of endpoints, each a section of keys
          forward: {endpoints: [{url: 'http://x'}]} | forward.endpoints.name = : must be 1 to 32 lower-case letters
          forward: {endpoints: [{name: A, url: 'http://x'}]} | forward.endpoints.name = A: must be 1 to 32 lower-case letters
          forward: {endpoints: [{name: a}]}   | forward.endpoints.url = : must be http://host:port or https://host:port
          forward: {endpoints: [{name: a, url: 'ftp://x'}]} | forward.endpoints.url = : must be http://host:port or https://host:port
          forward: {endpoints: [{name: a, url: 'http://x?key=1'}]} | forward.endpoints.url = : must be http://host:port or https://host:port
          forward: {endpoints: [{name: a, url: 'http://u:p@x'}]} | forward.endpoints.url = : must not contain a user
          forward: {endpoints: [{name: a, url: 'http://localhost:4318'}]} | forward.endpoints.url = http://localhost:4318: must not be this agent's own OTLP port
          forward: {endpoints: [{name: a, url: 'http://[::1]:4318/x'}]} | forward.endpoints.url = http://[::1]:4318: must not be this agent's own OTLP port
          forward: {endpoints: [{name: a, url: 'http://127.0.0.9:4317'}]} | forward.endpoints.url = http://127.0.0.9:4317: must not be this agent's own OTLP port
          forward: {endpoints: [{name: a, url: 'http://x'}, {name: a, url: 'http://y'}]} | forward.endpoints.name = a: must be different for each endpoint
          forward: {endpoints: [{name: a, url: 'http://x', compression: zstd}]} | forward.endpoints.compression = zstd: must be gzip or none
          forward: {endpoints: [{name: a, url: 'http://x', timeout-millis: 1}]} | forward.endpoints.timeout-millis = 1: must be a whole number from 100 to 600000
          forward: {endpoints: [{name: a, url: 'http://x', headers: [b]}]} | forward.endpoints.headers = : must be a section of names and values
          forward: {endpoints: [{name: a, url: 'http://x', headers: {Host: b}}]} | forward.endpoints.headers.Host = : must be a header that the agent does not set
          forward: {endpoints: [{name: a, url: 'http://x', headers: {a: "b\\nc"}}]} | forward.endpoints.headers.a = : must be a header that the agent does not set
          forward: {endpoints: [{name: a, url: 'http://x', headers-file: /none}]} | forward.endpoints.headers-file = /none: does not exist
          forward: {endpoints: [{name: a, url: 'http://x', token-file: /none}]} | forward.endpoints.token-file = /none: does not exist
          forward: {endpoints: [{name: a, url: 'http://x', ca-file: /none}]} | forward.endpoints.ca-file = /none: requires a url with https
          forward: {endpoints: [{name: a, url: 'https://x', ca-file: /none}]} | forward.endpoints.ca-file = /none: cannot be read
          forward: {endpoints: [{name: a, url: 'http://x', tokenfile: /x}]} | forward.endpoints.tokenfile: no such key; known are name, url
          {forward: {buffer-bytes: 16777216, endpoints: [{name: a, url: 'http://x'}]}} | forward.buffer-bytes = 16777216: must be at least twice otlp.max-request-bytes = 16777216
          files: {paths: ['/log/[a/x.log']}   | files.paths = /log/[a/x.log: must be a glob: [a: Missing
          files: {paths: ['/log/{a/b,c}/x']}  | files.paths = /log/{a/b,c}/x: must be a glob: {a: Missing
          files: {paths: ["/log/\\0"]}         | files.paths = /log/\0: must be a path: Nul
          otlp.grpcport: 1                    | otlp.grpcport: no such key; known are enabled
          kubernetes: {enabled: 1}            | kubernetes.enabled = 1: must be true or false
          kubernetes: {url: 'http://x'}       | kubernetes.url = http://x: must be https://host or https://host:port, without a path
          kubernetes: {url: 'https://x:0'}    | kubernetes.url = https://x:0: must be https://host
          kubernetes: {url: 'https://x:65536'} | kubernetes.url = https://x:65536: must be https://host
          kubernetes: {url: 'https://a@x'}    | kubernetes.url = https://a@x: must be https://host
          kubernetes: {url: 'https://x/api'}  | kubernetes.url = https://x/api: must be https://host
          kubernetes: {url: ['https://x']}    | kubernetes.url = a list: must be https://host
          kubernetes: {enabled: true}         | kubernetes.node-name = : must be the name of this agent's node
          {kubernetes: {enabled: true, node-name: 'a,spec.nodeName=b'}} | kubernetes.node-name = a,spec.nodeName=b: must be the name of this agent's node
          {kubernetes: {enabled: true, token-file: /none}} | kubernetes.token-file = /none: cannot be read
          {kubernetes: {enabled: true, ca-file: /none}} | kubernetes.ca-file = /none: cannot be read
          kubernetes: {node: a}               | kubernetes.node: no such key; known are enabled, node-name, url, token-file, ca-file
          nonsense: {x: 1}                    | nonsense.x: no such key; known are state-directory
          otlp: [                             | the configuration file: line 1: not YAML
          just text                           | the configuration file: line 1: contains no keys
          """)
  void problemNamesKeyValueAndWhatIsAllowed(String yaml, String problem) {
    ConfigException failure =
        catchThrowableOfType(ConfigException.class, () -> ConfigReader.read(yaml, Map.of()));

    assertThat(failure.problems()).anySatisfy(text -> assertThat(text).startsWith(problem));
  }

  @Test
  void endpointsOfForwardingHaveDefaultsAndTheirSecretsAreMasked(@TempDir Path directory)
      throws IOException {
    Path token = Files.writeString(directory.resolve("token"), "from-the-file\n");
    String yaml =
        """
        forward:
          buffer-bytes: 67108864
          endpoints:
            - {name: tempo, url: "http://tempo:4318"}
            - name: vendor
              url: https://vendor.example/otlp/traces
              compression: none
              headers: {X-Scope: hunter2}
              token-file: %s
              timeout-millis: 5000
        """
            .formatted(token);
    ConfigReader reader = ConfigReader.read(yaml, Map.of());
    ForwardConfig forward = reader.config().forward();

    assertThat(forward.bufferBytes()).isEqualTo(64 << 20);
    assertThat(forward.endpoints())
        .containsExactly(
            Endpoint.of("tempo", URI.create("http://tempo:4318/v1/traces")),
            new Endpoint(
                "vendor",
                URI.create("https://vendor.example/otlp/traces"),
                ForwardConfig.Compression.NONE,
                Map.of("X-Scope", new Secret("hunter2")),
                Optional.empty(),
                Optional.of(token),
                Optional.empty(),
                5_000));
    assertThat(forward.endpoints().get(1).readHeaders())
        .isEqualTo(Map.of("X-Scope", "hunter2", "Authorization", "Bearer from-the-file"));
    assertThat(reader.effective())
        .contains("name=vendor", "url=https://vendor.example", "X-Scope=***")
        .doesNotContain("hunter2", "from-the-file", "/otlp/traces");
    ConfigReader changed = ConfigReader.read(yaml.replace("hunter2", "hunter3"), Map.of());
    assertThat(changed.values().get("forward.endpoints"))
        .isNotEqualTo(reader.values().get("forward.endpoints"))
        .hasToString(reader.values().get("forward.endpoints").toString());
    Map<String, String> variables =
        Map.of("TRACE_ETL_AGENT_FORWARD_ENDPOINTS", "[{name: a, url: 'http://x:1'}]");
    assertThat(ConfigReader.read("", variables).config().forward().endpoints())
        .containsExactly(Endpoint.of("a", URI.create("http://x:1/v1/traces")));
  }

  @Test
  void problemsOfForwardingRevealNoSecret(@TempDir Path directory) throws IOException {
    Path headers = Files.writeString(directory.resolve("headers"), "Authorization hunter2\n");
    Path token = Files.writeString(directory.resolve("token"), "hunter2\nhunter3\n");
    for (String endpoint :
        List.of(
            "headers-file: " + headers,
            "token-file: " + token,
            "headers: hunter2",
            "headers: {Authorization: [hunter2]}",
            "headers: {Authorization: \"hunter2\\n\"}",
            "url: 'http://x/hunter2?hunter2'")) {
      ConfigException failure =
          catchThrowableOfType(
              ConfigException.class,
              () ->
                  ConfigReader.read(
                      "forward: {endpoints: [{name: a, " + endpoint + "}]}", Map.of()));
      assertThat(failure.problems()).isNotEmpty();
      assertThat(failure).hasMessageNotContaining("hunter");
    }
    Files.writeString(headers, "Authorization: Bearer x\nauthorization: Bearer y\n");
    String twice =
        "forward: {endpoints: [{name: a, url: 'http://x', headers-file: " + headers + "}]}";
    assertThat(
            catchThrowableOfType(ConfigException.class, () -> ConfigReader.read(twice, Map.of())))
        .hasMessageContaining("authorization is configured twice");
  }

  @Test
  void problemInRoutingFileNamesItsLine(@TempDir Path directory) throws IOException {
    Path file =
        Files.writeString(
            directory.resolve("routing.yaml"), "spread: series\nqueues-per-application: 0\n");

    ConfigException failure =
        catchThrowableOfType(
            ConfigException.class,
            () -> ConfigReader.read("", Map.of("TRACE_ETL_AGENT_ROUTING_FILE", file.toString())));

    assertThat(failure.problems())
        .containsExactly(
            "routing.file = "
                + file
                + ": line 2: queues-per-application = 0: must be a whole number from 1 to 1024");
  }

  @Test
  void detailHasADefaultAndRulesInTheirOrder() {
    String yaml =
        """
        detail:
          default: demand
          applications:
            - {application: checkout, detail: full}
            - {application: "batch-*", detail: demand}
        """;
    ConfigReader reader = ConfigReader.read(yaml, Map.of());
    DetailConfig detail =
        new DetailConfig(
            Detail.DEMAND,
            List.of(
                new DetailConfig.Rule("checkout", Detail.FULL),
                new DetailConfig.Rule("batch-*", Detail.DEMAND)),
            1.0 / 128);

    assertThat(reader.config().detail()).isEqualTo(detail);
    assertThat(reader.effective()).contains("detail.default: demand\n", "detail.applications: [");
    assertThat(detailOf("detail.applications", yaml))
        .isNotEqualTo(detailOf("detail.applications", yaml.replace("checkout", "cart")));
    Map<String, String> variables =
        Map.of(
            "TRACE_ETL_AGENT_DETAIL_DEFAULT", "demand",
            "TRACE_ETL_AGENT_DETAIL_APPLICATIONS",
                "[{application: checkout, detail: full}, {application: batch-*, detail: demand}]");
    assertThat(ConfigReader.read("", variables).config().detail()).isEqualTo(detail);
  }

  @Test
  void ratioOfTheSampleIsZeroOrANumberUpToOne() {
    String key = "detail:\n  sample-ratio: ";
    for (String ratio : List.of("0", "0.000001", "0.5", "1")) {
      assertThat(ConfigReader.read(key + ratio, Map.of()).config().detail().sampleRatio())
          .isEqualTo(Double.parseDouble(ratio));
    }
    for (String ratio : List.of("-0.1", "1.1", "1e-7", "half")) {
      ConfigException failure =
          catchThrowableOfType(
              ConfigException.class, () -> ConfigReader.read(key + ratio, Map.of()));
      assertThat(failure.problems())
          .singleElement()
          .asString()
          .contains("detail.sample-ratio", "must be 0 or a number from 0.000001 to 1");
    }
  }

  private static Object detailOf(String key, String yaml) {
    return ConfigReader.read(yaml, Map.of()).values().get(key);
  }

  @Test
  void edgesHaveADefaultAndRulesInTheirOrder() {
    String yaml =
        """
        edges:
          default: off
          applications:
            - {application: checkout, edges: auto}
            - {application: "batch-*", edges: off}
        """;
    ConfigReader reader = ConfigReader.read(yaml, Map.of());
    EdgesConfig edges =
        new EdgesConfig(
            Edges.OFF,
            List.of(
                new EdgesConfig.Rule("checkout", Edges.AUTO),
                new EdgesConfig.Rule("batch-*", Edges.OFF)));

    assertThat(reader.config().edges()).isEqualTo(edges);
    assertThat(reader.effective()).contains("edges.default: off\n", "edges.applications: [");
    Map<String, String> variables =
        Map.of(
            "TRACE_ETL_AGENT_EDGES_DEFAULT", "off",
            "TRACE_ETL_AGENT_EDGES_APPLICATIONS",
                "[{application: checkout, edges: auto}, {application: batch-*, edges: off}]");
    assertThat(ConfigReader.read("", variables).config().edges()).isEqualTo(edges);
    assertThat(ConfigReader.read("", Map.of()).config().edges())
        .isEqualTo(new EdgesConfig(Edges.AUTO, List.of()));
  }

  @Test
  void edgesAreSentIfAnyRuleSendsThem() {
    EdgesConfig.Rule off = new EdgesConfig.Rule("a", Edges.OFF);
    EdgesConfig.Rule auto = new EdgesConfig.Rule("b", Edges.AUTO);

    assertThat(EdgesConfig.defaults().sendsAny()).isTrue();
    assertThat(new EdgesConfig(Edges.OFF, List.of(off)).sendsAny()).isFalse();
    assertThat(new EdgesConfig(Edges.OFF, List.of(off, auto)).sendsAny()).isTrue();
    assertThat(new EdgesConfig(Edges.AUTO, List.of(off)).sendsAny()).isTrue();
  }

  @Test
  void tooManyRulesOfEdgesAreRefused() {
    String rules = "edges: {applications: [" + "{application: a, edges: off},".repeat(1_000);
    assertThat(ConfigReader.read(rules + "]}", Map.of()).config().edges().applications())
        .hasSize(1_000);
    ConfigException failure =
        catchThrowableOfType(
            ConfigException.class,
            () -> ConfigReader.read(rules + "{application: a, edges: off}]}", Map.of()));

    assertThat(failure.problems())
        .containsExactly("edges.applications = 1001 rules: must be at most 1000: use patterns");
  }

  @Test
  void halfEdgesHaveATopicOfTheirOwn() {
    assertThat(ConfigReader.read("", Map.of()).config().rocketmq().edgesTopic())
        .isEqualTo("trace-edges");
    PublishConfig rocketmq =
        ConfigReader.read("rocketmq: {topic: s, edges-topic: halves_2}", Map.of())
            .config()
            .rocketmq();
    assertThat(rocketmq.topic()).isEqualTo("s");
    assertThat(rocketmq.edgesTopic()).isEqualTo("halves_2");
  }

  @Test
  void detailUsesTheDemandIfAnyRuleDoes() {
    DetailConfig.Rule full = new DetailConfig.Rule("a", Detail.FULL);
    DetailConfig.Rule demand = new DetailConfig.Rule("b", Detail.DEMAND);

    assertThat(DetailConfig.defaults().usesDemand()).isTrue();
    assertThat(new DetailConfig(Detail.FULL, List.of(full)).usesDemand()).isFalse();
    assertThat(new DetailConfig(Detail.FULL, List.of(full, demand)).usesDemand()).isTrue();
    assertThat(new DetailConfig(Detail.DEMAND, List.of(full)).usesDemand()).isTrue();
  }

  @Test
  void problemInARuleOfDetailNamesItsFileAndLine() {
    String yaml = "detail:\n  applications:\n    - application: a\n      detail: some\n    - {}\n";
    ConfigException failure =
        catchThrowableOfType(
            ConfigException.class, () -> ConfigReader.read("agent.yaml", yaml, Map.of()));

    assertThat(failure.problems())
        .contains(
            "detail.applications.detail = some: must be full or demand; agent.yaml:4",
            "detail.applications.application: is missing in the rule that begins here;"
                + " agent.yaml:5");
  }

  @Test
  void tooManyRulesOfDetailAreRefused() {
    String yaml =
        "detail: {applications: [" + "{application: a, detail: full},".repeat(1_001) + "]}";
    ConfigException failure =
        catchThrowableOfType(ConfigException.class, () -> ConfigReader.read(yaml, Map.of()));

    assertThat(failure.problems())
        .containsExactly("detail.applications = 1001 rules: must be at most 1000: use patterns");
  }

  @Test
  void allProblemsAreReportedTogether() {
    ConfigException failure =
        catchThrowableOfType(
            ConfigException.class,
            () ->
                ConfigReader.read(
                    "{otlp: {grpc-port: -1}, telemetry: {port: -1}}",
                    Map.of("TRACE_ETL_AGENT_OTLP_PORT", "1")));

    assertThat(failure.problems()).hasSize(3);
  }

  @Test
  void secretsAreReadFromFilesAndNeverShown(@TempDir Path directory)
      throws IOException, ConfigException {
    Path secret = Files.writeString(directory.resolve("secret"), "hunter2\n");
    Map<String, String> environment =
        Map.of(
            "TRACE_ETL_AGENT_ROCKETMQ_ACCESS_KEY",
            "letmein",
            "TRACE_ETL_AGENT_ROCKETMQ_SECRET_KEY_FILE",
            secret.toString());

    ConfigReader reader = ConfigReader.read("", environment);

    assertThat(reader.config().rocketmq().accessKey()).isEqualTo("letmein");
    assertThat(reader.config().rocketmq().secretKey()).isEqualTo("hunter2");
    assertThat(reader.effective() + reader.config()).doesNotContain("letmein", "hunter2");
  }

  @Test
  void emptySecretFileIsRefused(@TempDir Path directory) throws IOException {
    Path secret = Files.writeString(directory.resolve("secret"), "\n");
    String yaml = "rocketmq: {access-key: k, secret-key-file: " + secret + "}";

    ConfigException failure =
        catchThrowableOfType(ConfigException.class, () -> ConfigReader.read(yaml, Map.of()));

    assertThat(failure.problems())
        .first()
        .asString()
        .startsWith(
            "rocketmq.secret-key-file = " + secret + ": must be a file that contains the value of");
  }

  @Test
  void sectionsAndKeysWithoutValuesHaveTheirDefaults() {
    assertThat(ConfigReader.read("otlp:\nfiles: {poll-interval-millis: }\n", Map.of()).config())
        .isEqualTo(ConfigReader.read("", Map.of()).config());
  }

  @ParameterizedTest
  @CsvSource({
    "OTLP_TOKEN, ''",
    "OTLP_TOKEN, ' '",
    "OTLP_TOKEN, null",
    "OTLP_TOKEN_FILE, ''",
    "OTLP_TOKEN_FILE, null",
    "TELEMETRY_TOKEN, ''",
    "TELEMETRY_TOKEN_FILE, ''"
  })
  void emptyVariableForTokensIsRefused(String name, String value) {
    String variable = "TRACE_ETL_AGENT_" + name;
    ConfigException failure =
        catchThrowableOfType(
            ConfigException.class, () -> ConfigReader.read("", Map.of(variable, value)));

    assertThat(failure.problems()).singleElement().asString().startsWith(variable + ": is set but");
  }

  @Test
  void variableThatYamlTakesForACommentIsText() throws ConfigException {
    Map<String, String> variables =
        Map.of(
            "TRACE_ETL_AGENT_ROCKETMQ_ACCESS_KEY", "agent",
            "TRACE_ETL_AGENT_ROCKETMQ_SECRET_KEY", "#hush");

    assertThat(ConfigReader.read("", variables).config().rocketmq().secretKey()).isEqualTo("#hush");
  }

  @Test
  void emptyTokenInTheFileIsNone() throws ConfigException {
    assertThat(ConfigReader.read("otlp: {token: ''}", Map.of()).config().otlp().tokens().isNone())
        .isTrue();
  }

  @Test
  void changedSecretIsDetectedAndNotShown() throws ConfigException {
    Map<String, Object> one = values("otlp: {host: 127.0.0.1, token: one}");

    assertThat(one).isEqualTo(values("otlp: {host: 127.0.0.1, token: one}"));
    assertThat(one).isNotEqualTo(values("otlp: {host: 127.0.0.1, token: two}"));
    assertThat(one.toString()).contains("otlp.token=***").doesNotContain("one,");
  }

  private static Map<String, Object> values(String yaml) throws ConfigException {
    return ConfigReader.read(yaml, Map.of()).values();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "otlp: {host: 127.0.0.1, token: a}",
        "otlp: {host: localhost, token: a}",
        "otlp: {host: '::1', token: a}",
        "otlp: {enabled: false, token: a}",
        "otlp: {token: a, allow-clear-text-token: true}",
        "telemetry: {host: 127.0.0.1, token: a}",
        "telemetry: {enabled: false, token: a}",
        "telemetry: {token: a, allow-clear-text-token: true}",
        "{otlp: {token: ''}, telemetry: {token: ''}}",
      })
  void clearTextTokenNeedsLoopbackOrPermission(String yaml) throws ConfigException {
    assertThat(values(yaml)).isNotEmpty();
  }

  @Test
  void secretUnderMistypedKeyIsNotShown() {
    ConfigException failure =
        catchThrowableOfType(
            ConfigException.class,
            () -> ConfigReader.read("rocketmq: {secretkey: hunter2}", Map.of()));

    assertThat(failure.getMessage()).contains("rocketmq.secretkey").doesNotContain("hunter2");
  }

  @Test
  void effectiveConfigurationContainsTheValues() throws ConfigException {
    ConfigReader reader =
        ConfigReader.read("{otlp: {grpc-port: 0}, files: {paths: [/a/*.log]}}", Map.of());

    assertThat(reader.effective()).contains("otlp.grpc-port: 0\n", "files.paths: [/a/*.log]\n");
  }
}
