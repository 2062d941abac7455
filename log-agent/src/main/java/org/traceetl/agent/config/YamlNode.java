package org.traceetl.agent.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.traceetl.common.ConfigException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.dataformat.yaml.YAMLMapper;
import tools.jackson.dataformat.yaml.YAMLParser;

/**
 * A value of a YAML document, with its place.
 *
 * @param value a map of nodes by key, a list of nodes, a {@code String}, {@code Long}, {@code
 *     Double} or {@code Boolean}; null if nothing is written
 * @param text a scalar as it is written
 * @param line in the document, from 1; 0 in a variable of the environment
 * @param alias whether it is {@code *name} without quotes; then {@code text} is the name
 */
record YamlNode(Object value, String text, int line, boolean alias) {
  private static final YAMLMapper YAML =
      YAMLMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private static final int MAX_SHOWN = 100;

  static YamlNode ofText(String text) {
    return new YamlNode(text, text, 0, false);
  }

  /**
   * Reads a document of UTF-8.
   *
   * @throws ConfigException if it is not one YAML document
   */
  static YamlNode parse(byte[] content) {
    try {
      return parse(UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString());
    } catch (CharacterCodingException e) {
      throw new ConfigException(List.of("not UTF-8"));
    }
  }

  /**
   * Reads a document.
   *
   * @throws ConfigException if it is not one YAML document
   */
  static YamlNode parse(String yaml) {
    try (YAMLParser parser = (YAMLParser) YAML.createParser(yaml)) {
      YamlNode root = parser.nextToken() == null ? new YamlNode(null, "", 1, false) : read(parser);
      if (parser.nextToken() != null) {
        throw new ConfigException(
            List.of("line " + line(parser) + ": a second document begins; only one is allowed"));
      }
      return root;
    } catch (JacksonException e) {
      int line = e.getLocation() == null ? 1 : Math.max(1, e.getLocation().getLineNr());
      String problem = e.getOriginalMessage().lines().findFirst().orElse("");
      throw new ConfigException(List.of("line " + line + ": not YAML: " + problem));
    }
  }

  private static YamlNode read(YAMLParser parser) {
    int line = line(parser);
    JsonToken token = parser.currentToken();
    if (token == JsonToken.START_OBJECT) {
      Map<String, YamlNode> keys = new LinkedHashMap<>();
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        keys.put(name, read(parser));
      }
      return new YamlNode(keys, "", line, false);
    }
    if (token == JsonToken.START_ARRAY) {
      List<YamlNode> elements = new ArrayList<>();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        elements.add(read(parser));
      }
      return new YamlNode(elements, "", line, false);
    }
    String text = parser.getString();
    Object value =
        switch (token) {
          case VALUE_NULL -> null;
          case VALUE_TRUE -> true;
          case VALUE_FALSE -> false;
          case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> number(parser, text);
          default -> text;
        };
    return new YamlNode(value, text, line, parser.isCurrentAlias());
  }

  /** Returns {@link Double#NaN} for numbers that only YAML has, such as {@code .inf}. */
  private static Number number(YAMLParser parser, String text) {
    if (parser.currentToken() == JsonToken.VALUE_NUMBER_INT
        && parser.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
      return parser.getLongValue();
    }
    try {
      return Double.valueOf(text);
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }

  private static int line(YAMLParser parser) {
    return parser.currentTokenLocation().getLineNr();
  }

  /** Returns the same value with line 0, because it is in no file. */
  YamlNode withoutLine() {
    Object own = value;
    if (value instanceof Map) {
      Map<String, YamlNode> keys = new LinkedHashMap<>();
      keys().forEach((key, each) -> keys.put(key, each.withoutLine()));
      own = keys;
    } else if (isList()) {
      own = elements().stream().map(YamlNode::withoutLine).toList();
    }
    return new YamlNode(own, text, 0, alias);
  }

  /** Returns whether it is text, or a number or boolean that can be taken for text. */
  boolean isScalar() {
    return !alias
        && (value instanceof String || value instanceof Number || value instanceof Boolean);
  }

  /** Returns the nodes by key; empty if nothing is written, null if it is no section. */
  @SuppressWarnings("unchecked")
  Map<String, YamlNode> keys() {
    return value == null ? Map.of() : value instanceof Map ? (Map<String, YamlNode>) value : null;
  }

  /** Returns the elements of a list, or the node itself if it is no list. */
  @SuppressWarnings("unchecked")
  List<YamlNode> elements() {
    return isList() ? (List<YamlNode>) value : List.of(this);
  }

  boolean isList() {
    return value instanceof List;
  }

  /** Returns a scalar as it is written, shortened; only the kind of a list or section. */
  String shown() {
    if (value instanceof Map || isList()) {
      return isList() ? "a list" : "a section";
    }
    String whole = (alias ? "*" : "") + text;
    return whole.length() <= MAX_SHOWN ? whole : whole.substring(0, MAX_SHOWN) + "...";
  }

  /** Returns all that is written, without lines. */
  @Override
  public String toString() {
    return value instanceof Map || isList() ? value.toString() : text;
  }
}
