package org.traceetl.server.features.push;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.airlift.compress.v3.snappy.SnappyJavaDecompressor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Reads requests by the library of Protocol Buffers and the schemas of Remote Write 2.0 and 1.0.
 * Refuses unknown fields.
 */
final class WriteMessages {
  private static final Descriptor V2 = v2();
  private static final Descriptor V1 = v1();

  private WriteMessages() {}

  /**
   * One series of a request.
   *
   * @param labels in the order of the request, as {@code name=value}
   * @param values samples as {@code value@time}, with {@code >start} if it is known
   * @param histograms in the same form; the value is the message without its times
   */
  record Series(
      List<String> labels,
      List<String> values,
      List<String> histograms,
      List<String> exemplars,
      String metadata) {
    String name() {
      return label("__name__");
    }

    String label(String name) {
      return labels.stream()
          .filter(label -> label.startsWith(name + "="))
          .map(label -> label.substring(name.length() + 1))
          .findFirst()
          .orElse(null);
    }
  }

  static byte[] decompress(byte[] body, int length) {
    var snappy = new SnappyJavaDecompressor();
    byte[] out = new byte[snappy.getUncompressedLength(body, 0)];
    int size = snappy.decompress(body, 0, length, out, 0, out.length);
    return Arrays.copyOf(out, size);
  }

  static List<Series> read(boolean isV2, byte[] message) {
    return isV2 ? readV2(message) : readV1(message);
  }

  static List<Series> readV2(byte[] message) {
    DynamicMessage request = parse(V2, message);
    List<String> symbols = new ArrayList<>();
    for (Object symbol : list(request, "symbols")) {
      symbols.add((String) symbol);
    }
    if (!symbols.getFirst().isEmpty()) {
      throw new IllegalArgumentException("the first symbol must be empty: " + symbols.getFirst());
    }
    List<Series> all = new ArrayList<>();
    for (Object each : list(request, "timeseries")) {
      Message series = (Message) each;
      List<String> exemplars = new ArrayList<>();
      for (Object exemplar : list(series, "exemplars")) {
        exemplars.add(
            labels(symbols, list((Message) exemplar, "labels_refs"))
                + " "
                + times((Message) exemplar, "value"));
      }
      Message metadata = (Message) get(series, "metadata");
      all.add(
          new Series(
              labels(symbols, list(series, "labels_refs")),
              samples(series),
              histograms(series),
              exemplars,
              get(metadata, "type")
                  + " "
                  + symbols.get((Integer) get(metadata, "help_ref"))
                  + "|"
                  + symbols.get((Integer) get(metadata, "unit_ref"))));
    }
    return all;
  }

  static List<Series> readV1(byte[] message) {
    DynamicMessage request = parse(V1, message);
    Map<String, String> metadata = new TreeMap<>();
    for (Object each : list(request, "metadata")) {
      Message one = (Message) each;
      metadata.put(
          (String) get(one, "metric_family_name"),
          get(one, "type") + " " + get(one, "help") + "|" + get(one, "unit"));
    }
    List<Series> all = new ArrayList<>();
    for (Object each : list(request, "timeseries")) {
      Message series = (Message) each;
      List<String> exemplars = new ArrayList<>();
      for (Object exemplar : list(series, "exemplars")) {
        exemplars.add(
            labels(list((Message) exemplar, "labels")) + " " + times((Message) exemplar, "value"));
      }
      List<String> labels = labels(list(series, "labels"));
      Series one = new Series(labels, samples(series), histograms(series), exemplars, "");
      String family = one.name().replaceAll("_(bucket|sum|count)$", "");
      all.add(
          new Series(
              labels, one.values, one.histograms, exemplars, String.valueOf(metadata.get(family))));
    }
    return all;
  }

  private static List<String> samples(Message series) {
    List<String> samples = new ArrayList<>();
    for (Object sample : list(series, "samples")) {
      samples.add(times((Message) sample, "value"));
    }
    return samples;
  }

  private static List<String> histograms(Message series) {
    List<String> histograms = new ArrayList<>();
    for (Object each : list(series, "histograms")) {
      Message histogram = (Message) each;
      List<String> spans = new ArrayList<>();
      for (Object span : list(histogram, "positive_spans")) {
        spans.add(get((Message) span, "offset") + ":" + get((Message) span, "length"));
      }
      histograms.add(
          "count=%s zero=%s schema=%s threshold=%s spans=%s deltas=%s sum=%s"
              .formatted(
                  get(histogram, "count_int"),
                  get(histogram, "zero_count_int"),
                  get(histogram, "schema"),
                  get(histogram, "zero_threshold"),
                  spans,
                  list(histogram, "positive_deltas"),
                  times(histogram, "sum")));
    }
    return histograms;
  }

  private static String times(Message message, String value) {
    double number = (Double) get(message, value);
    String text =
        Double.doubleToRawLongBits(number) == RemoteWriteEncoder.STALE_BITS
            ? "stale"
            : Double.toString(number);
    FieldDescriptor start = message.getDescriptorForType().findFieldByName("start_timestamp");
    long startMillis = start == null ? 0 : (Long) message.getField(start);
    return text + "@" + get(message, "timestamp") + (startMillis == 0 ? "" : ">" + startMillis);
  }

  private static List<String> labels(List<String> symbols, List<?> refs) {
    List<String> labels = new ArrayList<>();
    for (int i = 0; i < refs.size(); i += 2) {
      labels.add(symbols.get((Integer) refs.get(i)) + "=" + symbols.get((Integer) refs.get(i + 1)));
    }
    return labels;
  }

  private static List<String> labels(List<?> messages) {
    return messages.stream()
        .map(label -> get((Message) label, "name") + "=" + get((Message) label, "value"))
        .toList();
  }

  private static Object get(Message message, String field) {
    return message.getField(message.getDescriptorForType().findFieldByName(field));
  }

  private static List<?> list(Message message, String field) {
    return (List<?>) get(message, field);
  }

  private static DynamicMessage parse(Descriptor type, byte[] message) {
    try {
      DynamicMessage parsed = DynamicMessage.parseFrom(type, message);
      checkKnown(parsed);
      return parsed;
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static void checkKnown(Message message) {
    if (!message.getUnknownFields().asMap().isEmpty()) {
      throw new IllegalArgumentException("unknown fields: " + message.getUnknownFields());
    }
    message
        .getAllFields()
        .forEach((field, value) -> {
          if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
            if (field.isRepeated()) {
              ((List<?>) value).forEach(each -> checkKnown((Message) each));
            } else {
              checkKnown((Message) value);
            }
          }
        });
  }

  private static Descriptor v2() {
    DescriptorProto.Builder request = message("Request");
    many(request, "symbols", 4, Type.TYPE_STRING, null);
    many(request, "timeseries", 5, Type.TYPE_MESSAGE, "TimeSeries");
    DescriptorProto.Builder series = message("TimeSeries");
    many(series, "labels_refs", 1, Type.TYPE_UINT32, null);
    many(series, "samples", 2, Type.TYPE_MESSAGE, "Sample");
    many(series, "histograms", 3, Type.TYPE_MESSAGE, "Histogram");
    many(series, "exemplars", 4, Type.TYPE_MESSAGE, "Exemplar");
    one(series, "metadata", 5, Type.TYPE_MESSAGE, "Metadata");
    DescriptorProto.Builder sample = message("Sample");
    one(sample, "value", 1, Type.TYPE_DOUBLE, null);
    one(sample, "timestamp", 2, Type.TYPE_INT64, null);
    one(sample, "start_timestamp", 3, Type.TYPE_INT64, null);
    DescriptorProto.Builder exemplar = message("Exemplar");
    many(exemplar, "labels_refs", 1, Type.TYPE_UINT32, null);
    one(exemplar, "value", 2, Type.TYPE_DOUBLE, null);
    one(exemplar, "timestamp", 3, Type.TYPE_INT64, null);
    DescriptorProto.Builder metadata = message("Metadata");
    one(metadata, "type", 1, Type.TYPE_INT32, null);
    one(metadata, "help_ref", 3, Type.TYPE_UINT32, null);
    one(metadata, "unit_ref", 4, Type.TYPE_UINT32, null);
    DescriptorProto.Builder histogram = histogram();
    one(histogram, "start_timestamp", 17, Type.TYPE_INT64, null);
    return file("v2", request, series, sample, exemplar, metadata, histogram, span());
  }

  private static Descriptor v1() {
    DescriptorProto.Builder request = message("WriteRequest");
    many(request, "timeseries", 1, Type.TYPE_MESSAGE, "TimeSeries");
    many(request, "metadata", 3, Type.TYPE_MESSAGE, "MetricMetadata");
    DescriptorProto.Builder series = message("TimeSeries");
    many(series, "labels", 1, Type.TYPE_MESSAGE, "Label");
    many(series, "samples", 2, Type.TYPE_MESSAGE, "Sample");
    many(series, "exemplars", 3, Type.TYPE_MESSAGE, "Exemplar");
    many(series, "histograms", 4, Type.TYPE_MESSAGE, "Histogram");
    DescriptorProto.Builder label = message("Label");
    one(label, "name", 1, Type.TYPE_STRING, null);
    one(label, "value", 2, Type.TYPE_STRING, null);
    DescriptorProto.Builder sample = message("Sample");
    one(sample, "value", 1, Type.TYPE_DOUBLE, null);
    one(sample, "timestamp", 2, Type.TYPE_INT64, null);
    DescriptorProto.Builder exemplar = message("Exemplar");
    many(exemplar, "labels", 1, Type.TYPE_MESSAGE, "Label");
    one(exemplar, "value", 2, Type.TYPE_DOUBLE, null);
    one(exemplar, "timestamp", 3, Type.TYPE_INT64, null);
    DescriptorProto.Builder metadata = message("MetricMetadata");
    one(metadata, "type", 1, Type.TYPE_INT32, null);
    one(metadata, "metric_family_name", 2, Type.TYPE_STRING, null);
    one(metadata, "help", 4, Type.TYPE_STRING, null);
    one(metadata, "unit", 5, Type.TYPE_STRING, null);
    return file("v1", request, series, label, sample, exemplar, metadata, histogram(), span());
  }

  private static DescriptorProto.Builder histogram() {
    DescriptorProto.Builder histogram = message("Histogram");
    one(histogram, "count_int", 1, Type.TYPE_UINT64, null);
    one(histogram, "sum", 3, Type.TYPE_DOUBLE, null);
    one(histogram, "schema", 4, Type.TYPE_SINT32, null);
    one(histogram, "zero_threshold", 5, Type.TYPE_DOUBLE, null);
    one(histogram, "zero_count_int", 6, Type.TYPE_UINT64, null);
    many(histogram, "positive_spans", 11, Type.TYPE_MESSAGE, "BucketSpan");
    many(histogram, "positive_deltas", 12, Type.TYPE_SINT64, null);
    one(histogram, "timestamp", 15, Type.TYPE_INT64, null);
    return histogram;
  }

  private static DescriptorProto.Builder span() {
    DescriptorProto.Builder span = message("BucketSpan");
    one(span, "offset", 1, Type.TYPE_SINT32, null);
    one(span, "length", 2, Type.TYPE_UINT32, null);
    return span;
  }

  private static DescriptorProto.Builder message(String name) {
    return DescriptorProto.newBuilder().setName(name);
  }

  private static void one(
      DescriptorProto.Builder in, String name, int number, Type type, String message) {
    in.addField(field(name, number, type, message).setLabel(Label.LABEL_OPTIONAL));
  }

  private static void many(
      DescriptorProto.Builder in, String name, int number, Type type, String message) {
    in.addField(field(name, number, type, message).setLabel(Label.LABEL_REPEATED));
  }

  private static FieldDescriptorProto.Builder field(
      String name, int number, Type type, String message) {
    FieldDescriptorProto.Builder field =
        FieldDescriptorProto.newBuilder().setName(name).setNumber(number).setType(type);
    return message == null ? field : field.setTypeName(message);
  }

  private static Descriptor file(String name, DescriptorProto.Builder... messages) {
    FileDescriptorProto.Builder file =
        FileDescriptorProto.newBuilder().setName(name).setPackage(name).setSyntax("proto3");
    for (DescriptorProto.Builder message : messages) {
      file.addMessageType(message);
    }
    try {
      return Descriptors.FileDescriptor.buildFrom(file.build(), new Descriptors.FileDescriptor[0])
          .getMessageTypes()
          .getFirst();
    } catch (Descriptors.DescriptorValidationException e) {
      throw new IllegalStateException(e);
    }
  }
}
