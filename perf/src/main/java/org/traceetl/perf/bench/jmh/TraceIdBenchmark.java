package org.traceetl.perf.bench.jmh;

import io.opentelemetry.api.internal.OtelEncodingUtils;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.traceetl.proto.SpanId;
import org.traceetl.proto.TraceId;

/**
 * Compares representations of a trace ID, parsed from text and formatted; time per ID. X-Ray's text
 * becomes a number and a BigInteger, or two strings of hex digits. W3C's uses OpenTelemetry's
 * tables, a table of digit pairs, or two longs, with shifts and as {@link TraceId} does on this
 * processor. OTLP's has 16 bytes. All parsers except BigInteger's and OpenTelemetry's check that
 * the digits are hex. Texts that are strings exist before the measurement.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class TraceIdBenchmark {
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
  public long parsePairs() {
    byte[] digits = hex[next()];
    return Pairs.parse(digits, 0) ^ Pairs.parse(digits, SpanId.HEX_LENGTH);
  }

  @Benchmark
  public byte[] formatPairs() {
    int i = next();
    Pairs.write(high[i], out, 0);
    Pairs.write(low[i], out, SpanId.HEX_LENGTH);
    return out;
  }

  @Benchmark
  public long parseShifts() {
    byte[] digits = hex[next()];
    return TraceId.isHex(digits, 0)
        ? Shifts.parse(digits, 0) ^ Shifts.parse(digits, SpanId.HEX_LENGTH)
        : -1;
  }

  @Benchmark
  public byte[] formatShifts() {
    int i = next();
    Shifts.write(high[i], out, 0);
    Shifts.write(low[i], out, SpanId.HEX_LENGTH);
    return out;
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
  public String formatTraceIdToString() {
    int i = next();
    return TraceId.toHex(high[i], low[i]);
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

  /** Two digits at a time, by tables of 128 KiB and 512 bytes. */
  private static final class Pairs {
    private static final VarHandle SHORT =
        MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
    private static final int NONE = 0x100;
    private static final short[] VALUES = new short[1 << 16];
    private static final short[] DIGITS = new short[1 << 8];

    static {
      Arrays.fill(VALUES, (short) NONE);
      for (int value = 0; value < DIGITS.length; value++) {
        String digits = "%02x".formatted(value);
        DIGITS[value] = (short) (digits.charAt(0) << 8 | digits.charAt(1));
        VALUES[DIGITS[value] & 0xffff] = (short) value;
      }
    }

    private Pairs() {}

    static long parse(byte[] in, int offset) {
      long value = 0;
      int all = 0;
      for (int at = offset; at < offset + SpanId.HEX_LENGTH; at += 2) {
        int pair = VALUES[(short) SHORT.get(in, at) & 0xffff];
        all |= pair;
        value = value << 8 | pair;
      }
      return all < NONE ? value : -1;
    }

    static void write(long id, byte[] out, int offset) {
      for (int i = 0; i < Long.BYTES; i++) {
        SHORT.set(out, offset + 2 * i, DIGITS[(int) (id >>> Long.SIZE - 8 - 8 * i) & 0xff]);
      }
    }
  }

  /** The code of {@link SpanId} for processors without an instruction that moves bits. */
  private static final class Shifts {
    private static final long EACH_BYTE = 0x0101_0101_0101_0101L;
    private static final long LOW_NIBBLES = 0x0f0f_0f0f_0f0f_0f0fL;

    private Shifts() {}

    static long parse(byte[] in, int offset) {
      return valueOfDigits((long) LONG.get(in, offset)) << 32
          | valueOfDigits((long) LONG.get(in, offset + Long.BYTES));
    }

    static void write(long id, byte[] out, int offset) {
      LONG.set(out, offset, digitsOf(id >>> 32));
      LONG.set(out, offset + Long.BYTES, digitsOf(id & 0xffff_ffffL));
    }

    private static long valueOfDigits(long digits) {
      long letters = digits >>> 6 & EACH_BYTE;
      long nibbles = (digits | letters << 5) - letters * ('a' - '0' - 10) & LOW_NIBBLES;
      nibbles = (nibbles | nibbles >>> 4) & 0x00ff_00ff_00ff_00ffL;
      nibbles = (nibbles | nibbles >>> 8) & 0x0000_ffff_0000_ffffL;
      return (nibbles | nibbles >>> 16) & 0xffff_ffffL;
    }

    private static long digitsOf(long value) {
      long nibbles = (value | value << 16) & 0x0000_ffff_0000_ffffL;
      nibbles = (nibbles | nibbles << 8) & 0x00ff_00ff_00ff_00ffL;
      nibbles = (nibbles | nibbles << 4) & LOW_NIBBLES;
      long letters = nibbles + 6 * EACH_BYTE >>> 4 & EACH_BYTE;
      return nibbles + '0' * EACH_BYTE + letters * ('a' - '0' - 10);
    }
  }
}
