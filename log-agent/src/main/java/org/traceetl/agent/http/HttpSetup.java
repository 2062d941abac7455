package org.traceetl.agent.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.grpc.netty.shaded.io.netty.buffer.Unpooled;
import io.grpc.netty.shaded.io.netty.channel.ChannelFuture;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.grpc.netty.shaded.io.netty.handler.codec.http.FullHttpResponse;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpDecoderConfig;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpHeaderNames;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpHeaderValues;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpResponseStatus;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpServerCodec;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpUtil;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpVersion;
import org.traceetl.agent.access.BearerTokens;

/** Sets up HTTP/1.1 for the agent's ports. */
public final class HttpSetup {
  // Also bounds the line before a chunk, whose extension is buffered and not counted.
  private static final int MAX_LINE_BYTES = 1_024;
  private static final int MAX_HEAD_BYTES = 8 * 1_024;

  private HttpSetup() {}

  /** Returns a codec that bounds the memory of a request's head. */
  public static HttpServerCodec codec() {
    return new HttpServerCodec(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(MAX_LINE_BYTES)
            .setMaxHeaderSize(MAX_HEAD_BYTES)
            .setHeadersFactory(FewHeaders.FACTORY)
            .setTrailersFactory(FewHeaders.FACTORY));
  }

  /** Returns the path of a request, without its query. */
  public static String path(String uri) {
    int query = uri.indexOf('?');
    return query < 0 ? uri : uri.substring(0, query);
  }

  /** Returns a response with one line of text. */
  public static FullHttpResponse text(HttpResponseStatus status, String line) {
    return response(status, "text/plain; charset=utf-8", (line + "\n").getBytes(UTF_8));
  }

  /** Returns a response with this body. */
  public static FullHttpResponse response(
      HttpResponseStatus status, String contentType, byte[] body) {
    FullHttpResponse response =
        new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(body));
    response.headers().set(HttpHeaderNames.CONTENT_TYPE, contentType);
    return response;
  }

  /** Returns the response to a request without a valid bearer token. */
  public static FullHttpResponse unauthorized() {
    FullHttpResponse response = text(HttpResponseStatus.UNAUTHORIZED, BearerTokens.REFUSED);
    response.headers().set(HttpHeaderNames.WWW_AUTHENTICATE, "Bearer");
    return response;
  }

  /** Writes a response; the caller decides what follows it. */
  public static ChannelFuture write(
      ChannelHandlerContext context, FullHttpResponse response, boolean keepAlive) {
    HttpUtil.setContentLength(response, response.content().readableBytes());
    response
        .headers()
        .set(
            HttpHeaderNames.CONNECTION,
            keepAlive ? HttpHeaderValues.KEEP_ALIVE : HttpHeaderValues.CLOSE);
    return context.writeAndFlush(response);
  }
}
