package org.traceetl.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CanaryCommandTest {
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    return TraceEtlServer.run(
        new PrintWriter(new StringWriter()), new PrintWriter(err, true), arguments);
  }

  @ParameterizedTest
  @CsvSource({
    "'--servers=http://s:1', '--agent-http: required, unless --agent-grpc or --agent-ring is given'",
    "'--agent-http=http://a:1', '--servers: required, unless --server is given'",
    "'--agent-http=a:1 --server=http://s:1', '--agent-http = a:1: must be http://host:port'",
    "'--agent-grpc=http://a:1 --server=http://s:1 --deadline=1s', '--deadline = PT1S: must be'",
    "'--agent-grpc=http://a:1 --server=http://s:1 --interval=1', 'is not a time such as 500ms'",
    "'--agent-grpc=http://a:1 --server=http://s:1 --lost-after=1s', '--lost-after = PT1S'",
    "'--agent-grpc=http://a:1 --server=http://s:1 --metric=1', '--metric = 1: must be the name'",
    "'--agent-grpc=http://a:1 --server=http://s:1 --ca-file=/absent', '--ca-file = /absent: must be'",
    "'--agent-grpc=http://a:1 --server=http://s:1 --ca-file=pom.xml', '--ca-file = pom.xml: must be a PEM file'",
    "'--agent-grpc=http://a:1 --server=http://s:1 --port=-1', '--port = -1: must be 0 to 65535'",
  })
  void invalidOptionsAreRefused(String arguments, String message) {
    assertThat(run(("canary " + arguments).split(" "))).isEqualTo(2);
    assertThat(err.toString()).contains(message);
  }

  @Test
  void takenPortIsRefused() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int code =
          run(
              "canary",
              "--agent-http=http://127.0.0.1:1",
              "--server=http://127.0.0.1:1",
              "--address=127.0.0.1",
              "--port=" + taken.getLocalPort());
      assertThat(code).isEqualTo(1);
    }
    assertThat(err.toString()).contains("cannot be opened").contains("give a free port");
  }
}
