package org.traceetl.agent.source.otlp;

import io.grpc.Status;
import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import io.grpc.netty.shaded.io.netty.buffer.ByteBufInputStream;
import io.grpc.netty.shaded.io.netty.channel.ChannelFuture;
import io.grpc.netty.shaded.io.netty.channel.ChannelFutureListener;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.SimpleChannelInboundHandler;
import io.grpc.netty.shaded.io.netty.handler.codec.http.FullHttpRequest;
import io.grpc.netty.shaded.io.netty.handler.codec.http.FullHttpResponse;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpHeaderNames;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpMessage;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpMethod;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpResponseStatus;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpUtil;
import io.grpc.netty.shaded.io.netty.handler.timeout.IdleStateEvent;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.zip.GZIPInputStream;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.http.HttpSetup;
import org.traceetl.agent.source.payload.PayloadArrays;

/** Reads the requests of one connection, one at a time, and answers in the request's format. */
final class HttpExchange extends SimpleChannelInboundHandler<FullHttpRequest> {
  private static final String PATH = "/v1/traces";
  private static final String SOURCE = "otlp_http";
  private static final String GZIP = "gzip";

  /** Most requests that may wait on a connection; exporters wait for each answer. */
  private static final int MOST_WAITING = 3;

  private final ReceiverParts parts;
  private final int maxRequestBytes;
  private final PayloadArrays arrays;
  private final OtlpMetrics metrics;
  // Event loop only. Holds the few requests that arrived in the same read as the request in
  // progress; nothing more is read until that one is answered.
  private final Deque<FullHttpRequest> waiting = new ArrayDeque<>();
  private boolean answering;
  // True after the connection was closed for too many requests; the rest of the read is ignored.
  private boolean tooMany;

  HttpExchange(ReceiverParts parts) {
    this.parts = parts;
    this.maxRequestBytes = parts.config().maxRequestBytes();
    this.arrays = parts.arrays();
    this.metrics = parts.metrics();
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    context.read();
  }

  /** Returns whether a request is being answered and the next one waits. Event loop only. */
  boolean isAnswering() {
    return answering;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
    if (tooMany) {
      return;
    }
    if (!answering) {
      exchange(context, request);
    } else if (waiting.size() < MOST_WAITING) {
      waiting.add(request.retain());
    } else {
      // One read can contain thousands of requests, whose heads are not charged.
      tooMany = true;
      metrics.requestRefused(OtlpMetrics.Refusal.NO_ROOM);
      context.close();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    waiting.forEach(FullHttpRequest::release);
    waiting.clear();
  }

  private void exchange(ChannelHandlerContext context, FullHttpRequest request) {
    answering = true;
    boolean keepAlive = HttpUtil.isKeepAlive(request);
    if (request.decoderResult().isFailure()) {
      metrics.requestRefused(OtlpMetrics.Refusal.MALFORMED);
      answer(
          context,
          HttpSetup.text(HttpResponseStatus.BAD_REQUEST, "the request must be HTTP/1.1"),
          false);
      return;
    }
    OtlpFormat format = format(HttpUtil.getMimeType(request));
    String encoding = request.headers().get(HttpHeaderNames.CONTENT_ENCODING, "identity").strip();
    FullHttpResponse unsupported = unsupported(request, format, encoding);
    if (unsupported != null) {
      metrics.requestRefused(OtlpMetrics.Refusal.UNSUPPORTED);
      answer(context, unsupported, keepAlive);
      return;
    }
    if (!encoding.equalsIgnoreCase(GZIP)) {
      int length = request.content().readableBytes();
      byte[] payload = arrays.take(length);
      request.content().readBytes(payload, 0, length);
      offer(context, payload, length, format, keepAlive);
      return;
    }
    byte[] payload;
    try {
      payload = gunzip(request.content());
    } catch (IOException e) {
      metrics.requestRefused(OtlpMetrics.Refusal.MALFORMED);
      Status status = Status.INVALID_ARGUMENT.withDescription("the body is not valid gzip");
      answer(context, status(HttpResponseStatus.BAD_REQUEST, format, status, 0), keepAlive);
      return;
    }
    if (payload.length > maxRequestBytes) {
      metrics.requestRefused(OtlpMetrics.Refusal.TOO_LARGE);
      answer(context, tooLarge(request, maxRequestBytes), keepAlive);
      return;
    }
    offer(context, payload, payload.length, format, keepAlive);
  }

  /** Returns the answer to a request that is not served; null if it is. */
  private static FullHttpResponse unsupported(
      FullHttpRequest request, OtlpFormat format, String encoding) {
    if (!HttpSetup.path(request.uri()).equals(PATH)) {
      return HttpSetup.text(HttpResponseStatus.NOT_FOUND, "send traces to " + PATH);
    }
    if (!request.method().equals(HttpMethod.POST)) {
      FullHttpResponse response =
          HttpSetup.text(HttpResponseStatus.METHOD_NOT_ALLOWED, "send traces by POST");
      response.headers().set(HttpHeaderNames.ALLOW, HttpMethod.POST.name());
      return response;
    }
    if (format == null) {
      return HttpSetup.text(
          HttpResponseStatus.UNSUPPORTED_MEDIA_TYPE,
          "the content type must be application/x-protobuf or application/json");
    }
    if (!encoding.isEmpty()
        && !encoding.equalsIgnoreCase("identity")
        && !encoding.equalsIgnoreCase(GZIP)) {
      return HttpSetup.text(
          HttpResponseStatus.UNSUPPORTED_MEDIA_TYPE,
          "the content encoding must be gzip or identity");
    }
    return null;
  }

  private void offer(
      ChannelHandlerContext context,
      byte[] payload,
      int length,
      OtlpFormat format,
      boolean keepAlive) {
    Clients.Client client = Clients.of(context.channel());
    if (!client.take(length)) {
      arrays.give(payload);
      metrics.requestRefused(OtlpMetrics.Refusal.CLIENT_FULL);
      answer(context, refusal(Refused.CLIENT_FULL, format), keepAlive);
      return;
    }
    Refused refused =
        Refused.of(
            parts
                .intake()
                .offer(
                    SOURCE,
                    payload,
                    length,
                    new SentPayload(
                        format == OtlpFormat.JSON ? parts.json() : parts.protobuf(),
                        client.address()),
                    new Request(context, format, keepAlive, client, length)));
    if (refused != null) {
      arrays.give(payload);
      client.giveBack(length);
      answer(context, refusal(refused, format), keepAlive);
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof IdleStateEvent && !answering) {
      context.close();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    // The sender disconnected, for example with a reset.
    context.close();
  }

  /** Answers from any thread, and starts the next request. */
  private void answer(ChannelHandlerContext context, FullHttpResponse response, boolean keepAlive) {
    ChannelFuture written = HttpSetup.write(context, response, keepAlive);
    if (keepAlive) {
      written.addListener(done -> next(context));
    } else {
      written.addListener(ChannelFutureListener.CLOSE);
    }
  }

  private void next(ChannelHandlerContext context) {
    answering = false;
    FullHttpRequest request = waiting.poll();
    if (request == null) {
      context.read();
      return;
    }
    try {
      exchange(context, request);
    } finally {
      request.release();
    }
  }

  private byte[] gunzip(ByteBuf body) throws IOException {
    try (GZIPInputStream in = new GZIPInputStream(new ByteBufInputStream(body), 8192)) {
      return in.readNBytes(maxRequestBytes + 1);
    }
  }

  private static OtlpFormat format(CharSequence mediaType) {
    for (OtlpFormat format : OtlpFormat.values()) {
      if (mediaType != null && format.mediaType().equalsIgnoreCase(mediaType.toString().strip())) {
        return format;
      }
    }
    return null;
  }

  private static FullHttpResponse refusal(Refused refused, OtlpFormat format) {
    HttpResponseStatus code =
        refused.status().getCode() == Status.Code.RESOURCE_EXHAUSTED
            ? HttpResponseStatus.TOO_MANY_REQUESTS
            : HttpResponseStatus.SERVICE_UNAVAILABLE;
    return status(code, format, refused.status(), refused.retrySeconds());
  }

  /** Returns the answer to a request over the limit, also before its body is read. */
  static FullHttpResponse tooLarge(HttpMessage request, int maxRequestBytes) {
    HttpResponseStatus code = HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE;
    OtlpFormat format = format(HttpUtil.getMimeType(request));
    String problem = OtlpResponses.tooLarge(maxRequestBytes);
    return format == null
        ? HttpSetup.text(code, problem)
        : status(code, format, Status.RESOURCE_EXHAUSTED.withDescription(problem), 0);
  }

  private static FullHttpResponse status(
      HttpResponseStatus code, OtlpFormat format, Status status, int retrySeconds) {
    FullHttpResponse response =
        HttpSetup.response(
            code,
            format.mediaType(),
            format == OtlpFormat.JSON
                ? OtlpResponses.statusJson(status, retrySeconds)
                : OtlpResponses.status(status, retrySeconds));
    if (retrySeconds > 0) {
      response.headers().setInt(HttpHeaderNames.RETRY_AFTER, retrySeconds);
    }
    return response;
  }

  private final class Request implements Completion {
    private final ChannelHandlerContext context;
    private final OtlpFormat format;
    private final boolean keepAlive;
    private final Clients.Client client;
    private final int bytes;

    Request(
        ChannelHandlerContext context,
        OtlpFormat format,
        boolean keepAlive,
        Clients.Client client,
        int bytes) {
      this.context = context;
      this.format = format;
      this.keepAlive = keepAlive;
      this.client = client;
      this.bytes = bytes;
    }

    @Override
    public void released(byte[] payload) {
      arrays.give(payload);
    }

    @Override
    public void confirmed(int accepted, int rejected, String reason) {
      client.giveBack(bytes);
      byte[] body =
          format == OtlpFormat.JSON
              ? OtlpResponses.exportedJson(rejected, reason)
              : OtlpResponses.exported(rejected, reason);
      answer(
          context, HttpSetup.response(HttpResponseStatus.OK, format.mediaType(), body), keepAlive);
    }

    @Override
    public void malformed(String reason) {
      client.giveBack(bytes);
      answer(
          context,
          status(
              HttpResponseStatus.BAD_REQUEST,
              format,
              Status.INVALID_ARGUMENT.withDescription(reason),
              0),
          keepAlive);
    }

    @Override
    public void failed(String reason) {
      client.giveBack(bytes);
      answer(context, refusal(Refused.failed(reason), format), keepAlive);
    }
  }
}
