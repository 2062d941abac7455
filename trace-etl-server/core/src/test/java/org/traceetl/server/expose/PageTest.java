package org.traceetl.server.expose;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.GZIPInputStream;
import java.util.zip.Inflater;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A page is its parts in order, whatever the encoding and however they are stored. */
class PageTest {
  private static final int MAX_SECTION_BYTES = 100_000;

  @Property(tries = 200)
  void partsFollowEachOther(
      @ForAll Encoding encoding, @ForAll @IntRange(min = 1, max = 3) int pages, @ForAll long seed)
      throws Exception {
    var random = new Random(seed);
    var expected = new ByteArrayOutputStream();
    Page joined = page(encoding, random, expected);
    for (int i = 1; i < pages; i++) {
      joined = joined.followedBy(page(encoding, random, expected));
    }
    byte[] last = text(random);
    expected.write(last);
    Page whole = joined.with(last);
    var out = new ByteArrayOutputStream();
    whole.writeTo(out);

    assertThat(whole.encoding()).isEqualTo(encoding);
    assertThat(out.size()).isEqualTo(whole.bytes());
    assertThat(read(encoding, out.toByteArray())).isEqualTo(expected.toByteArray());
  }

  @ParameterizedTest
  @EnumSource
  void aPageIsCurrentWhileAllItsPartsAre(Encoding encoding) {
    var first = new AtomicBoolean(true);
    var second = new AtomicBoolean(true);
    Page page =
        Page.of(encoding, List.of(), false, first::get)
            .followedBy(Page.of(encoding, List.of(), false, second::get))
            .with(new byte[0]);

    assertThat(page.current()).isTrue();
    second.set(false);
    assertThat(page.current()).isFalse();
    second.set(true);
    first.set(false);
    assertThat(page.current()).isFalse();
  }

  private static Page page(Encoding encoding, Random random, ByteArrayOutputStream expected)
      throws IOException {
    boolean inflated = !encoding.gzip() && random.nextBoolean();
    List<Section> sections = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      byte[] section = text(random);
      expected.write(section);
      sections.add(Section.of(section, encoding.gzip() || inflated));
    }
    return Page.of(encoding, sections, inflated, () -> true);
  }

  /** Bytes of which about half are repetitions. */
  private static byte[] text(Random random) {
    byte[] text = new byte[random.nextInt(4) == 0 ? 0 : random.nextInt(MAX_SECTION_BYTES)];
    int from = text.length / 2;
    for (int i = 0; i < text.length; i++) {
      text[i] = i < from ? (byte) random.nextInt() : text[i - from];
    }
    return text;
  }

  /** Reads the bytes as a scraper does, and as one that ends with the first member of gzip. */
  private static byte[] read(Encoding encoding, byte[] sent) throws Exception {
    if (!encoding.gzip()) {
      return sent;
    }
    try (var in = new GZIPInputStream(new ByteArrayInputStream(sent));
        var inflater = new Inflater(true)) {
      byte[] plain = in.readAllBytes();
      inflater.setInput(sent, GzipFrame.header().length, sent.length - GzipFrame.header().length);
      assertThat(inflater.inflate(new byte[plain.length + 1])).isEqualTo(plain.length);
      assertThat(inflater.finished()).isTrue();
      return plain;
    }
  }
}
