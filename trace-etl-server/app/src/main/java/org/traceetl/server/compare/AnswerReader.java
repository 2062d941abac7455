package org.traceetl.server.compare;

import com.google.common.primitives.Doubles;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads an answer of the query API series by series, so that an answer of any size needs the memory
 * of one series.
 */
final class AnswerReader {
  /** Receives the series of an answer. */
  interface Sink {
    /**
     * Receives a series.
     *
     * @param labels without the name of the metric
     * @param samples valid during the call
     * @throws IOException if there are too many series
     */
    void series(SortedMap<String, String> labels, Samples samples) throws IOException;
  }

  private static final int MAX_LABEL_CHARS = 64 * 1024;
  private static final int MAX_WARNINGS = 5;
  private static final int MAX_DEPTH = 20;
  private static final String NOT_PROMETHEUS = "the answer is not one of the Prometheus query API";

  private final JsonMapper json;
  private final Samples samples = new Samples();
  private final List<String> warnings = new ArrayList<>();

  /**
   * @param maxBytes longest answer
   */
  AnswerReader(long maxBytes) {
    json =
        new JsonMapper(
            JsonFactory.builder()
                .streamReadConstraints(
                    StreamReadConstraints.builder()
                        .maxDocumentLength(maxBytes)
                        .maxStringLength(MAX_LABEL_CHARS)
                        .maxNestingDepth(MAX_DEPTH)
                        .build())
                .build());
  }

  /**
   * Reads an answer.
   *
   * @throws IOException if it is not an answer with series, reports an error or is too large
   */
  void read(InputStream answer, Sink sink) throws IOException {
    try (JsonParser in = json.createParser(answer)) {
      String status = "";
      String error = "";
      require(in.nextToken() == JsonToken.START_OBJECT);
      while (in.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = in.currentName();
        JsonToken value = in.nextToken();
        if (name.equals("status")) {
          status = in.getValueAsString("");
        } else if (name.equals("error")) {
          error = in.getValueAsString("");
        } else if (name.equals("data") && value == JsonToken.START_OBJECT) {
          data(in, sink);
        } else if (name.equals("warnings") && value == JsonToken.START_ARRAY) {
          warnings(in);
        } else {
          in.skipChildren();
        }
      }
      if (!error.isEmpty()) {
        throw new IOException(error);
      }
      require(status.equals("success"));
    } catch (StreamConstraintsException e) {
      throw new IOException("the answer is too large: " + e.getOriginalMessage(), e);
    } catch (JacksonException e) {
      throw e.getCause() instanceof IOException failure
          ? failure
          : new IOException(NOT_PROMETHEUS, e);
    }
  }

  /** Returns the first warnings of the answers. */
  List<String> warnings() {
    return List.copyOf(warnings);
  }

  private void warnings(JsonParser in) {
    while (in.nextToken() != JsonToken.END_ARRAY) {
      String warning = in.getValueAsString("");
      if (warnings.size() < MAX_WARNINGS && !warnings.contains(warning)) {
        warnings.add(warning);
      }
      in.skipChildren();
    }
  }

  private void data(JsonParser in, Sink sink) throws IOException {
    while (in.nextToken() == JsonToken.PROPERTY_NAME) {
      boolean isResult = in.currentName().equals("result");
      if (in.nextToken() == JsonToken.START_ARRAY && isResult) {
        while (in.nextToken() != JsonToken.END_ARRAY) {
          require(in.currentToken() == JsonToken.START_OBJECT);
          series(in, sink);
        }
      } else {
        in.skipChildren();
      }
    }
  }

  private void series(JsonParser in, Sink sink) throws IOException {
    SortedMap<String, String> labels = new TreeMap<>();
    samples.clear();
    while (in.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = in.currentName();
      JsonToken value = in.nextToken();
      if (name.equals("metric") && value == JsonToken.START_OBJECT) {
        labels(in, labels);
      } else if (name.equals("values") && value == JsonToken.START_ARRAY) {
        while (in.nextToken() != JsonToken.END_ARRAY) {
          sample(in);
        }
      } else if (name.equals("value")) {
        sample(in);
      } else if (name.startsWith("histogram")) {
        throw new IOException("the metric is a native histogram; name a counter");
      } else {
        in.skipChildren();
      }
    }
    if (samples.size() > 0) {
      sink.series(Collections.unmodifiableSortedMap(labels), samples);
    }
  }

  private static void labels(JsonParser in, SortedMap<String, String> labels) throws IOException {
    int chars = 0;
    while (in.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = in.currentName();
      require(in.nextToken() == JsonToken.VALUE_STRING);
      String value = in.getString();
      chars += name.length() + value.length();
      if (chars > MAX_LABEL_CHARS) {
        throw new IOException("the answer is too large: a series has too long labels");
      }
      if (!name.equals("__name__")) {
        labels.put(name, value);
      }
    }
  }

  /** Reads a pair of a time and a value, such as {@code [1700000000.25,"42"]}. */
  private void sample(JsonParser in) throws IOException {
    require(in.currentToken() == JsonToken.START_ARRAY);
    require(in.nextToken() != null && in.currentToken().isNumeric());
    double seconds = in.getDoubleValue();
    require(in.nextToken() == JsonToken.VALUE_STRING);
    Double value = Doubles.tryParse(in.getString());
    require(in.nextToken() == JsonToken.END_ARRAY);
    samples.add(seconds, value == null ? Double.NaN : value);
  }

  private static void require(boolean isAsExpected) throws IOException {
    if (!isAsExpected) {
      throw new IOException(NOT_PROMETHEUS);
    }
  }
}
