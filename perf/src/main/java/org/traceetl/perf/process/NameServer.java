package org.traceetl.perf.process;

import org.apache.rocketmq.common.MQVersion;
import org.apache.rocketmq.common.namesrv.NamesrvConfig;
import org.apache.rocketmq.namesrv.NamesrvController;
import org.apache.rocketmq.remoting.netty.NettyServerConfig;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/** RocketMQ's name server as a program. RocketMQ's own start class needs its Raft controller. */
public final class NameServer {
  private NameServer() {}

  /**
   * Runs until it is killed.
   *
   * @param arguments port, directory for its files, and address to listen on
   */
  public static void main(String... arguments) throws Exception {
    System.setProperty(
        RemotingCommand.REMOTING_VERSION_KEY, Integer.toString(MQVersion.CURRENT_VERSION));
    NamesrvConfig config = new NamesrvConfig();
    config.setRocketmqHome(arguments[1]);
    config.setKvConfigPath(arguments[1] + "/kvConfig.json");
    config.setConfigStorePath(arguments[1] + "/namesrv.properties");
    NettyServerConfig server = new NettyServerConfig();
    server.setBindAddress(arguments[2]);
    server.setListenPort(Integer.parseInt(arguments[0]));
    NamesrvController nameServer = new NamesrvController(config, server);
    if (!nameServer.initialize()) {
      throw new IllegalStateException("the name server did not initialise; see " + arguments[1]);
    }
    nameServer.start();
    System.out.println("name server on port " + arguments[0]);
  }
}
