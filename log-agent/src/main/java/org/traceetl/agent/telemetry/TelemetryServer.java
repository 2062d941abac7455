package org.traceetl.agent.telemetry;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.grpc.netty.shaded.io.netty.bootstrap.ServerBootstrap;
import io.grpc.netty.shaded.io.netty.buffer.Unpooled;
import io.grpc.netty.shaded.io.netty.buffer.UnpooledByteBufAllocator;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelFuture;
import io.grpc.netty.shaded.io.netty.channel.ChannelFutureListener;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInitializer;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.SimpleChannelInboundHandler;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import io.grpc.netty.shaded.io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.grpc.netty.shaded.io.netty.handler.codec.http.FullHttpResponse;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpDecoderConfig;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpHeaderNames;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpHeaderValues;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpMethod;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpObject;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpRequest;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpResponseStatus;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpServerCodec;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpVersion;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import io.prometheus.client.CollectorRegistry;
import io.prometheus.client.exporter.common.TextFormat;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.traceetl.agent.access.BearerTokens;
import org.traceetl.agent.access.FewHeaders;
import org.traceetl.agent.config.TelemetryConfig;

/**
 * Serves {@code /metrics}, {@code /health} and {@code /live}: one request for each connection,
 * which ends with its answer, and at its deadline in any case. No client can keep the one thread
 * from another, nor from ending: it waits for nobody.
 */
public final class TelemetryServer implements AutoCloseable {
  /** A few scrapers and probes; further connections are closed. */
  public static final int MAX_CONNECTIONS = 64;

  private static final int MAX_LINE_BYTES = 1_024;
  private static final int MAX_HEAD_BYTES = 8 * 1_024;

  /** From the connection to the end of its answer: beyond what scrapers wait by default. */
  private static final int CONNECTION_MILLIS = 20_000;

  private final CollectorRegistry registry;
  private final Supplier<String> problem;
  private final BearerTokens tokens;
  private final Optional<TelemetryTls> tls;
  private final int connectionMillis;
  private final EventLoopGroup eventLoop =
      new MultiThreadIoEventLoopGroup(
          1, new DefaultThreadFactory("telemetry", true), NioIoHandler.newFactory());
  private Channel listening;
  // Written by the event loop only.
  private volatile int connections;

  private TelemetryServer(
      CollectorRegistry registry,
      Supplier<String> problem,
      BearerTokens tokens,
      Optional<TelemetryTls> tls,
      int connectionMillis) {
    this.registry = registry;
    this.problem = problem;
    this.tokens = tokens;
    this.tls = tls;
    this.connectionMillis = connectionMillis;
  }

  /**
   * Opens the port.
   *
   * @param problem what keeps the agent from its work, empty when nothing does
   * @throws IOException when the port, the certificate or the tokens cannot be had
   */
  public static TelemetryServer start(
      TelemetryConfig config, CollectorRegistry registry, Supplier<String> problem)
      throws IOException {
    return start(config, registry, problem, CONNECTION_MILLIS);
  }

  static TelemetryServer start(
      TelemetryConfig config,
      CollectorRegistry registry,
      Supplier<String> problem,
      int connectionMillis)
      throws IOException {
    BearerTokens tokens = new BearerTokens(config.tokens());
    Optional<TelemetryTls> tls =
        config.tls().isPresent()
            ? Optional.of(new TelemetryTls(config.tls().get(), InstantSource.system()))
            : Optional.empty();
    TelemetryServer server = new TelemetryServer(registry, problem, tokens, tls, connectionMillis);
    server.listen(config);
    return server;
  }

  private void listen(TelemetryConfig config) throws IOException {
    ChannelFuture bound =
        new ServerBootstrap()
            .group(eventLoop)
            .channel(NioServerSocketChannel.class)
            // Answers are few and far between: no memory is kept for them.
            .childOption(ChannelOption.ALLOCATOR, UnpooledByteBufAllocator.DEFAULT)
            .childHandler(new Connection())
            .bind(new InetSocketAddress(config.host(), config.port()))
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      close();
      throw new IOException(
          "telemetry.port = "
              + config.port()
              + ": cannot listen on "
              + config.host()
              + " ("
              + bound.cause().getMessage()
              + "): free the port or choose another",
          bound.cause());
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
      tls.ifPresent(
          certificates -> channel.pipeline().addLast(certificates.newHandler(channel.alloc())));
      channel
          .pipeline()
          .addLast(
              new HttpServerCodec(
                  new HttpDecoderConfig()
                      .setMaxInitialLineLength(MAX_LINE_BYTES)
                      .setMaxHeaderSize(MAX_HEAD_BYTES)
                      .setHeadersFactory(FewHeaders.FACTORY)
                      .setTrailersFactory(FewHeaders.FACTORY)))
          .addLast(new Exchange());
    }
  }

  /** Ends it without a last word of TLS, which would have to wait as well. */
  private static void cut(Channel channel) {
    channel.pipeline().firstContext().close();
  }

  /** One request and its answer; what follows is read and forgotten. */
  private final class Exchange extends SimpleChannelInboundHandler<HttpObject> {
    private boolean answered;

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject part) throws IOException {
      if (part instanceof HttpRequest request && !answered) {
        answered = true;
        FullHttpResponse response = answer(request);
        response
            .headers()
            .setInt(HttpHeaderNames.CONTENT_LENGTH, response.content().readableBytes())
            .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      // A scrape that fails is no page.
      context.close();
    }
  }

  private FullHttpResponse answer(HttpRequest request) throws IOException {
    if (request.decoderResult().isFailure()) {
      return text(HttpResponseStatus.BAD_REQUEST, "no HTTP/1.1, or too long");
    }
    if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
      return text(HttpResponseStatus.METHOD_NOT_ALLOWED, "GET only");
    }
    int query = request.uri().indexOf('?');
    return switch (query < 0 ? request.uri() : request.uri().substring(0, query)) {
      case "/metrics" -> metrics(request);
      case "/health" -> health();
      // Whether to end the agent: it ends itself when a thread of it has died.
      case "/live" -> text(HttpResponseStatus.OK, "ok");
      default -> text(HttpResponseStatus.NOT_FOUND, "/metrics, /health and /live are here");
    };
  }

  private FullHttpResponse metrics(HttpRequest request) throws IOException {
    if (!tokens.admit(request.headers().get(HttpHeaderNames.AUTHORIZATION))) {
      FullHttpResponse refused = text(HttpResponseStatus.UNAUTHORIZED, BearerTokens.REFUSED);
      refused.headers().set(HttpHeaderNames.WWW_AUTHENTICATE, "Bearer");
      return refused;
    }
    String type = TextFormat.chooseContentType(request.headers().get(HttpHeaderNames.ACCEPT));
    ByteArrayOutputStream page = new ByteArrayOutputStream(8_192);
    try (OutputStreamWriter writer = new OutputStreamWriter(page, UTF_8)) {
      TextFormat.writeFormat(type, writer, registry.metricFamilySamples());
    }
    return response(HttpResponseStatus.OK, type, page.toByteArray());
  }

  private FullHttpResponse health() {
    String what = problem.get();
    return what.isEmpty()
        ? text(HttpResponseStatus.OK, "ok")
        : text(HttpResponseStatus.SERVICE_UNAVAILABLE, what);
  }

  private static FullHttpResponse text(HttpResponseStatus status, String line) {
    return response(status, "text/plain; charset=utf-8", (line + "\n").getBytes(UTF_8));
  }

  private static FullHttpResponse response(HttpResponseStatus status, String type, byte[] body) {
    FullHttpResponse response =
        new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(body));
    response.headers().set(HttpHeaderNames.CONTENT_TYPE, type);
    return response;
  }

  /**
   * Admits the tokens that the file has now, and no others.
   *
   * @return true if they are others
   * @throws IOException when there are none; all stays as it was
   */
  public boolean reloadTokens() throws IOException {
    return tokens.reload();
  }

  /**
   * Has connections to come use the certificate as the files have it now; those that are open are
   * not touched.
   *
   * @return true if it is another
   * @throws IOException when it would not serve; all stays as it was
   */
  public boolean reloadTls() throws IOException {
    return tls.isPresent() && tls.get().reload();
  }

  /** When the certificate of the port ends, seconds since 1970; 0 without TLS. */
  public long certificateEndSeconds() {
    return tls.map(certificate -> certificate.end().getEpochSecond()).orElse(0L);
  }

  /** The port in use. */
  public int port() {
    return ((InetSocketAddress) listening.localAddress()).getPort();
  }

  /** Open connections, 0 to {@link #MAX_CONNECTIONS}. */
  int connections() {
    return connections;
  }

  @Override
  public void close() {
    // Closes the port and all connections, whatever they have not sent or read.
    eventLoop.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(4, TimeUnit.SECONDS);
  }
}
