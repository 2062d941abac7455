package org.traceetl.agent.source.otlp;

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
import jdk.net.ExtendedSocketOptions;

/** How sockets are read: epoll where its native library loads, else NIO. */
enum Transport {
  EPOLL {
    @Override
    IoHandlerFactory handlers() {
      return EpollIoHandler.newFactory();
    }

    @Override
    ChannelFactory<ServerChannel> serverChannels() {
      return EpollServerSocketChannel::new;
    }

    @Override
    ChannelOption<Boolean> quickAck() {
      return EpollChannelOption.TCP_QUICKACK;
    }
  },
  NIO {
    @Override
    IoHandlerFactory handlers() {
      return NioIoHandler.newFactory();
    }

    @Override
    ChannelFactory<ServerChannel> serverChannels() {
      return NioServerSocketChannel::new;
    }

    @Override
    ChannelOption<Boolean> quickAck() {
      return NioChannelOption.of(ExtendedSocketOptions.TCP_QUICKACK);
    }
  };

  static Transport best() {
    return Epoll.isAvailable() ? EPOLL : NIO;
  }

  abstract IoHandlerFactory handlers();

  abstract ChannelFactory<ServerChannel> serverChannels();

  abstract ChannelOption<Boolean> quickAck();

  EventLoopGroup eventLoops(int threads) {
    return new MultiThreadIoEventLoopGroup(
        threads, new DefaultThreadFactory("otlp-io", true), handlers());
  }
}
