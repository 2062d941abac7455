package org.traceetl.server.rocketmq;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.RemotingSysResponseCode;
import org.apache.rocketmq.remoting.protocol.RequestCode;

/**
 * Asks brokers before RocketMQ 5 for messages as they understand it. The client's kind of consumer
 * has a request code of its own since 5, which differs for a broker in the threads that answer it
 * alone. A broker that does not know it is asked by the former one from then on. Any thread.
 */
final class OlderBrokers implements RPCHook {
  /** What signs requests; null where brokers ask for nothing. */
  private final RPCHook credentials;

  private final Set<String> addresses = ConcurrentHashMap.newKeySet();

  OlderBrokers(RPCHook credentials) {
    this.credentials = credentials;
  }

  @Override
  public void doBeforeRequest(String address, RemotingCommand request) {
    if (request.getCode() == RequestCode.LITE_PULL_MESSAGE && addresses.contains(address)) {
      request.setCode(RequestCode.PULL_MESSAGE);
    }
    if (credentials != null) {
      credentials.doBeforeRequest(address, request);
    }
  }

  @Override
  public void doAfterResponse(String address, RemotingCommand request, RemotingCommand response) {
    if (request.getCode() == RequestCode.LITE_PULL_MESSAGE
        && response != null
        && response.getCode() == RemotingSysResponseCode.REQUEST_CODE_NOT_SUPPORTED) {
      addresses.add(address);
    }
    if (credentials != null) {
      credentials.doAfterResponse(address, request, response);
    }
  }
}
