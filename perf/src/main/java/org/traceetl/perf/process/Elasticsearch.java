package org.traceetl.perf.process;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Elasticsearch as a program: a single node without security that only this machine reaches. */
public final class Elasticsearch {
  private static final String NOBODY = "65534";

  private final Program program;
  private final URI uri;

  /**
   * Chooses ports and writes its configuration.
   *
   * @param unpacked the home of an unpacked Elasticsearch; is not written to
   * @param directory gets its files and log; all on the way there must be open to other users
   */
  public Elasticsearch(Path unpacked, Path directory, Ports ports)
      throws IOException, InterruptedException {
    int port = ports.next();
    uri = URI.create("http://127.0.0.1:" + port);
    Path home = Files.createDirectories(directory.resolve("elasticsearch"));
    for (String folder : List.of("config", "config/jvm.options.d", "data", "logs")) {
      Files.createDirectories(home.resolve(folder));
    }
    for (String file : List.of("jvm.options", "log4j2.properties")) {
      Files.copy(unpacked.resolve("config").resolve(file), home.resolve("config").resolve(file));
    }
    Files.writeString(
        home.resolve("config").resolve("elasticsearch.yml"),
        """
        network.host: 127.0.0.1
        http.port: %d
        transport.port: %d
        path.data: %s
        path.logs: %s
        discovery.type: single-node
        xpack.security.enabled: false
        cluster.routing.allocation.disk.threshold_enabled: false
        """
            .formatted(port, ports.next(), home.resolve("data"), home.resolve("logs")));
    List<String> command = new ArrayList<>();
    if ("root".equals(System.getProperty("user.name"))) {
      // It refuses to run as root.
      run(List.of("chown", "-R", NOBODY + ":" + NOBODY, home.toString()));
      command.addAll(
          List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"));
      command.addAll(List.of("--pdeathsig", "KILL"));
    }
    command.add(unpacked.resolve("bin").resolve("elasticsearch").toString());
    program =
        new Program(
            "elasticsearch",
            command,
            Map.of(
                "ES_PATH_CONF",
                home.resolve("config").toString(),
                "ES_JAVA_HOME",
                System.getProperty("java.home"),
                "ES_JAVA_OPTS",
                "-Xms512m -Xmx512m"),
            directory.resolve("elasticsearch.log"),
            uri.resolve("/_cluster/health?wait_for_status=yellow&timeout=1s"));
  }

  private static void run(List<String> command) throws IOException, InterruptedException {
    int status = new ProcessBuilder(command).inheritIO().start().waitFor();
    if (status != 0) {
      throw new IOException(String.join(" ", command) + " ended with " + status);
    }
  }

  public Program program() {
    return program;
  }

  public URI uri() {
    return uri;
  }
}
