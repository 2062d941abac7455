package org.traceetl.server.features.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsPartialSuccess;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class OtlpAnswerTest {
  private static byte[] partial(long rejected, String message) {
    return ExportMetricsServiceResponse.newBuilder()
        .setPartialSuccess(
            ExportMetricsPartialSuccess.newBuilder()
                .setRejectedDataPoints(rejected)
                .setErrorMessage(message))
        .build()
        .toByteArray();
  }

  @Test
  void rejectedPointsAndTheReasonAreRead() {
    for (long rejected : new long[] {0, 1, 127, 128, 5_000, Long.MAX_VALUE}) {
      assertThat(OtlpAnswer.read(partial(rejected, "too old: ü")))
          .isEqualTo(new OtlpAnswer(rejected, "too old: ü"));
    }
    assertThat(OtlpAnswer.read(partial(-1, "odd"))).isEqualTo(new OtlpAnswer(0, "odd"));
    assertThat(OtlpAnswer.read(new byte[0])).isEqualTo(new OtlpAnswer(0, ""));
  }

  @Test
  void longReasonIsCutOff() {
    byte[] answer = partial(300, "duplicate ".repeat(1_000));
    OtlpAnswer read = OtlpAnswer.read(Arrays.copyOf(answer, 2_048));
    assertThat(read.rejected()).isEqualTo(300);
    assertThat(read.message()).startsWith("duplicate duplicate").hasSizeLessThan(2_048);
  }

  @Test
  void otherTextsRejectNothing() {
    for (String text : new String[] {"{\"partialSuccess\": {}}", "ok", "<html>"}) {
      assertThat(OtlpAnswer.read(text.getBytes(StandardCharsets.UTF_8)).rejected()).isZero();
    }
  }

  @Property(tries = 500)
  void anyBytesAreRead(@ForAll Random random, @ForAll byte[] bytes) {
    byte[] answer = partial(random.nextLong(), "reason");
    answer[random.nextInt(answer.length)] = (byte) random.nextInt();
    assertThat(OtlpAnswer.read(answer).rejected()).isNotNegative();
    assertThat(OtlpAnswer.read(bytes).rejected()).isNotNegative();
  }
}
