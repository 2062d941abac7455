package org.traceetl.server.ozhera.delta.series;

import java.util.Arrays;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/** The series of one queue by number, updated by its windows. Not thread-safe. */
public final class NumberedSeries {
  private static final int INITIAL_SERIES = 64;

  private final LabelSets labels;

  /** Null for an absent series or an unknown type. */
  private DeltaSeries[] byNumber = new DeltaSeries[INITIAL_SERIES];

  private long nextId;
  private long unknownRows;

  public NumberedSeries(LabelSets labels) {
    this.labels = labels;
  }

  /** Replaces all series by those of an image. */
  public void replace(QueueImage image) {
    release();
    for (int number = 0; number < image.slots(); number++) {
      SeriesDefinition definition = image.definition(number);
      if (definition != null) {
        create(definition);
      }
    }
  }

  /** Returns the deltas of the queue's next window. */
  public Deltas fold(SealedWindow window) {
    window.created().forEach(this::create);
    DeltaSeries[] rows = new DeltaSeries[window.rows()];
    for (int row = 0; row < rows.length; row++) {
      int number = window.series()[row];
      rows[row] = number < byNumber.length ? byNumber[number] : null;
      if (rows[row] == null) {
        unknownRows++;
      }
    }
    Deltas deltas = Deltas.of(window, rows);
    for (int number : window.evicted()) {
      end(number);
    }
    return deltas;
  }

  /** Releases all series. */
  public void release() {
    for (int number = 0; number < byNumber.length; number++) {
      end(number);
    }
  }

  /** Returns the number of rows without a series of a known type. */
  public long unknownRows() {
    return unknownRows;
  }

  private void create(SeriesDefinition definition) {
    int number = definition.series();
    if (number >= byNumber.length) {
      byNumber = Arrays.copyOf(byNumber, Math.max(number + 1, byNumber.length * 2));
    }
    end(number);
    byNumber[number] = labels.series(nextId++, definition);
  }

  private void end(int number) {
    if (number < byNumber.length && byNumber[number] != null) {
      labels.release(byNumber[number]);
      byNumber[number] = null;
    }
  }
}
