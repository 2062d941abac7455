package org.traceetl.server.features.pages;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.window.SealedWindow;

/** Rendering allocates the bytes of the page and of its sections, and nothing for each sample. */
class RenderingAllocationTest {
  private static final int SERIES = 1_000;
  private static final int WARM_UP = 50;
  private static final long MOST_BESIDES_BYTES = 8_192;
  private static final long MOST_OF_A_SECTION_BYTES = 256;

  private final Naming naming = PageFixture.naming(PageFixture.OTEL);
  private final CumulativeSeries series =
      new CumulativeSeries(Windows.QUEUE, naming, new LongSet());

  @Test
  void aSampleAllocatesItsBytesAlone() {
    SealedWindow window = window(false);
    series.fold(window(true));
    try (var writer = new SectionWriter()) {
      for (int i = 0; i < WARM_UP; i++) {
        series.fold(window);
        render(writer);
      }
      series.fold(window);
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      long before = threads.getCurrentThreadAllocatedBytes();
      long sectionsBefore = writer.sections();
      long bytes = render(writer);
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;

      assertThat(bytes).isGreaterThan(SERIES * 100L);
      assertThat(allocated - bytes)
          .isBetween(
              0L,
              MOST_BESIDES_BYTES + (writer.sections() - sectionsBefore) * MOST_OF_A_SECTION_BYTES);
    }
  }

  /** The length of what was rendered. */
  private long render(SectionWriter writer) {
    long bytes = 0;
    for (Family family : naming.families()) {
      var sections = new FamilySections(family);
      series.sections(family, Format.OPENMETRICS, true, false, writer, sections);
      bytes += sections.bytes();
    }
    return bytes;
  }

  private static SealedWindow window(boolean create) {
    Windows window = Windows.of(Windows.QUEUE, PageFixture.STRIDE);
    for (int i = 0; i < SERIES; i++) {
      if (create) {
        window.create(i, "app", "op-" + i, "2", "0");
      }
      window
          .row(i, 123_456_789L * i, i, 1, 2, 3)
          .exemplar(1, "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", 7_000_000);
    }
    return window.seal();
  }
}
