package org.traceetl.server.rocketmq;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.RemotingSysResponseCode;
import org.apache.rocketmq.remoting.protocol.RequestCode;

/**
 * Adapts pull requests to brokers before RocketMQ 5. Since version 5 the client's consumer uses a
 * new request code, which only selects different threads of the broker. After a broker rejects the
 * code, it gets the former one. Thread-safe.
 */
final class OlderBrokers implements RPCHook {
  /** Signs requests; null if brokers require no credentials. */
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
