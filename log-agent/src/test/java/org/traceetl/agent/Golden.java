package org.traceetl.agent;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * Resources of hex digits that have the bytes of a format. A release reads the files of all earlier
 * releases, so these resources are never changed; a new format gets a new one.
 */
public final class Golden {
  private Golden() {}

  /** Returns the bytes of the resource NAME.hex in the package of the test. */
  public static byte[] bytes(Class<?> test, String name) throws IOException {
    return HexFormat.of().parseHex(text(test, name).replace("\n", ""));
  }

  /** Returns the hex digits of the resource NAME.hex, in lines of 64. */
  public static String text(Class<?> test, String name) throws IOException {
    try (InputStream in = test.getResourceAsStream(name + ".hex")) {
      return new String(in.readAllBytes(), US_ASCII);
    }
  }

  /** Returns the hex digits of a file, in lines of 64. */
  public static String text(Path file) throws IOException {
    return HexFormat.of().formatHex(Files.readAllBytes(file)).replaceAll("(.{1,64})", "$1\n");
  }
}
