package org.traceetl.agent.telemetry;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.grpc.netty.shaded.io.netty.bootstrap.ServerBootstrap;
import io.grpc.netty.shaded.io.netty.buffer.UnpooledByteBufAllocator;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelFuture;
import io.grpc.netty.shaded.io.netty.channel.ChannelFutureListener;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInitializer;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.SimpleChannelInboundHandler;
import io.grpc.netty.shaded.io.netty.handler.codec.http.FullHttpResponse;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpHeaderNames;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpMethod;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpObject;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpRequest;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpResponseStatus;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslProvider;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.exporter.common.TextFormat;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.traceetl.agent.config.TelemetryConfig;
import org.traceetl.agent.http.HttpSetup;
import org.traceetl.agent.http.NettyTransport;
import org.traceetl.agent.http.PortAccess;
import org.traceetl.agent.http.RotatingTls;

/**
 * Serves {@code /metrics}, {@code /health} and {@code /live}: one request per connection, which
 * closes after the answer or at a deadline. The only thread never waits, so no client can block
 * another or the shutdown.
 */
public final class TelemetryServer implements AutoCloseable {
  /** Limit of open connections; further ones are closed. */
  public static final int MAX_CONNECTIONS = 64;

  /** Deadline of a connection; longer than the default timeout of scrapers. */
  private static final int CONNECTION_MILLIS = 20_000;

  private final CollectorRegistry registry;
  private final Supplier<String> problem;
  private final PortAccess access;
  private final RotatingTls tls = new RotatingTls();
  private final int connectionMillis;
  private final EventLoopGroup eventLoop;
  private Channel listening;
  // Written by the event loop only.
  private volatile int connections;

  private TelemetryServer(
      TelemetryConfig config,
      CollectorRegistry registry,
      Supplier<String> problem,
      InstantSource wall,
      int connectionMillis)
      throws IOException {
    this.registry = registry;
    this.problem = problem;
    this.connectionMillis = connectionMillis;
    this.access =
        new PortAccess(
            config.tls(),
            config.tokens(),
            wall,
            // The JDK's TLS uses heap memory, which is freed with the connection.
            material ->
                tls.use(RotatingTls.builder(material).sslProvider(SslProvider.JDK).build()));
    this.eventLoop = NettyTransport.NIO.eventLoops("telemetry", 1);
  }

  /**
   * Opens the port.
   *
   * @param wall the clock that certificates are checked against
   * @param problem why the agent cannot work; empty if it can
   * @throws IOException if the port cannot be opened, or the certificate or tokens cannot be read
   */
  public static TelemetryServer start(
      TelemetryConfig config,
      CollectorRegistry registry,
      Supplier<String> problem,
      InstantSource wall)
      throws IOException {
    return start(config, registry, problem, wall, CONNECTION_MILLIS);
  }

  static TelemetryServer start(
      TelemetryConfig config,
      CollectorRegistry registry,
      Supplier<String> problem,
      InstantSource wall,
      int connectionMillis)
      throws IOException {
    TelemetryServer server = new TelemetryServer(config, registry, problem, wall, connectionMillis);
    server.listen(config);
    return server;
  }

  private void listen(TelemetryConfig config) throws IOException {
    ChannelFuture bound =
        new ServerBootstrap()
            .group(eventLoop)
            .channelFactory(NettyTransport.NIO.serverChannels())
            // Answers are rare, so no memory is pooled.
            .childOption(ChannelOption.ALLOCATOR, UnpooledByteBufAllocator.DEFAULT)
            .childHandler(new Connection())
            .bind(new InetSocketAddress(config.host(), config.port()))
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      close();
      throw NettyTransport.cannotListen(
          "telemetry.port", config.port(), config.host(), bound.cause());
    }
    listening = bound.channel();
  }

  private final class Connection extends ChannelInitializer<Channel> {
    @Override
    protected void initChannel(Channel channel) {
      if (connections == MAX_CONNECTIONS) {
        channel.close();
        return;
      }
      connections++;
      Future<?> deadline =
          channel.eventLoop().schedule(() -> cut(channel), connectionMillis, TimeUnit.MILLISECONDS);
      channel
          .closeFuture()
          .addListener(closed -> {
            connections--;
            deadline.cancel(false);
          });
      if (access.hasTls()) {
        channel.pipeline().addLast(tls.newHandler(channel.alloc()));
      }
      channel.pipeline().addLast(HttpSetup.codec()).addLast(new Exchange());
    }
  }

  /** Closes a connection without TLS's closing message, which could block. */
  private static void cut(Channel channel) {
    channel.pipeline().firstContext().close();
  }

  /** Answers the first request; later input is discarded. */
  private final class Exchange extends SimpleChannelInboundHandler<HttpObject> {
    private boolean answered;

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject part) throws IOException {
      if (part instanceof HttpRequest request && !answered) {
        answered = true;
        HttpSetup.write(context, answer(request), false).addListener(ChannelFutureListener.CLOSE);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      // A failed scrape gets no page.
      context.close();
    }
  }

  private FullHttpResponse answer(HttpRequest request) throws IOException {
    if (request.decoderResult().isFailure()) {
      return HttpSetup.text(
          HttpResponseStatus.BAD_REQUEST, "not HTTP/1.1, or the request head is too long");
    }
    if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
      return HttpSetup.text(HttpResponseStatus.METHOD_NOT_ALLOWED, "only GET is allowed");
    }
    return switch (HttpSetup.path(request.uri())) {
      case "/metrics" -> metrics(request);
      case "/health" -> health();
      // Always ok: if a thread fails, the agent exits by itself.
      case "/live" -> HttpSetup.text(HttpResponseStatus.OK, "ok");
      default ->
          HttpSetup.text(
              HttpResponseStatus.NOT_FOUND, "not found; available are /metrics, /health and /live");
    };
  }

  private FullHttpResponse metrics(HttpRequest request) throws IOException {
    if (!access.tokens().admit(request.headers().get(HttpHeaderNames.AUTHORIZATION))) {
      return HttpSetup.unauthorized();
    }
    String type = TextFormat.chooseContentType(request.headers().get(HttpHeaderNames.ACCEPT));
    ByteArrayOutputStream page = new ByteArrayOutputStream(8_192);
    try (OutputStreamWriter writer = new OutputStreamWriter(page, UTF_8)) {
      TextFormat.writeFormat(type, writer, registry.metricFamilySamples());
    }
    return HttpSetup.response(HttpResponseStatus.OK, type, page.toByteArray());
  }

  private FullHttpResponse health() {
    String what = problem.get();
    return what.isEmpty()
        ? HttpSetup.text(HttpResponseStatus.OK, "ok")
        : HttpSetup.text(HttpResponseStatus.SERVICE_UNAVAILABLE, what);
  }

  /** Returns the port's certificate and tokens. */
  public PortAccess access() {
    return access;
  }

  /** Returns the port in use. */
  public int port() {
    return ((InetSocketAddress) listening.localAddress()).getPort();
  }

  /** Returns the open connections, 0 to {@link #MAX_CONNECTIONS}. */
  int connections() {
    return connections;
  }

  @Override
  public void close() {
    // Closes the port and all connections, also those with unsent or unread data.
    eventLoop.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(4, TimeUnit.SECONDS);
  }
}
