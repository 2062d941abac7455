package org.traceetl.agent.source.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.netty.shaded.io.netty.bootstrap.ServerBootstrap;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandler.Sharable;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.traceetl.agent.config.OtlpLimits;
import org.traceetl.agent.http.NettyTransport;
import org.traceetl.agent.source.otlp.Clients.Client;
import org.traceetl.agent.source.otlp.OtlpMetrics.ConnectionRefusal;

@Timeout(60)
class ConnectionGateTest {
  private final OtlpMetrics metrics = new OtlpMetrics();

  @ParameterizedTest
  @EnumSource(NettyTransport.class)
  void acknowledgingAtOnceIsSetAgainAfterEachRead(NettyTransport transport) throws Exception {
    ConnectionGate gate = gate(transport, 10);
    Echo echo = new Echo(transport);
    try (Listening listening = new Listening(transport, gate, echo);
        Socket socket = listening.connect()) {
      for (int i = 0; i < 3; i++) {
        socket.getOutputStream().write(i);
        assertThat(socket.getInputStream().read()).isEqualTo(i);
        // The echo has cleared the option, as the kernel may; the next read sets it again.
        Channel accepted = gate.connections().iterator().next();
        await().until(() -> accepted.config().getOption(transport.quickAck()));
      }
      assertThat(echo.seen).containsOnly(true);
    }
  }

  @ParameterizedTest
  @EnumSource(NettyTransport.class)
  void connectionsAboveTheLimitAreClosedAndCounted(NettyTransport transport) throws Exception {
    ConnectionGate gate = gate(transport, 1);
    try (Listening listening = new Listening(transport, gate, new Echo(transport))) {
      try (Socket first = listening.connect()) {
        first.getOutputStream().write(1);
        assertThat(first.getInputStream().read()).isEqualTo(1);
        try (Socket second = listening.connect()) {
          assertThat(readOrReset(second)).isEqualTo(-1);
        }
        assertThat(metrics.connectionsRefused(ConnectionRefusal.ALL)).isEqualTo(1);
      }
      await().until(() -> gate.connections().isEmpty());
      try (Socket third = listening.connect()) {
        third.getOutputStream().write(3);
        assertThat(third.getInputStream().read()).isEqualTo(3);
      }
    }
  }

  @Test
  void connectionsThatComeAtOnceDoNotRefuseEachOther() throws Exception {
    Clients clients = new Clients(new OtlpLimits(10, 1, 0, 30_000), 1 << 20, 1 << 10, metrics);
    CyclicBarrier atOnce = new CyclicBarrier(2);
    Callable<List<Boolean>> connecting =
        () -> {
          List<Boolean> taken = new ArrayList<>();
          for (int i = 0; i < 5_000; i++) {
            EmbeddedChannel connection = new EmbeddedChannel();
            atOnce.await();
            taken.add(clients.connect(connection));
            atOnce.await();
            connection.close();
          }
          return taken;
        };
    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      Future<List<Boolean>> one = threads.submit(connecting);
      Future<List<Boolean>> other = threads.submit(connecting);
      for (int i = 0; i < one.get().size(); i++) {
        assertThat(one.get().get(i)).isNotEqualTo(other.get().get(i));
      }
    }
    assertThat(clients.size()).isZero();
  }

  /** Reads may end anywhere: each adds a piece that counts for more than its bytes. */
  @Test
  void theLargestRequestFitsTheShareHoweverItIsSplit() {
    int largest = 1 << 24;
    Clients clients =
        new Clients(new OtlpLimits(10, 10, largest, 30_000), 2L * largest, largest, metrics);
    Client client = clients.of(new InetSocketAddress("127.0.0.1", 1));
    int left = largest;
    while (left > 0) {
      for (int piece : new int[] {8_192, 1}) {
        int bytes = Math.min(left, piece);
        assertThat(client.take(ReadBudget.charge(bytes))).isTrue();
        left -= bytes;
      }
    }
    assertThat(client.take(largest)).isFalse();
  }

  private ConnectionGate gate(NettyTransport transport, int maxConnections) {
    OtlpLimits limits = new OtlpLimits(maxConnections, maxConnections, 0, 30_000);
    return new ConnectionGate(
        new Clients(limits, 1 << 20, 1 << 10, metrics),
        transport.quickAck(),
        metrics,
        System::nanoTime);
  }

  private static int readOrReset(Socket socket) {
    try {
      return socket.getInputStream().read();
    } catch (IOException reset) {
      return -1;
    }
  }

  /** Clears the option at each read, and records whether it was set. */
  @Sharable
  private static final class Echo extends ChannelInboundHandlerAdapter {
    private final NettyTransport transport;
    private final List<Boolean> seen = new CopyOnWriteArrayList<>();

    Echo(NettyTransport transport) {
      this.transport = transport;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      seen.add(context.channel().config().getOption(transport.quickAck()));
      context.channel().config().setOption(transport.quickAck(), false);
      context.writeAndFlush(message);
    }
  }

  private static final class Listening implements AutoCloseable {
    private final EventLoopGroup eventLoops;
    private final Channel channel;

    Listening(NettyTransport transport, ConnectionGate gate, Echo echo) {
      eventLoops = transport.eventLoops("otlp-io", 1);
      channel =
          new ServerBootstrap()
              .group(eventLoops)
              .channelFactory(gate.guarding(transport.serverChannels()))
              .childHandler(echo)
              .bind(InetAddress.getLoopbackAddress(), 0)
              .syncUninterruptibly()
              .channel();
    }

    Socket connect() throws IOException {
      InetSocketAddress address = (InetSocketAddress) channel.localAddress();
      return new Socket(address.getAddress(), address.getPort());
    }

    @Override
    public void close() {
      channel.close().syncUninterruptibly();
      eventLoops.shutdownGracefully(0, 1, java.util.concurrent.TimeUnit.SECONDS);
    }
  }
}
