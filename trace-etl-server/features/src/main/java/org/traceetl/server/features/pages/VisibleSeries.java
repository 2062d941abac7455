package org.traceetl.server.features.pages;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.traceetl.server.expose.LabelText;
import org.traceetl.server.http.Access;

/**
 * Writes the lines of a page in text that one may see: samples of visible applications, and headers
 * of families that have such samples. Lines whose labels do not name an application are left out.
 * Not thread-safe.
 */
final class VisibleSeries extends OutputStream {
  private static final int INITIAL_BYTES = 1_024;
  private static final int MAX_REMEMBERED = 10_000;

  /** Each family begins with it. */
  private static final byte[] HELP = "# HELP ".getBytes(UTF_8);

  private static final String CLIENT = "client";
  private static final String SERVER = "server";
  private static final String TYPE = "connection_type";

  /** Types of edges of which one end sends no spans. */
  private static final Set<String> VIRTUAL = Set.of("database", "virtual_node");

  private final Access access;
  private final boolean ofEdges;
  private final ByteArrayOutputStream out;
  private final long maxBytes;
  private final ByteArrayOutputStream header = new ByteArrayOutputStream(INITIAL_BYTES);

  /** Whether an application is visible. */
  private final Map<String, Boolean> known = new HashMap<>();

  private byte[] line = new byte[INITIAL_BYTES];
  private int length;
  private boolean inHeader;

  /** Where the value of the last label that was read ends, at its quote. */
  private int valueEnd;

  /**
   * @param ofEdges whether the lines are of edges, which have the labels {@code client} and {@code
   *     server}; those of spans have the application as their first label
   * @param maxBytes of all that {@code out} receives, approximately
   */
  VisibleSeries(Access access, boolean ofEdges, ByteArrayOutputStream out, long maxBytes) {
    this.access = access;
    this.ofEdges = ofEdges;
    this.out = out;
    this.maxBytes = maxBytes;
  }

  @Override
  public void write(int octet) throws IOException {
    write(new byte[] {(byte) octet}, 0, 1);
  }

  /** Lines may begin and end in any array. */
  @Override
  public void write(byte[] bytes, int from, int count) {
    int end = from + count;
    int begin = from;
    for (int at = from; at < end; at++) {
      if (bytes[at] == '\n') {
        append(bytes, begin, at + 1);
        endLine();
        begin = at + 1;
      }
    }
    append(bytes, begin, end);
  }

  private void append(byte[] bytes, int begin, int end) {
    if (length + end - begin > line.length) {
      line = Arrays.copyOf(line, Math.max(2 * line.length, length + end - begin));
    }
    System.arraycopy(bytes, begin, line, length, end - begin);
    length += end - begin;
  }

  private void endLine() {
    if (line[0] == '#') {
      // A family may have no sample on the page.
      if (!inHeader
          || Arrays.equals(line, 0, Math.min(length, HELP.length), HELP, 0, HELP.length)) {
        header.reset();
      }
      inHeader = true;
      header.write(line, 0, length);
    } else {
      inHeader = false;
      if (isVisible()) {
        if (out.size() > maxBytes) {
          throw new IllegalStateException(
              "the series that you may see exceed "
                  + maxBytes
                  + " bytes: scrape them in several shards, with parameter shard");
        }
        out.writeBytes(header.toByteArray());
        header.reset();
        out.write(line, 0, length);
      }
    }
    length = 0;
  }

  private boolean isVisible() {
    int at = labels();
    if (at < 0) {
      return false;
    }
    return ofEdges ? isVisibleEdge(at) : sees(value(at));
  }

  /** Returns where the first label begins; negative without labels. */
  private int labels() {
    int brace = 0;
    while (line[brace] != '{') {
      if (line[brace] == '\n' || line[brace] == ' ') {
        return -1;
      }
      brace++;
    }
    // A name that has to be quoted is in the braces, before the labels.
    int at = brace == 0 ? LabelText.valueEnd(line, 2) + 2 : brace + 1;
    return at < length && line[at - 1] != '}' && line[at] != '}' ? at : -1;
  }

  /** Returns the value of the label that begins at a position. */
  private String value(int at) {
    int begin = LabelText.nameEnd(line, at) + 2;
    valueEnd = LabelText.valueEnd(line, begin);
    String escaped = new String(line, begin, valueEnd - begin, UTF_8);
    return escaped.indexOf('\\') < 0 ? escaped : unescaped(escaped);
  }

  private static String unescaped(String text) {
    var plain = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\\') {
        i++;
        c = text.charAt(i) == 'n' ? '\n' : text.charAt(i);
      }
      plain.append(c);
    }
    return plain.toString();
  }

  private boolean sees(String application) {
    Boolean visible = known.get(application);
    if (visible == null) {
      visible = access.sees(application);
      if (known.size() < MAX_REMEMBERED) {
        known.put(application, visible);
      }
    }
    return visible;
  }

  private boolean isVisibleEdge(int first) {
    String client = null;
    String server = null;
    String type = null;
    int at = first;
    while (true) {
      String name = new String(line, at, LabelText.nameEnd(line, at) - at, UTF_8);
      String value = value(at);
      switch (name) {
        case CLIENT -> client = value;
        case SERVER -> server = value;
        case TYPE -> type = value;
        default -> {}
      }
      if (line[valueEnd + 1] != ',') {
        return access.seesEdge(client, server, type != null && VIRTUAL.contains(type));
      }
      at = valueEnd + 2;
    }
  }
}
