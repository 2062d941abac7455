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
 * Sits on a listening socket, where accepted connections pass: closes those above the limits and
 * has the others acknowledge at once.
 *
 * <p>A sender that writes a request in parts with Nagle's algorithm on, as stock Java clients do,
 * sends the next part when the last one is acknowledged; the kernel delays acknowledgements by up
 * to 40 ms. {@code TCP_QUICKACK} ends that, but the kernel falls back whenever it takes the
 * conversation for interactive: the option is set again after each read, which also sends an
 * acknowledgement that is being held back.
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
      OtlpCounters counters,
      LongSupplier nanoClock) {
    this.clients = clients;
    this.quickAck = new QuickAck(quickAck);
    this.handshakes = new HandshakeWatch(counters, nanoClock);
  }

  /** Listening sockets with this gate on them. */
  ChannelFactory<ServerChannel> guarding(ChannelFactory<ServerChannel> channels) {
    return () -> {
      ServerChannel channel = channels.newChannel();
      channel.pipeline().addFirst(this);
      return channel;
    };
  }

  /** The open connections. */
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
