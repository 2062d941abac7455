package org.traceetl.perf.bench;

import com.google.protobuf.CodedOutputStream;
import io.airlift.compress.v3.snappy.SnappyJavaCompressor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Writes requests of Remote Write with one sample a series. */
final class WriteRequests {
  private WriteRequests() {}

  /**
   * A series with a sample.
   *
   * @param labels names and values in turn
   */
  record Series(List<String> labels, double value, long atMillis) {}

  static byte[] v1(Series... series) {
    return snappy(request -> {
      for (Series one : series) {
        request.writeByteArray(
            1,
            message(out -> {
              for (int i = 0; i < one.labels.size(); i += 2) {
                int at = i;
                out.writeByteArray(
                    1,
                    message(label -> {
                      label.writeString(1, one.labels.get(at));
                      label.writeString(2, one.labels.get(at + 1));
                    }));
              }
              out.writeByteArray(2, sample(one));
            }));
      }
      request.writeByteArray(3, message(metadata -> metadata.writeString(2, "family")));
    });
  }

  static byte[] v2(Series... series) {
    List<String> symbols = new ArrayList<>(List.of(""));
    for (Series one : series) {
      one.labels.stream().filter(label -> !symbols.contains(label)).forEach(symbols::add);
    }
    return snappy(request -> {
      for (String symbol : symbols) {
        request.writeString(4, symbol);
      }
      for (Series one : series) {
        request.writeByteArray(
            5,
            message(out -> {
              out.writeByteArray(
                  1,
                  message(refs -> {
                    for (String label : one.labels) {
                      refs.writeUInt32NoTag(symbols.indexOf(label));
                    }
                  }));
              out.writeByteArray(2, sample(one));
            }));
      }
    });
  }

  private static byte[] sample(Series series) {
    return message(out -> {
      out.writeDouble(1, series.value);
      out.writeInt64(2, series.atMillis);
    });
  }

  private static byte[] snappy(Fields fields) {
    byte[] message = message(fields);
    var snappy = new SnappyJavaCompressor();
    byte[] body = new byte[snappy.maxCompressedLength(message.length)];
    int length = snappy.compress(message, 0, message.length, body, 0, body.length);
    return Arrays.copyOf(body, length);
  }

  private interface Fields {
    void write(CodedOutputStream out) throws IOException;
  }

  private static byte[] message(Fields fields) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    try {
      fields.write(out);
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }
}
