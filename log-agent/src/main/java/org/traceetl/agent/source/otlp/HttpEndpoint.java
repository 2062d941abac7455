package org.traceetl.agent.source.otlp;

import io.grpc.netty.shaded.io.netty.bootstrap.ServerBootstrap;
import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelFuture;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.ChannelInitializer;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.handler.codec.http.FullHttpMessage;
import io.grpc.netty.shaded.io.netty.handler.codec.http.FullHttpResponse;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpContent;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpDecoderConfig;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpHeaderNames;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpMessage;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpObject;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpObjectAggregator;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpRequest;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpResponseStatus;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpServerCodec;
import io.grpc.netty.shaded.io.netty.handler.codec.http.LastHttpContent;
import io.grpc.netty.shaded.io.netty.handler.timeout.IdleStateHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.traceetl.agent.access.BearerTokens;
import org.traceetl.agent.access.FewHeaders;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.source.payload.PayloadArrays;

/** {@code POST /v1/traces} over HTTP/1.1. */
final class HttpEndpoint {
  private static final int IDLE_SECONDS = 60;
  private static final int LINGER_SECONDS = 5;

  // What a head may cost, and the line before a chunk: an extension of it is read and kept like the
  // chunk, and nobody counts it.
  private static final int MAX_LINE_BYTES = 1_024;
  private static final int MAX_HEAD_BYTES = 8 * 1_024;

  private final InetSocketAddress address;
  private final int maxRequestBytes;
  private final int requestTimeoutMillis;
  private final ServerBootstrap bootstrap;
  private final ConnectionGate gate;
  private final Optional<PortTls> tls;
  private final BearerTokens tokens;
  private final ReadBudget budget;
  private final Intake intake;
  private final SpanDecoder protobufDecoder;
  private final SpanDecoder jsonDecoder;
  private final PayloadArrays arrays;
  private final OtlpCounters counters;
  private Channel listening;

  HttpEndpoint(
      InetSocketAddress address,
      int maxRequestBytes,
      int requestTimeoutMillis,
      EventLoopGroup eventLoops,
      Transport transport,
      ConnectionGate gate,
      Optional<PortTls> tls,
      BearerTokens tokens,
      ReadBudget budget,
      Intake intake,
      SpanDecoder protobufDecoder,
      SpanDecoder jsonDecoder,
      PayloadArrays arrays,
      OtlpCounters counters) {
    this.address = address;
    this.maxRequestBytes = maxRequestBytes;
    this.requestTimeoutMillis = requestTimeoutMillis;
    this.gate = gate;
    this.tls = tls;
    this.tokens = tokens;
    this.budget = budget;
    this.intake = intake;
    this.protobufDecoder = protobufDecoder;
    this.jsonDecoder = jsonDecoder;
    this.arrays = arrays;
    this.counters = counters;
    bootstrap =
        new ServerBootstrap()
            .group(eventLoops)
            .channelFactory(gate.guarding(transport.serverChannels()))
            .option(ChannelOption.SO_BACKLOG, 512)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            // Requests are taken one by one: their answers come later and must keep the order.
            .childOption(ChannelOption.AUTO_READ, false)
            .childHandler(new Connection());
  }

  void start() throws IOException {
    ChannelFuture bound = bootstrap.bind(address).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException("cannot listen for OTLP/HTTP on " + address, bound.cause());
    }
    listening = bound.channel();
  }

  int port() {
    return ((InetSocketAddress) listening.localAddress()).getPort();
  }

  /** Takes no further connections; requests on open ones meet the pipeline's own answer. */
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
      tls.ifPresent(certificates ->
          channel.pipeline().addLast(certificates.http().newHandler(channel.alloc())));
      HttpExchange exchange =
          new HttpExchange(maxRequestBytes, intake, protobufDecoder, jsonDecoder, arrays, counters);
      RequestAssembly assembly = new RequestAssembly(exchange);
      channel
          .pipeline()
          .addLast(new IdleStateHandler(0, 0, IDLE_SECONDS))
          .addLast(new FirstBytes(assembly))
          .addLast(
              new HttpServerCodec(
                  new HttpDecoderConfig()
                      .setMaxInitialLineLength(MAX_LINE_BYTES)
                      .setMaxHeaderSize(MAX_HEAD_BYTES)
                      .setHeadersFactory(FewHeaders.FACTORY)
                      .setTrailersFactory(FewHeaders.FACTORY)))
          .addLast(assembly)
          .addLast(exchange);
    }
  }

  /** Stands before the codec, which is silent until a request's head is whole. */
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

  /** Puts a request together, within a size, a time and the budget of all connections. */
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
          && !tokens.admit(head.headers().get(HttpHeaderNames.AUTHORIZATION))) {
        FullHttpResponse response =
            HttpExchange.plain(HttpResponseStatus.UNAUTHORIZED, BearerTokens.REFUSED + "\n");
        response.headers().set(HttpHeaderNames.WWW_AUTHENTICATE, "Bearer");
        refuse(context, OtlpCounters.Refusal.UNAUTHENTICATED, response);
        return;
      }
      if (part instanceof HttpContent body) {
        int bytes = ReadBudget.charge(body.content().readableBytes());
        if (!budget.take(bytes)) {
          refuse(context, OtlpCounters.Refusal.NO_ROOM, comeBack(ReadBudget.EXHAUSTED));
          return;
        }
        if (!Clients.of(context.channel()).take(bytes)) {
          budget.giveBack(bytes);
          refuse(context, OtlpCounters.Refusal.CLIENT_FULL, comeBack(Clients.FULL));
          return;
        }
        taken += bytes;
        if (!(body instanceof LastHttpContent)) {
          // Parts have 8 KiB at most, as the codec makes them, and are views of what they came in,
          // which may be many times longer.
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

    /** From a request's first byte on; it goes on if it runs already. */
    void startDeadline() {
      if (deadline == null) {
        deadline =
            ctx().executor().schedule(this::endIfLate, requestTimeoutMillis, TimeUnit.MILLISECONDS);
      }
    }

    private void endIfLate() {
      deadline = null;
      if (exchange.isAnswering()) {
        // The bytes are of the next request, and it is we who let it wait.
        startDeadline();
        return;
      }
      counters.requestRefused(OtlpCounters.Refusal.TIMEOUT);
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

    @Override
    protected void handleOversizedMessage(ChannelHandlerContext context, HttpMessage oversized) {
      refuse(
          context,
          OtlpCounters.Refusal.TOO_LARGE,
          HttpExchange.plain(
              HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE,
              "a request may have " + maxRequestBytes + " bytes\n"));
    }

    private static FullHttpResponse comeBack(String text) {
      FullHttpResponse response =
          HttpExchange.plain(HttpResponseStatus.TOO_MANY_REQUESTS, text + "\n");
      response.headers().setInt(HttpHeaderNames.RETRY_AFTER, Answers.RETRY_FULL_SECONDS);
      return response;
    }

    /** Answers instead of the pipeline. */
    private void refuse(
        ChannelHandlerContext context, OtlpCounters.Refusal reason, FullHttpResponse response) {
      counters.requestRefused(reason);
      HttpExchange.write(context, response, false);
      // The rest is read and forgotten for a while: closing at once could lose the answer.
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

    /** Nothing is being put together any more. */
    private void end() {
      cancelDeadline();
      if (taken > 0) {
        budget.giveBack(taken);
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
