package org.traceetl.agent.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.traceetl.common.ConfigException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.dataformat.yaml.YAMLMapper;
import tools.jackson.dataformat.yaml.YAMLParser;

/**
 * One pass over a file of rules, from its first token to its last, with all that is wrong in it
 * collected, each with its line. Used once.
 */
abstract class YamlReading {
  /** A longer file is refused. */
  static final int MAX_BYTES = 1024 * 1024;

  private static final int MAX_SHOWN = 100;

  private static final YAMLMapper YAML =
      YAMLMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private final List<String> problems = new ArrayList<>();
  private JsonParser parser;

  /** Takes the value of a key, at which the reading stands. */
  interface Key {
    /**
     * Reads the value to its end.
     *
     * @param name the key within its section
     * @param key the same with the sections above it, for who is told of a problem
     * @return false when there is no such key; nothing was read then
     */
    boolean read(String name, String key);
  }

  /**
   * A file as it is now.
   *
   * @throws IOException when it cannot be read, or is longer than {@link #MAX_BYTES}
   */
  static byte[] content(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] content = in.readNBytes(MAX_BYTES + 1);
      if (content.length > MAX_BYTES) {
        throw new IOException("longer than " + MAX_BYTES + " bytes");
      }
      return content;
    }
  }

  /**
   * Reads a document whose keys are these.
   *
   * @param known names of the keys, for who is told that one is not
   */
  final void document(byte[] content, String known, Key keys) {
    try {
      String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString();
      try (JsonParser opened = YAML.createParser(text)) {
        parser = opened;
        document(known, keys);
      }
    } catch (CharacterCodingException e) {
      problems.add("not UTF-8");
    } catch (JacksonException e) {
      problems.add(
          "line "
              + Math.max(1, e.getLocation() == null ? 1 : e.getLocation().getLineNr())
              + ": not YAML: "
              + e.getOriginalMessage().lines().findFirst().orElse(""));
    }
  }

  private void document(String known, Key keys) {
    JsonToken first = parser.nextToken();
    if (first == null || first == JsonToken.VALUE_NULL) {
      return;
    }
    if (first != JsonToken.START_OBJECT) {
      problems.add("line 1: holds no keys: write it as `key: value` lines");
      return;
    }
    section("", known, keys);
    if (parser.nextToken() != null) {
      problem("a second document", "", "one document");
    }
  }

  /**
   * Reads the section that begins here.
   *
   * @param prefix what stands before its keys' names; empty for the document
   */
  final void section(String prefix, String known, Key keys) {
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      String key = prefix + name;
      parser.nextToken();
      if (!keys.read(name, key)) {
        int line = line();
        parser.skipChildren();
        problems.add("line " + line + ": " + key + ": no such key; known are " + known);
      }
    }
  }

  /** Whether this begins here; an alias is nothing that can be asked for. */
  final boolean isAt(JsonToken token) {
    return parser.currentToken() == token && !isAlias();
  }

  /** Whether {@code *name} without quotes stands here, which the parser gives as the text name. */
  private boolean isAlias() {
    return ((YAMLParser) parser).isCurrentAlias();
  }

  /** The next element of the list that began here; false at its end. */
  final boolean nextElement() {
    return parser.nextToken() != JsonToken.END_ARRAY;
  }

  /** The text or number that stands here. */
  final String text() {
    return parser.getString();
  }

  /** The decimal number that stands here; {@link Double#NaN} if it is none. */
  final double number() {
    try {
      return isAt(JsonToken.VALUE_NUMBER_FLOAT) || isAt(JsonToken.VALUE_NUMBER_INT)
          ? Double.parseDouble(text())
          : Double.NaN;
    } catch (NumberFormatException e) {
      // YAML has others: .inf, 0x1f
      return Double.NaN;
    }
  }

  /** A whole number in {@code [min, max]}. */
  final int integer(String key, int min, int max, int otherwise) {
    if (isAt(JsonToken.VALUE_NUMBER_INT)
        && parser.getNumberType() == JsonParser.NumberType.INT
        && parser.getIntValue() >= min
        && parser.getIntValue() <= max) {
      return parser.getIntValue();
    }
    problem(key, "a whole number from " + min + " to " + max);
    return otherwise;
  }

  final boolean flag(String key, boolean otherwise) {
    if (isAt(JsonToken.VALUE_TRUE) || isAt(JsonToken.VALUE_FALSE)) {
      return isAt(JsonToken.VALUE_TRUE);
    }
    problem(key, "true or false");
    return otherwise;
  }

  /** A constant of an enum by its name, in lower case with hyphens. */
  final <E extends Enum<E>> E choice(String key, E otherwise) {
    E[] constants = otherwise.getDeclaringClass().getEnumConstants();
    if (isAt(JsonToken.VALUE_STRING)) {
      for (E constant : constants) {
        if (name(constant).equals(text())) {
          return constant;
        }
      }
    }
    problem(key, String.join(" or ", Stream.of(constants).map(YamlReading::name).toList()));
    return otherwise;
  }

  static String name(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * A list of texts that are not empty.
   *
   * @param allowed what such a list is, for who is told that this is none
   * @param element what its elements are
   */
  final List<String> texts(String key, String allowed, String element) {
    List<String> texts = new ArrayList<>();
    if (!isAt(JsonToken.START_ARRAY)) {
      problem(key, allowed);
      return texts;
    }
    while (nextElement()) {
      if (isText()) {
        texts.add(text());
      } else {
        problem(key, element);
      }
    }
    return texts;
  }

  /** Whether a text, or a number that can be taken for one, stands here and is not empty. */
  final boolean isText() {
    return parser.currentToken().isScalarValue()
        && !isAt(JsonToken.VALUE_NULL)
        && !isAlias()
        && !text().isEmpty();
  }

  /** What stands here is not what it has to be; it is left out. */
  final void problem(String key, String allowed) {
    String hint = isAlias() ? "; what begins with * has to be in quotes" : "";
    problem(key, shown(), "not " + allowed + hint, line());
  }

  /** A value that stands here, or whose section begins here, is wrong. */
  final void problem(String key, String value, String allowed) {
    problem(key, value, "not " + allowed, line());
  }

  private void problem(String key, String value, String whatIsWrong, int line) {
    problems.add("line " + line + ": " + key + " = " + value + ": " + whatIsWrong);
    parser.skipChildren();
  }

  /** Something is wrong with what stands at a line. */
  final void problemAt(int line, String problem) {
    problems.add("line " + line + ": " + problem);
  }

  /** Something is wrong with the whole. */
  final void problem(String problem) {
    problems.add(problem);
  }

  /** Ends the reading. */
  final void check() throws ConfigException {
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
  }

  final int line() {
    return parser.currentTokenLocation().getLineNr();
  }

  /** What stands here; of a list or section only what it is. */
  private String shown() {
    JsonToken token = parser.currentToken();
    if (token == JsonToken.START_OBJECT || token == JsonToken.START_ARRAY) {
      return token == JsonToken.START_OBJECT ? "a section" : "a list";
    }
    String text = token == null ? "" : (isAlias() ? "*" : "") + parser.getString();
    return text.length() <= MAX_SHOWN ? text : text.substring(0, MAX_SHOWN) + "...";
  }
}
