package org.traceetl.agent.source.otlp;

import io.grpc.netty.shaded.io.netty.bootstrap.ServerBootstrap;
import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelFuture;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.ChannelInitializer;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.ChannelPipeline;
import io.grpc.netty.shaded.io.netty.handler.codec.http.FullHttpMessage;
import io.grpc.netty.shaded.io.netty.handler.codec.http.FullHttpResponse;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpContent;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpHeaderNames;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpMessage;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpObject;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpObjectAggregator;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpRequest;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpResponseStatus;
import io.grpc.netty.shaded.io.netty.handler.codec.http.LastHttpContent;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.timeout.IdleStateHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.traceetl.agent.http.HttpSetup;
import org.traceetl.agent.http.NettyTransport;

/** {@code POST /v1/traces} over HTTP/1.1. */
final class HttpEndpoint {
  private static final int IDLE_SECONDS = 60;
  private static final int LINGER_SECONDS = 5;

  private final ReceiverParts parts;
  private final int maxRequestBytes;
  private final OtlpMetrics metrics;
  private final Optional<? extends SslContext> tls;
  private final ConnectionGate gate;
  private final ServerBootstrap bootstrap;
  private Channel listening;

  HttpEndpoint(ReceiverParts parts, Optional<? extends SslContext> tls) {
    this.parts = parts;
    this.maxRequestBytes = parts.config().maxRequestBytes();
    this.metrics = parts.metrics();
    this.tls = tls;
    this.gate = parts.gate();
    bootstrap =
        new ServerBootstrap()
            .group(parts.eventLoops())
            .channelFactory(gate.guarding(parts.transport().serverChannels()))
            .option(ChannelOption.SO_BACKLOG, 512)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            // Reads are explicit: a request's answer comes later, and answers must keep the order.
            .childOption(ChannelOption.AUTO_READ, false)
            .childHandler(new Connection());
  }

  void start() throws IOException {
    String host = parts.config().host();
    int port = parts.config().httpPort();
    ChannelFuture bound = bootstrap.bind(new InetSocketAddress(host, port)).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw NettyTransport.cannotListen("otlp.http-port", port, host, bound.cause());
    }
    listening = bound.channel();
  }

  int port() {
    return ((InetSocketAddress) listening.localAddress()).getPort();
  }

  /** Stops accepting connections; the pipeline answers requests on open connections. */
  void stopAccepting() {
    listening.close().awaitUninterruptibly();
  }

  void close() {
    if (listening != null) {
      listening.close().awaitUninterruptibly();
    }
    gate.connections().close().awaitUninterruptibly();
  }

  private final class Connection extends ChannelInitializer<Channel> {
    @Override
    protected void initChannel(Channel channel) {
      tls.ifPresent(context -> channel.pipeline().addLast(context.newHandler(channel.alloc())));
      HttpExchange exchange = new HttpExchange(parts);
      RequestAssembly assembly = new RequestAssembly(exchange);
      channel
          .pipeline()
          .addLast(new IdleStateHandler(0, 0, IDLE_SECONDS))
          .addLast(new FirstBytes(assembly))
          .addLast(HttpSetup.codec())
          .addLast(assembly)
          .addLast(exchange);
    }
  }

  /** Starts the deadline at the first byte; the codec emits only complete heads. */
  private static final class FirstBytes extends ChannelInboundHandlerAdapter {
    private final RequestAssembly assembly;

    FirstBytes(RequestAssembly assembly) {
      this.assembly = assembly;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object bytes) {
      assembly.startDeadline();
      context.fireChannelRead(bytes);
    }
  }

  /** Assembles a request within the size limit, the deadline and the budget of all connections. */
  private final class RequestAssembly extends HttpObjectAggregator {
    private final HttpExchange exchange;
    private Future<?> deadline;
    private long taken;

    RequestAssembly(HttpExchange exchange) {
      super(maxRequestBytes);
      this.exchange = exchange;
    }

    @Override
    protected void decode(ChannelHandlerContext context, HttpObject part, List<Object> out)
        throws Exception {
      if (part instanceof HttpRequest head
          && head.decoderResult().isSuccess()
          && !parts.tokens().admit(head.headers().get(HttpHeaderNames.AUTHORIZATION))) {
        refuse(context, OtlpMetrics.Refusal.UNAUTHENTICATED, HttpSetup.unauthorized());
        return;
      }
      if (part instanceof HttpContent body) {
        int bytes = ReadBudget.charge(body.content().readableBytes());
        if (!parts.budget().take(bytes)) {
          refuse(context, OtlpMetrics.Refusal.NO_ROOM, comeBack(ReadBudget.EXHAUSTED));
          return;
        }
        if (!Clients.of(context.channel()).take(bytes)) {
          parts.budget().giveBack(bytes);
          refuse(context, OtlpMetrics.Refusal.CLIENT_FULL, comeBack(Clients.FULL));
          return;
        }
        taken += bytes;
        if (!(body instanceof LastHttpContent)) {
          // The codec's parts have at most 8 KiB, but are views of read buffers that may be many
          // times larger.
          HttpContent copy = body.replace(body.content().copy());
          try {
            super.decode(context, copy, out);
          } finally {
            copy.release();
          }
          return;
        }
      }
      super.decode(context, part, out);
    }

    /** Starts the deadline at a request's first byte; a running deadline continues. */
    void startDeadline() {
      if (deadline == null) {
        deadline =
            ctx()
                .executor()
                .schedule(
                    this::endIfLate,
                    parts.config().limits().requestTimeoutMillis(),
                    TimeUnit.MILLISECONDS);
      }
    }

    private void endIfLate() {
      deadline = null;
      if (exchange.isAnswering()) {
        // The bytes belong to the next request, which waits for this endpoint's answer.
        startDeadline();
        return;
      }
      metrics.requestRefused(OtlpMetrics.Refusal.TIMEOUT);
      ctx().close();
    }

    @Override
    protected FullHttpMessage beginAggregation(HttpMessage start, ByteBuf content)
        throws Exception {
      startDeadline();
      return super.beginAggregation(start, content);
    }

    @Override
    protected void finishAggregation(FullHttpMessage aggregated) throws Exception {
      end();
      super.finishAggregation(aggregated);
    }

    /** Answers a request that is too large in {@link #handleOversizedMessage}, with a body. */
    @Override
    protected Object newContinueResponse(
        HttpMessage start, int maxContentLength, ChannelPipeline pipeline) {
      return isContentLengthInvalid(start, maxContentLength)
          ? null
          : super.newContinueResponse(start, maxContentLength, pipeline);
    }

    @Override
    protected void handleOversizedMessage(ChannelHandlerContext context, HttpMessage oversized) {
      refuse(
          context,
          OtlpMetrics.Refusal.TOO_LARGE,
          HttpExchange.tooLarge(oversized, maxRequestBytes));
    }

    private static FullHttpResponse comeBack(String text) {
      FullHttpResponse response = HttpSetup.text(HttpResponseStatus.TOO_MANY_REQUESTS, text);
      response.headers().setInt(HttpHeaderNames.RETRY_AFTER, OtlpResponses.RETRY_FULL_SECONDS);
      return response;
    }

    /** Answers the request without offering it to the pipeline. */
    private void refuse(
        ChannelHandlerContext context, OtlpMetrics.Refusal reason, FullHttpResponse response) {
      metrics.requestRefused(reason);
      end(); // first: who reads the answer may send at once
      HttpSetup.write(context, response, false);
      // Reads and discards the rest for a while: an immediate close could lose the answer.
      context.pipeline().remove(FirstBytes.class);
      context.pipeline().remove(HttpExchange.class);
      context.pipeline().remove(this);
      context.channel().config().setAutoRead(true);
      Future<?> unused =
          context.executor().schedule(() -> context.close(), LINGER_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) throws Exception {
      end();
      super.handlerRemoved(context);
    }

    /** Ends the assembly of a request and gives back its bytes. */
    private void end() {
      cancelDeadline();
      if (taken > 0) {
        parts.budget().giveBack(taken);
        Clients.of(ctx().channel()).giveBack(taken);
        taken = 0;
      }
    }

    private void cancelDeadline() {
      if (deadline != null) {
        deadline.cancel(false);
        deadline = null;
      }
    }
  }
}
