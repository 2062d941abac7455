package org.traceetl.agent.http;

import io.grpc.netty.shaded.io.netty.channel.ChannelFactory;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.IoHandlerFactory;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.ServerChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollChannelOption;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioChannelOption;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import jdk.net.ExtendedSocketOptions;

/** The implementation of sockets: epoll if its native library loads, else NIO. */
public enum NettyTransport {
  EPOLL {
    @Override
    IoHandlerFactory handlers() {
      return EpollIoHandler.newFactory();
    }

    @Override
    public ChannelFactory<ServerChannel> serverChannels() {
      return EpollServerSocketChannel::new;
    }

    @Override
    public ChannelOption<Boolean> quickAck() {
      return EpollChannelOption.TCP_QUICKACK;
    }
  },
  NIO {
    @Override
    IoHandlerFactory handlers() {
      return NioIoHandler.newFactory();
    }

    @Override
    public ChannelFactory<ServerChannel> serverChannels() {
      return NioServerSocketChannel::new;
    }

    @Override
    public ChannelOption<Boolean> quickAck() {
      return NioChannelOption.of(ExtendedSocketOptions.TCP_QUICKACK);
    }
  };

  /** Returns epoll if its native library loads, else NIO. */
  public static NettyTransport best() {
    return Epoll.isAvailable() ? EPOLL : NIO;
  }

  abstract IoHandlerFactory handlers();

  /** Returns the factory of listening sockets. */
  public abstract ChannelFactory<ServerChannel> serverChannels();

  /** Returns the option that acknowledges received data at once. */
  public abstract ChannelOption<Boolean> quickAck();

  /**
   * Returns the failure to open a port, with a message for the operator.
   *
   * @param key configuration key of the port
   */
  public static IOException cannotListen(String key, int port, String host, Throwable cause) {
    String message = cause.getMessage() == null ? cause.toString() : cause.getMessage();
    // Epoll's messages begin with the failed call.
    String reason = message.substring(message.lastIndexOf(": ") + 1).strip();
    return new IOException(
        key
            + " = "
            + port
            + ": cannot listen on "
            + host
            + " ("
            + reason
            + "): "
            + (reason.contains("in use")
                ? "free the port or choose another"
                : "configure an address of this host and a port that this user may open"),
        cause);
  }

  /** Creates daemon threads for the sockets. */
  public EventLoopGroup eventLoops(String threadName, int threads) {
    return new MultiThreadIoEventLoopGroup(
        threads, new DefaultThreadFactory(threadName, true), handlers());
  }
}
