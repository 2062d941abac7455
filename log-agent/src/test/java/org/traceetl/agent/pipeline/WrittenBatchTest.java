package org.traceetl.agent.pipeline;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.spool.InconsistentBatchException;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.proto.SpanBatchWriter;

class WrittenBatchTest {
  private static final AgentIdentity AGENT = new AgentIdentity(7, 8, 3);

  private final WrittenBatch written = new WrittenBatch();

  private static byte[] body() {
    SpanBatchWriter writer = new SpanBatchWriter();
    writer.begin();
    byte[] name = {'p', 'a', 'y'};
    writer.application(writer.intern(name, 0, name.length));
    writer.startSpan(1, 2, 3, 0, writer.intern(name, 0, name.length), 2, 0, 1, 1, 0);
    writer.endSpan();
    return Arrays.copyOf(writer.buffer(), writer.finish(7, 8, 3, 5));
  }

  @Test
  void aBatchReadsAsItWasWritten() {
    assertThatCode(() -> written.requireReadable(body(), AGENT, 5, 1)).doesNotThrowAnyException();
  }

  @Test
  void aBatchWithAnotherNameIsFound() {
    assertFound(body(), new AgentIdentity(6, 8, 3), 5, 1);
    assertFound(body(), new AgentIdentity(7, 9, 3), 5, 1);
    assertFound(body(), new AgentIdentity(7, 8, 4), 5, 1);
    assertFound(body(), AGENT, 6, 1);
    assertFound(body(), AGENT, 5, 2);
  }

  @Test
  void aBatchThatTheServerWouldRejectIsFound() {
    assertFound(Arrays.copyOf(body(), 20), AGENT, 5, 1);
  }

  private void assertFound(byte[] body, AgentIdentity agent, long sequence, int spans) {
    assertThatThrownBy(() -> written.requireReadable(body, agent, sequence, spans))
        .isInstanceOf(InconsistentBatchException.class);
  }
}
