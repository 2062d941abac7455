package org.traceetl.server.testing;

import com.github.dockerjava.api.model.ExposedPort;
import com.github.dockerjava.api.model.HostConfig;
import com.github.dockerjava.api.model.PortBinding;
import com.github.dockerjava.api.model.Ports;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.images.builder.Transferable;

/** Elasticsearch in a container of the official image. */
final class ElasticsearchContainer extends ElasticsearchServer {
  private static final int PORT = 9200;

  private final GenericContainer<?> container;
  private final String scheme;
  private final int port;

  /**
   * A container that is yet to be started.
   *
   * @param port of the host; a fixed one, because a started container's would change with {@link
   *     #startAgain}
   */
  @SuppressWarnings("resource") // close() does
  ElasticsearchContainer(
      String version, int port, Map<String, String> settings, Map<String, String> files) {
    this.scheme = scheme(settings);
    this.port = port;
    this.container =
        new GenericContainer<>(
                System.getProperty("elasticsearch.image", "elasticsearch:" + version))
            .withEnv(singleNode(settings))
            .withEnv("ES_JAVA_OPTS", "-Xms512m -Xmx512m")
            .withExposedPorts(PORT)
            .withCreateContainerCmdModifier(command ->
                Objects.requireNonNullElseGet(command.getHostConfig(), HostConfig::new)
                    .withPortBindings(
                        new PortBinding(Ports.Binding.bindPort(port), new ExposedPort(PORT))));
    files.forEach((name, text) ->
        container.withCopyToContainer(
            Transferable.of(text), "/usr/share/elasticsearch/config/" + name));
  }

  private boolean ended() {
    LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
    return !container.isRunning();
  }

  @Override
  public URI url() {
    return URI.create(scheme + "://" + container.getHost() + ":" + port);
  }

  @Override
  public void startAgain() throws InterruptedException {
    if (container.getContainerId() == null) {
      container.start();
    } else {
      container.getDockerClient().startContainerCmd(container.getContainerId()).exec();
    }
    if (!answers(this::ended)) {
      throw new IllegalStateException("Elasticsearch did not start: " + container.getLogs());
    }
  }

  @Override
  public void kill() {
    container.getDockerClient().killContainerCmd(container.getContainerId()).exec();
  }

  @Override
  public void close() {
    container.stop();
  }

  @Override
  public String toString() {
    return "a container of " + container.getDockerImageName();
  }
}
