package org.traceetl.agent.source.otlp;

import io.grpc.netty.shaded.io.netty.channel.ChannelHandler.Sharable;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.handler.ssl.NotSslRecordException;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslHandler;
import java.nio.channels.ClosedChannelException;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.LogThrottle;

/** Counts failed TLS handshakes and logs one of them from time to time. */
@Sharable
final class HandshakeWatch extends ChannelInboundHandlerAdapter {
  private static final Logger log = LoggerFactory.getLogger(HandshakeWatch.class);
  private static final int MOST_CHARACTERS = 200;

  private final OtlpMetrics metrics;
  private final LogThrottle throttle;

  HandshakeWatch(OtlpMetrics metrics, LongSupplier nanoClock) {
    this.metrics = metrics;
    throttle = new LogThrottle(nanoClock);
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    // The handlers that follow have added TLS to the pipeline when this returns.
    context.fireChannelActive();
    SslHandler tls = context.pipeline().get(SslHandler.class);
    if (tls != null) {
      tls.handshakeFuture()
          .addListener(done -> {
            if (!done.isSuccess()) {
              failed(context, done.cause());
            }
          });
    }
  }

  private void failed(ChannelHandlerContext context, Throwable cause) {
    metrics.handshakesFailed.increment();
    if (throttle.permits()) {
      log.warn(
          "TLS handshake with {} failed: {}", context.channel().remoteAddress(), reason(cause));
    }
  }

  /** Omits text that quotes bytes other than TLS, which may contain a token. */
  private static String reason(Throwable cause) {
    if (cause instanceof NotSslRecordException) {
      return "the sender does not use TLS";
    }
    if (cause instanceof ClosedChannelException) {
      return "the sender closed the connection";
    }
    String message = String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
    return cause.getClass().getSimpleName()
        + ": "
        + message.substring(0, Math.min(message.length(), MOST_CHARACTERS));
  }
}
