package org.traceetl.server.rocketmq;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.RemotingSysResponseCode;
import org.apache.rocketmq.remoting.protocol.RequestCode;
import org.junit.jupiter.api.Test;

final class OlderBrokersTest {
  private final OlderBrokers hook = new OlderBrokers(null);

  @Test
  void aBrokerIsAskedByTheFormerCodeOnceItDidNotKnowTheOther() {
    assertThat(asked("old:10911", RequestCode.LITE_PULL_MESSAGE))
        .isEqualTo(RequestCode.LITE_PULL_MESSAGE);
    answered(
        "old:10911",
        RequestCode.LITE_PULL_MESSAGE,
        RemotingSysResponseCode.REQUEST_CODE_NOT_SUPPORTED);
    answered("new:10911", RequestCode.LITE_PULL_MESSAGE, RemotingSysResponseCode.SUCCESS);
    answered(
        "other:10911",
        RequestCode.SEND_MESSAGE,
        RemotingSysResponseCode.REQUEST_CODE_NOT_SUPPORTED);

    assertThat(asked("old:10911", RequestCode.LITE_PULL_MESSAGE))
        .isEqualTo(RequestCode.PULL_MESSAGE);
    assertThat(asked("old:10911", RequestCode.SEND_MESSAGE)).isEqualTo(RequestCode.SEND_MESSAGE);
    for (String address : List.of("new:10911", "other:10911")) {
      assertThat(asked(address, RequestCode.LITE_PULL_MESSAGE))
          .as(address)
          .isEqualTo(RequestCode.LITE_PULL_MESSAGE);
    }
  }

  @Test
  void whatSignsRequestsSeesEach() {
    List<String> seen = new ArrayList<>();
    var signing =
        new OlderBrokers(
            new RPCHook() {
              @Override
              public void doBeforeRequest(String address, RemotingCommand request) {
                seen.add("before " + address);
              }

              @Override
              public void doAfterResponse(
                  String address, RemotingCommand request, RemotingCommand response) {
                seen.add("after " + address);
              }
            });
    RemotingCommand request =
        RemotingCommand.createRequestCommand(RequestCode.LITE_PULL_MESSAGE, null);
    signing.doBeforeRequest("a", request);
    signing.doAfterResponse("a", request, null);
    assertThat(seen).containsExactly("before a", "after a");
  }

  private int asked(String address, int code) {
    RemotingCommand request = RemotingCommand.createRequestCommand(code, null);
    hook.doBeforeRequest(address, request);
    return request.getCode();
  }

  private void answered(String address, int code, int answer) {
    hook.doAfterResponse(
        address,
        RemotingCommand.createRequestCommand(code, null),
        RemotingCommand.createResponseCommand(answer, ""));
  }
}
