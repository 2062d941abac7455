package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.traceetl.proto.thrift.ozhera.TKind;
import org.traceetl.proto.thrift.ozhera.TStatus;
import org.traceetl.server.window.SealedWindow;

/**
 * Series of profile ozhera against a slow model, written from what OzHera's service does with one
 * span at a time: fields that attributes set in their order, and a label for each.
 */
class OzheraModelTest {
  private static final String[] TEXTS = {"", "a", "GET", "a b", "true", "x?y", "表".repeat(101)};
  private static final String[][] ATTRIBUTES = {
    {"http.method", "GET", "POST"},
    {"http.status_code", "200", "404", ""},
    {"rpc.system", "dubbo", "grpc", "thrift", "redis", ""},
    {"rpc.method", "buy", "sell", ""},
    {"rpc.service", "com.Shop", ""},
    {"span.kind", "server", "client", "producer", "consumer", "internal", "SERVER", ""},
    {"db.system", "redis", "mysql", "mongodb", "oracle"},
    {
      "db.statement",
      "GET key",
      "HMGET ? ?",
      "? SET? x",
      " LPUSH a",
      "?",
      "select 1",
      "s".repeat(101)
    },
    {"net.peer.name", "cache", "db"},
    {"net.peer.ip", "10.0.0.1"},
    {"net.peer.port", "6379", ""},
    {"error", "true", "TRUE", "false", "1"},
    {"db.connection_string", "mysql://db:3306", ""},
    {"db.operation", "SELECT", ""},
    {"db.name", "shop", ""},
    {"messaging.system", "rocketmq", "kafka"},
    {"messaging.destination", "orders", ""},
    {"hera.annotations", "true", "True", "no"},
    {"thread.name", "main"},
  };
  private static final TStatus[] STATUSES = {TStatus.UNSET, TStatus.OK, TStatus.ERROR};
  private static final String[] KINDS = {
    "unspecified", "internal", "server", "client", "producer", "consumer"
  };

  private static final class Fields {
    private String type = "";
    private String method;
    private String kind;
    private String code = "";
    private String service = "";
    private String host = "";
    private String port = "";
    private String statement = "";
    private String dataSource = "";
    private String operation = "";
    private String database = "";
    private String topic = "";
    private Boolean success;
  }

  private static String of(
      String name, int kind, int status, long nanos, List<String[]> attributes) {
    if (name.isEmpty()) {
      return null;
    }
    Fields f = new Fields();
    f.method = name;
    f.kind = KINDS[kind];
    for (String[] attribute : attributes) {
      String value = attribute[1];
      switch (attribute[0]) {
        case "http.method" -> f.type = "aop";
        case "rpc.system", "db.system", "messaging.system" -> f.type = value;
        case "hera.annotations" ->
            f.type = Boolean.parseBoolean(value) ? "customizeMethod" : f.type;
        case "rpc.method" -> f.method = value;
        case "rpc.service" -> f.service = value;
        case "span.kind" -> f.kind = value;
        case "http.status_code" -> f.code = value;
        case "net.peer.name", "net.peer.ip" -> f.host = value;
        case "net.peer.port" -> f.port = value;
        case "error" ->
            f.success = (f.success == null || f.success) && !Boolean.parseBoolean(value);
        case "db.statement" -> f.statement = value;
        case "db.connection_string" -> f.dataSource = value;
        case "db.operation" -> f.operation = value;
        case "db.name" -> f.database = value;
        case "messaging.destination" -> f.topic = value;
        default -> {}
      }
    }
    boolean failed = f.success == null ? status == 2 : !f.success;
    String type =
        switch (f.type + " " + f.kind) {
          case "aop server" -> "HTTP_SERVER";
          case "aop client" -> "HTTP_CLIENT";
          case "dubbo server" -> "DUBBO_PROVIDER";
          case "dubbo client" -> "DUBBO_CONSUMER";
          case "grpc server" -> "GRPC_SERVER";
          case "grpc client" -> "GRPC_CLIENT";
          case "rocketmq producer" -> "ROCKETMQ_PRODUCER";
          case "rocketmq consumer" -> "ROCKETMQ_CONSUMER";
          default ->
              switch (f.type) {
                case "redis" -> "REDIS";
                case "mysql" -> "MYSQL";
                case "mongodb" -> "MONGODB";
                case "customizeMethod" -> "CUSTOM_METHOD";
                default -> null;
              };
        };
    if (type == null) {
      return null;
    }
    boolean slow = nanos / 1_000 / 1_000.0 > 1_000 && !type.equals("REDIS");
    String code = failed && type.startsWith("HTTP") ? f.code.isEmpty() ? "500" : f.code : "";
    String labels =
        switch (type) {
          case "REDIS" -> command(f.statement, name) + "|ip|%|" + f.host + "|" + f.port;
          case "MYSQL" ->
              f.operation + "|ip|%|" + f.dataSource + "/" + f.database + "|" + cut(f.statement);
          case "MONGODB" -> f.operation + "|ip|%|" + f.dataSource + "|" + cut(f.statement);
          case "ROCKETMQ_PRODUCER", "ROCKETMQ_CONSUMER" -> f.topic + "|ip|%||";
          case "HTTP_SERVER", "HTTP_CLIENT", "CUSTOM_METHOD" -> f.method + "|ip|%||";
          default -> f.method + "|ip|%|" + f.service + "|";
        };
    return type
        + (failed ? " FAILED " : slow ? " SLOW " : " FAST ")
        + labels.replace("%", "default_env|")
        + "|"
        + code;
  }

  private static String command(String statement, String name) {
    String first = statement.replace("?", "").trim().split(" ")[0];
    return cut(first.isEmpty() ? name : first);
  }

  private static String cut(String text) {
    return text.length() > 100 ? text.substring(0, 99) : text;
  }

  @Property(tries = 300)
  void seriesAreThoseOfTheModel(@ForAll long seed, @ForAll boolean isBatch) {
    Random random = new Random(seed);
    BatchMessage batch = new BatchMessage("shop").resource("ip", "ip");
    List<byte[]> messages = new ArrayList<>();
    Map<String, Integer> expected = new TreeMap<>();
    int received = 60;
    int filtered = 0;
    for (int i = 0; i < received; i++) {
      String name = TEXTS[random.nextInt(TEXTS.length)];
      int kind = random.nextInt(6);
      int status = random.nextInt(3);
      long nanos = random.nextLong(2_000_000_000L);
      List<String[]> attributes = attributes(random);
      batch.span(name, kind, status, nanos, 0);
      attributes.forEach(attribute -> batch.attribute(attribute[0], attribute[1]));
      messages.add(
          OzheraMessage.of(
              "shop",
              "ip",
              new String[0],
              name,
              TKind.findByValue(kind),
              STATUSES[status],
              nanos,
              attributes.stream().flatMap(Arrays::stream).toArray(String[]::new)));
      String line = of(name, kind, status, nanos, attributes);
      if (line == null) {
        filtered++;
      } else {
        expected.merge(line, 1, Integer::sum);
      }
    }
    SealedWindow window =
        isBatch
            ? OzheraSpansTest.window(batch.message(0))
            : OzheraSpansTest.window(messages.toArray(byte[][]::new));

    List<String> lines = new ArrayList<>();
    expected.forEach((line, spans) -> lines.add(line + " " + spans));
    assertThat(OzheraSpansTest.series(window)).containsExactlyInAnyOrderElementsOf(lines);
    assertThat(window.books().getFirst().received()).isEqualTo(received);
    assertThat(window.books().getFirst().filtered()).isEqualTo(filtered);
  }

  private static List<String[]> attributes(Random random) {
    Map<String, String> chosen = new LinkedHashMap<>();
    for (int i = random.nextInt(8); i > 0; i--) {
      String[] attribute = ATTRIBUTES[random.nextInt(ATTRIBUTES.length)];
      chosen.putIfAbsent(attribute[0], attribute[1 + random.nextInt(attribute.length - 1)]);
    }
    return chosen.entrySet().stream()
        .map(entry -> new String[] {entry.getKey(), entry.getValue()})
        .toList();
  }
}
