package org.traceetl.agent.source.otlp;

import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelFactory;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandler.Sharable;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.ServerChannel;
import io.grpc.netty.shaded.io.netty.channel.group.ChannelGroup;
import io.grpc.netty.shaded.io.netty.channel.group.DefaultChannelGroup;
import io.grpc.netty.shaded.io.netty.util.concurrent.GlobalEventExecutor;
import java.util.function.LongSupplier;

/**
 * Closes accepted connections above the limits; makes the kernel acknowledge the remaining ones
 * immediately.
 *
 * <p>A sender that writes a request in parts with Nagle's algorithm, as stock Java clients do,
 * sends a part when the previous one is acknowledged. The kernel delays acknowledgements by up to
 * 40 ms. {@code TCP_QUICKACK} prevents the delay until the kernel classifies the connection as
 * interactive. So the option is set again after each read, which also sends a delayed
 * acknowledgement.
 */
@Sharable
final class ConnectionGate extends ChannelInboundHandlerAdapter {
  private final Clients clients;
  private final QuickAck quickAck;
  private final HandshakeWatch handshakes;
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

  ConnectionGate(
      Clients clients,
      ChannelOption<Boolean> quickAck,
      OtlpMetrics metrics,
      LongSupplier nanoClock) {
    this.clients = clients;
    this.quickAck = new QuickAck(quickAck);
    this.handshakes = new HandshakeWatch(metrics, nanoClock);
  }

  /** Returns a factory of listening sockets that have this gate. */
  ChannelFactory<ServerChannel> guarding(ChannelFactory<ServerChannel> channels) {
    return () -> {
      ServerChannel channel = channels.newChannel();
      channel.pipeline().addFirst(this);
      return channel;
    };
  }

  ChannelGroup connections() {
    return connections;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    Channel accepted = (Channel) message;
    if (!clients.connect(accepted)) {
      accepted.unsafe().closeForcibly();
      return;
    }
    connections.add(accepted);
    accepted.pipeline().addFirst(quickAck, handshakes);
    context.fireChannelRead(accepted);
  }

  @Sharable
  private static final class QuickAck extends ChannelInboundHandlerAdapter {
    private final ChannelOption<Boolean> option;

    QuickAck(ChannelOption<Boolean> option) {
      this.option = option;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
      set(context.channel());
      context.fireChannelActive();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      set(context.channel());
      context.fireChannelReadComplete();
    }

    private void set(Channel channel) {
      if (channel.isOpen()) {
        channel.config().setOption(option, true);
      }
    }
  }
}
