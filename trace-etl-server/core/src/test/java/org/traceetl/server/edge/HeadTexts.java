package org.traceetl.server.edge;

import static java.nio.charset.StandardCharsets.UTF_8;

/** The texts of a head of half-edges, as {@link EdgeHeads#find} takes them. */
record HeadTexts(byte[] bytes, int[] slices) {
  /**
   * @param texts application, name of the other end, then values
   */
  HeadTexts(String... texts) {
    this(String.join("", texts).getBytes(UTF_8), new int[2 * texts.length]);
    int offset = 0;
    for (int text = 0; text < texts.length; text++) {
      slices[2 * text] = offset;
      slices[2 * text + 1] = texts[text].getBytes(UTF_8).length;
      offset += slices[2 * text + 1];
    }
  }
}
