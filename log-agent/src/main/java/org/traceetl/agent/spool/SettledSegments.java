package org.traceetl.agent.spool;

import java.io.IOException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.LogThrottle;

/**
 * Records settled batches on disk, and deletes segments that nothing needs. Confined to the writing
 * thread.
 */
final class SettledSegments {
  private static final Logger log = LoggerFactory.getLogger(SettledSegments.class);

  private final SegmentList segments;
  private final Flusher flusher;
  private final LogThrottle failureLog;
  private final FrameBuffer content = new FrameBuffer();

  SettledSegments(SegmentList segments, Flusher flusher, LogThrottle failureLog) {
    this.segments = segments;
    this.flusher = flusher;
    this.failureLog = failureLog;
  }

  /** Records the batches that were settled since the last call. */
  void record() {
    for (Segment segment : segments.all()) {
      int[] settled = segments.takeNewlySettled(segment);
      if (settled != null) {
        try {
          segment.writeSettled(settled, content);
        } catch (IOException e) {
          segments.putBackNewlySettled(segment, settled);
          if (failureLog.permits()) {
            log.warn(
                "Cannot record confirmed batches in {}: {}. After a restart the agent sends them"
                    + " again, and the server discards the duplicates",
                segment.frames.path().getParent(),
                e.toString());
          }
          return;
        }
      }
    }
  }

  /** Deletes segments without unsettled batches, if a newer one has their positions. */
  void delete() {
    delete(segments.removeSettled());
  }

  /** Deletes segments that are no longer in the list. */
  void delete(List<Segment> removed) {
    for (Segment segment : removed) {
      flusher.remove(segment.frames);
      try {
        segment.delete();
      } catch (IOException e) {
        if (failureLog.permits()) {
          log.warn(
              "Cannot delete {}: {}. After a restart its batches are sent again, and the server"
                  + " discards the duplicates",
              segment.frames.path(),
              e.toString());
        }
      }
    }
  }
}
