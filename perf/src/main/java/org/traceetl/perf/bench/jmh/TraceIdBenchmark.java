package org.traceetl.perf.bench.jmh;

import io.opentelemetry.api.internal.OtelEncodingUtils;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Random;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.traceetl.proto.SpanId;
import org.traceetl.proto.TraceId;

/**
 * Compares representations of a trace ID, parsed from text and formatted; time per ID. X-Ray's text
 * becomes a number and a BigInteger, or two strings of hex digits. W3C's uses OpenTelemetry's
 * tables, or two longs as in {@link TraceId}. OTLP's has 16 bytes. All parsers except BigInteger's
 * and OpenTelemetry's check that the digits are hex. Texts that are strings exist before the
 * measurement.
 */
@Fork(2)
public class TraceIdBenchmark extends StepBenchmark {
  /** Enough IDs to defeat branch prediction on digits, few enough for the L1 cache. */
  private static final int IDS = 256;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private static final int XRAY_LENGTH = 35;
  private static final int XRAY_TIME = 2;
  private static final int XRAY_NUMBER = 11;

  private final XrayNumber[] xrayNumbers = new XrayNumber[IDS];
  private final XrayText[] xrayTexts = new XrayText[IDS];
  private final String[] xray = new String[IDS];
  private final String[] w3c = new String[IDS];
  private final byte[][] hex = new byte[IDS][];
  private final byte[][] binary = new byte[IDS][Long.BYTES * 2];
  private final long[] high = new long[IDS];
  private final long[] low = new long[IDS];
  private final byte[] out = new byte[TraceId.HEX_LENGTH];
  private final byte[] outBinary = new byte[Long.BYTES * 2];
  private int next;

  public TraceIdBenchmark() {
    Random random = new Random(1);
    for (int i = 0; i < IDS; i++) {
      random.nextBytes(binary[i]);
      binary[i][0] &= 0x7f; // X-Ray's time is a positive int
      high[i] = (long) LONG.get(binary[i], 0);
      low[i] = (long) LONG.get(binary[i], Long.BYTES);
      w3c[i] = HexFormat.of().formatHex(binary[i]);
      hex[i] = w3c[i].getBytes(StandardCharsets.ISO_8859_1);
      xray[i] = "1-" + w3c[i].substring(0, 8) + "-" + w3c[i].substring(8);
      xrayNumbers[i] = XrayNumber.parse(xray[i]);
      xrayTexts[i] = XrayText.parse(xray[i]);
    }
  }

  private int next() {
    return next++ & (IDS - 1);
  }

  @Benchmark
  public Object parseBigInteger() {
    return XrayNumber.parse(xray[next()]);
  }

  @Benchmark
  public String formatBigInteger() {
    return xrayNumbers[next()].toString();
  }

  @Benchmark
  public Object parseHexFields() {
    return XrayText.parse(xray[next()]);
  }

  @Benchmark
  public String formatHexFields() {
    return xrayTexts[next()].toString();
  }

  @Benchmark
  public byte[] parseOpenTelemetry() {
    return OtelEncodingUtils.bytesFromBase16(w3c[next()], TraceId.HEX_LENGTH);
  }

  @Benchmark
  public String formatOpenTelemetry() {
    int i = next();
    return io.opentelemetry.api.trace.TraceId.fromLongs(high[i], low[i]);
  }

  @Benchmark
  public long parseTraceId() {
    byte[] digits = hex[next()];
    return TraceId.isHex(digits, 0)
        ? SpanId.parseHex(digits, 0) ^ SpanId.parseHex(digits, SpanId.HEX_LENGTH)
        : -1;
  }

  @Benchmark
  public byte[] formatTraceId() {
    int i = next();
    TraceId.writeHex(high[i], low[i], out, 0);
    return out;
  }

  @Benchmark
  public long parseBinary() {
    byte[] bytes = binary[next()];
    return (long) LONG.get(bytes, 0) ^ (long) LONG.get(bytes, Long.BYTES);
  }

  @Benchmark
  public byte[] formatBinary() {
    int i = next();
    LONG.set(outBinary, 0, high[i]);
    LONG.set(outBinary, Long.BYTES, low[i]);
    return outBinary;
  }

  /** The X-Ray SDK's form before its pull request 212: parts are split and parsed as numbers. */
  private record XrayNumber(long seconds, BigInteger number) {
    static XrayNumber parse(String text) {
      String[] parts = text.trim().split("-", -1);
      return new XrayNumber(Long.decode("0x" + parts[1]), new BigInteger(parts[2], 16));
    }

    @Override
    public String toString() {
      String digits = number.toString(16);
      return "1-"
          + Long.toHexString(seconds)
          + '-'
          + "0".repeat(XRAY_LENGTH - XRAY_NUMBER - digits.length())
          + digits;
    }
  }

  /** The form since then: digits are checked, and kept as text. */
  private record XrayText(String seconds, String number) {
    private static final boolean[] HEX = new boolean[128];

    static {
      for (char digit : "0123456789abcdefABCDEF".toCharArray()) {
        HEX[digit] = true;
      }
    }

    static XrayText parse(String text) {
      String trimmed = text.trim();
      if (trimmed.length() != XRAY_LENGTH
          || trimmed.charAt(0) != '1'
          || trimmed.charAt(XRAY_TIME - 1) != '-'
          || trimmed.charAt(XRAY_NUMBER - 1) != '-') {
        throw new IllegalArgumentException(text);
      }
      String seconds = trimmed.substring(XRAY_TIME, XRAY_NUMBER - 1);
      String number = trimmed.substring(XRAY_NUMBER);
      if (!isHex(seconds) || !isHex(number)) {
        throw new IllegalArgumentException(text);
      }
      return new XrayText(seconds, number);
    }

    private static boolean isHex(String text) {
      for (int i = 0; i < text.length(); i++) {
        char digit = text.charAt(i);
        if (digit >= HEX.length || !HEX[digit]) {
          return false;
        }
      }
      return true;
    }

    @Override
    public String toString() {
      return "1-" + seconds + '-' + number;
    }
  }
}
