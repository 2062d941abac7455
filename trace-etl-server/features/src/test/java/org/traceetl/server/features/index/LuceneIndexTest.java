package org.traceetl.server.features.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.traceetl.server.features.index.Traces.ALL;
import static org.traceetl.server.features.index.Traces.document;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.FilterDirectory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexOutput;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.server.window.TraceDocument;

final class LuceneIndexTest extends TraceIndexContract {
  @TempDir private Path directory;
  private Instant now = Instant.ofEpochSecond(0, START);
  private long nanos;

  @Override
  TraceIndex open() throws IOException {
    return LuceneIndex.open(IndexConfig.Lucene.in(directory.resolve("contract")), Clocks.SYSTEM);
  }

  @Override
  void refresh() {
    // A write does that.
  }

  @Test
  void documentsOutliveTheProcess() throws IOException {
    TraceDocument document = document(1, START);
    try (TraceIndex before = own(Duration.ofDays(7), 100)) {
      before.write(List.of(document));
    }
    try (TraceIndex after = own(Duration.ofDays(7), 100)) {
      assertThat(after.search(ALL).documents()).containsExactly(document);
    }
  }

  @Test
  void documentsAreDeletedAfterTheRetentionWhateverStartTheirSpansClaim() throws IOException {
    TraceDocument past = document(1, 1);
    TraceDocument future = document(2, Long.MAX_VALUE);
    TraceDocument later = document(3, START);
    try (TraceIndex index = own(Duration.ofDays(1), 100)) {
      index.write(List.of(past, future));
      nanos += TimeUnit.DAYS.toNanos(1);
      index.write(List.of(later));
      assertThat(index.search(ALL).documents()).containsExactly(future, later, past);

      nanos += TimeUnit.MILLISECONDS.toNanos(1);
      index.write(List.of());
      assertThat(index.search(ALL).documents()).containsExactly(later);
    }
  }

  @Test
  void aStepOfTheWallClockDeletesNothing() throws IOException {
    try (TraceIndex index = own(Duration.ofDays(1), 100)) {
      index.write(List.of(document(1, START)));
      now = now.plus(Duration.ofDays(2));
      index.write(List.of(document(2, START + 1)));
      assertThat(index.search(ALL).documents()).hasSize(2);
    }
  }

  @Test
  void claimedStartsDoNotPushOthersOut() throws IOException {
    try (TraceIndex index = own(Duration.ofDays(1), 100)) {
      index.write(LongStream.range(0, 100).mapToObj(i -> document(i, Long.MAX_VALUE - i)).toList());
      nanos += TimeUnit.MILLISECONDS.toNanos(1);
      List<TraceDocument> good =
          LongStream.range(100, 150).mapToObj(i -> document(i, START)).toList();
      index.write(good);
      assertThat(index.search(ALL).documents())
          .hasSize(100)
          .endsWith(good.toArray(new TraceDocument[0]));
    }
  }

  @Test
  void theBoundHoldsEvenIfAllAreKeptAndStartTogether() throws IOException {
    try (TraceIndex index = own(Duration.ofDays(1), 100)) {
      index.write(LongStream.range(0, 110).mapToObj(i -> document(i, START)).toList());
      assertThat(index.search(ALL).documents()).hasSize(110);
      index.write(List.of(document(110, START + 1)));
      assertThat(index.search(ALL).documents())
          .hasSize(100)
          .startsWith(document(110, START + 1))
          .endsWith(document(109, START));
    }
  }

  @Test
  void aSecondWriterIsToldWhatToDo() throws IOException {
    try (TraceIndex first = own(Duration.ofDays(1), 100)) {
      assertThat(first.healthy()).isTrue();
      assertThatThrownBy(() -> own(Duration.ofDays(1), 100))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("index.lucene.directory = " + directory)
          .hasMessageContaining("another process");
    }
  }

  @Test
  void aClosedIndexRefusesByIOException() throws IOException {
    TraceIndex index = own(Duration.ofDays(1), 100);
    index.close();
    assertThatThrownBy(() -> index.search(ALL)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> index.write(List.of(document(1, START))))
        .isInstanceOf(IOException.class);
  }

  @Test
  void aDiskThatWasFullIsWrittenAgain() throws IOException {
    AtomicBoolean full = new AtomicBoolean();
    Directory disk =
        new FilterDirectory(FSDirectory.open(directory.resolve("own"))) {
          @Override
          public IndexOutput createOutput(String name, IOContext context) throws IOException {
            if (full.get()) {
              throw new IOException("No space left on device");
            }
            return super.createOutput(name, context);
          }
        };
    try (TraceIndex index = own(Duration.ofDays(1), 100, disk)) {
      index.write(List.of(document(1, START)));
      full.set(true);
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> index.write(List.of(document(2, START))))
            .isInstanceOf(IOException.class);
        assertThat(index.healthy()).isFalse();
        assertThat(index.search(ALL).documents()).containsExactly(document(1, START));
      }
      full.set(false);
      index.write(List.of(document(2, START), document(3, START)));
      assertThat(index.healthy()).isTrue();
      assertThat(index.search(ALL).documents())
          .containsExactly(document(1, START), document(2, START), document(3, START));
    }
  }

  /** A second flush of a file would succeed even where the first one lost what was written. */
  @Test
  void aFileWhoseFlushFailedIsNotFlushedAgain() throws IOException {
    AtomicBoolean failing = new AtomicBoolean();
    Set<String> flushed = new HashSet<>();
    Set<String> unsound = new HashSet<>();
    Directory disk =
        new FilterDirectory(FSDirectory.open(directory.resolve("own"))) {
          @Override
          public void sync(Collection<String> names) throws IOException {
            if (failing.get()) {
              names.stream().filter(name -> !flushed.contains(name)).forEach(unsound::add);
              throw new IOException("Input/output error");
            }
            assertThat(names).noneMatch(unsound::contains);
            super.sync(names);
            flushed.addAll(names);
          }

          @Override
          public void deleteFile(String name) throws IOException {
            super.deleteFile(name);
            unsound.remove(name);
            flushed.remove(name);
          }
        };
    try (TraceIndex index = own(Duration.ofDays(1), 100, disk)) {
      index.write(List.of(document(1, START)));
      failing.set(true);
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> index.write(List.of(document(2, START))))
            .hasMessageContaining("Input/output error");
        assertThat(index.healthy()).isFalse();
        assertThat(index.search(ALL).documents()).containsExactly(document(1, START));
      }
      failing.set(false);
      index.write(List.of(document(2, START), document(3, START)));
      assertThat(index.healthy()).isTrue();
      assertThat(index.search(ALL).documents())
          .containsExactly(document(1, START), document(2, START), document(3, START));
    }
    assertThat(unsound).isEmpty();
  }

  @Test
  void aWriteUnderWayIsNoFault() throws IOException {
    AtomicReference<TraceIndex> written = new AtomicReference<>();
    List<Boolean> healthy = new ArrayList<>();
    Directory disk =
        new FilterDirectory(FSDirectory.open(directory.resolve("own"))) {
          @Override
          public IndexOutput createOutput(String name, IOContext context) throws IOException {
            if (written.get() != null) {
              healthy.add(written.get().healthy());
            }
            return super.createOutput(name, context);
          }
        };
    try (TraceIndex index = own(Duration.ofDays(1), 100, disk)) {
      written.set(index);
      index.write(List.of(document(1, START)));
      assertThat(healthy).isNotEmpty().containsOnly(true);
    }
  }

  private TraceIndex own(Duration retention, int maxDocuments) throws IOException {
    return own(retention, maxDocuments, FSDirectory.open(directory.resolve("own")));
  }

  private TraceIndex own(Duration retention, int maxDocuments, Directory disk) throws IOException {
    return LuceneIndex.open(
        new IndexConfig.Lucene(directory.resolve("own"), retention, maxDocuments),
        new Clocks(() -> nanos, () -> now),
        disk);
  }
}
