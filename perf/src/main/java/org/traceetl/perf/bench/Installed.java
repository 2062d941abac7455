package org.traceetl.perf.bench;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import picocli.CommandLine.Option;

/** The shipped programs and their RocketMQ; a group of arguments. */
public final class Installed extends Shipped {
  @Option(names = "--queues", description = "Queues of the topics (default: ${DEFAULT-VALUE}).")
  private int queues = 4;

  @Option(
      names = "--broker-conf",
      paramLabel = "FILE",
      description = "Settings of the broker (default: deploy/rocketmq/broker.conf if it exists).")
  private Path brokerConf;

  @Option(
      names = "--broker-setting",
      paramLabel = "KEY=VALUE",
      description = "A further setting of the broker.")
  private Map<String, String> brokerSettings = Map.of();

  @Option(
      names = "--no-bundles",
      description = "Lets agents send each batch in a message of its own.")
  private boolean noBundles;

  boolean bundles() {
    return !noBundles;
  }

  int queues() {
    return queues;
  }

  Map<String, Object> brokerSettings() {
    Map<String, Object> settings = new TreeMap<>();
    Path conf = brokerConf == null ? Path.of("deploy", "rocketmq", "broker.conf") : brokerConf;
    if (brokerConf != null || Files.exists(conf)) {
      Properties file = new Properties();
      try (Reader reader = Files.newBufferedReader(conf)) {
        file.load(reader);
      } catch (IOException e) {
        throw new UncheckedIOException("--broker-conf=" + conf + " cannot be read", e);
      }
      file.forEach((key, value) -> settings.put(key.toString(), value));
    }
    settings.putAll(brokerSettings);
    return settings;
  }
}
