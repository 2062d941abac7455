package org.traceetl.agent.spool;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SequencedMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.SpoolConfig.Flush;
import org.traceetl.agent.flow.AnsweredRequests;
import org.traceetl.agent.flow.AnsweredRequests.Answered;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.spool.FrameFile.Found;
import org.traceetl.agent.state.AgentIdentity;

/** Reads the segments that earlier runs left in a directory. */
final class SpoolRecovery {
  private static final Logger log = LoggerFactory.getLogger(SpoolRecovery.class);

  private record QueueOfRun(AgentIdentity run, BrokerQueue queue) {}

  private final Flush flush;
  final SpoolFiles files;
  final AnsweredRequests answered;
  final List<Segment> segments = new ArrayList<>();
  final SequencedMap<String, Checkpoint.Position> places = new LinkedHashMap<>();
  private final Map<QueueOfRun, Long> lastSequences = new HashMap<>();
  private long newestMillis = Long.MIN_VALUE;
  int damagedFrames;
  long damagedBatches;
  long damagedSpans;
  long repeatedBatches;
  // Entries for other batches in the list of the segment that is read.
  private int settledOfOthers;

  /**
   * @param flush when frames were forced
   * @param answered receives the requests found
   */
  SpoolRecovery(Flush flush, SpoolFiles files, AnsweredRequests answered) {
    this.flush = flush;
    this.files = files;
    this.answered = answered;
  }

  /**
   * Opens and reads all segments, oldest first.
   *
   * @throws IOException if a file cannot be read
   */
  void read() throws IOException {
    List<Long> numbers = new ArrayList<>(files.segments());
    deleteReplaced(numbers);
    for (long number : numbers) {
      Segment segment = new Segment(number, files.open(files.segment(number)), files);
      segments.add(segment);
      read(segment, number == numbers.getLast());
      segment.frames.endReading();
    }
    files.deleteUnfinished();
    for (long number : files.settledLists()) {
      if (!numbers.contains(number)) {
        files.delete(files.settled(number));
      }
    }
  }

  /** Returns the newest date of a batch or an answer; empty if none was found. */
  OptionalLong newestMillis() {
    return newestMillis == Long.MIN_VALUE ? OptionalLong.empty() : OptionalLong.of(newestMillis);
  }

  private void read(Segment segment, boolean isNewest) throws IOException {
    Map<Integer, Integer> settled = segment.readSettled();
    FrameFile frames = segment.frames;
    settledOfOthers = 0;
    long repeatedBefore = repeatedBatches;
    boolean more = true;
    while (more) {
      Found found = frames.next();
      switch (isUnforced(frames, found, isNewest) ? Found.TORN : found) {
        case FRAME -> {
          if (isMerged(frames.content(), segment.number)) {
            segment.replaces(frames.content().getLong(1));
            continue;
          }
          FrameContent content =
              FrameContent.read(frames.content(), frames.offset() + FrameFile.HEAD_BYTES);
          if (content == null || !content.isOf(frames)) {
            damaged(segment, settled);
          } else {
            take(segment, content, settled);
          }
        }
        case DAMAGED_CONTENT -> damaged(segment, settled);
        case DAMAGED_HEAD -> {
          damagedFrames++;
          log.error(
              "{} is damaged at byte {}; the {} bytes after it are lost",
              frames.path(),
              frames.offset(),
              frames.end() - frames.offset());
          more = false;
        }
        case TORN -> {
          log.warn(
              "Cut off an incomplete frame at the end of {}: {} bytes{}",
              frames.path(),
              frames.end() - frames.offset(),
              flush == Flush.COMMIT ? ", whose senders got no confirmation" : "");
          frames.cutHere();
          more = false;
        }
        case END -> more = false;
      }
    }
    logRepeated(segment, repeatedBatches - repeatedBefore);
    reportSettledOfOthers(segment);
  }

  /**
   * Returns whether the host failed between the write of a frame and its force, so that its senders
   * got no confirmation. Only the last frame of the newest segment may be unforced, because each is
   * forced before the next one is written.
   */
  private boolean isUnforced(FrameFile frames, Found found, boolean isNewest) throws IOException {
    return flush == Flush.COMMIT
        && isNewest
        && (found == Found.DAMAGED_HEAD || found == Found.DAMAGED_CONTENT)
        && frames.lacksPage()
        && !frames.mayBeFollowed();
  }

  /**
   * Deletes segments that a merged segment replaces: the agent was killed before it deleted them.
   * They are not read, because they may have frames whose senders were refused.
   */
  private void deleteReplaced(List<Long> numbers) throws IOException {
    for (long number : List.copyOf(numbers)) {
      try (FrameFile frames = files.open(files.segment(number))) {
        if (frames.next() == Found.FRAME && isMerged(frames.content(), number)) {
          long first = frames.content().getLong(1);
          long last = frames.content().getLong(1 + Long.BYTES);
          for (long other : List.copyOf(numbers)) {
            if (other >= first && other <= last) {
              numbers.remove(other);
              files.delete(files.segment(other));
            }
          }
        }
      }
    }
  }

  /**
   * @param number of the segment
   */
  private static boolean isMerged(ByteBuffer content, long number) {
    return content.get(0) == FrameContent.MERGED
        && content.remaining() == FrameContent.MERGED_BYTES
        && FrameContent.mayReplace(content.getLong(1), content.getLong(1 + Long.BYTES), number);
  }

  /**
   * Returns whether an earlier batch of its run and queue has this sequence or a higher one. Such a
   * batch is sent again, because the segment before may be one that could not be deleted.
   */
  private boolean isRepeated(SpooledBatch batch) {
    QueueOfRun queue = new QueueOfRun(batch.agent(), batch.queue());
    Long last = lastSequences.get(queue);
    if (last != null && batch.sequence() <= last) {
      return true;
    }
    lastSequences.put(queue, batch.sequence());
    return false;
  }

  private static void logRepeated(Segment segment, long batches) {
    if (batches > 0) {
      log.warn(
          "{} repeats {} batches of earlier segments, which usually could not be deleted; the agent"
              + " sends the batches again, and the server discards the duplicates",
          segment.frames.path(),
          batches);
    }
  }

  private void take(Segment segment, FrameContent content, Map<Integer, Integer> settled) {
    for (SpooledBatch batch : content.batches) {
      newestMillis = Math.max(newestMillis, batch.createdMillis());
      boolean isRepeated = isRepeated(batch);
      Integer settledSpans = settled.get(segment.count());
      if (settledSpans != null && settledSpans == batch.spans()) {
        segment.skip();
      } else {
        if (settledSpans != null) {
          settledOfOthers++;
        }
        if (isRepeated) {
          repeatedBatches++;
        }
        segment.add(batch);
      }
    }
    if (content.isState) {
      segment.hasState();
      places.clear();
    }
    for (Answered request : content.requests) {
      newestMillis = Math.max(newestMillis, request.answer().unixMillis());
      answered.add(request.request(), request.answer());
    }
    content.places.forEach(place -> SpoolState.keep(places, place));
  }

  /** A damaged list of settled batches: what it does not prove is sent again. */
  private void reportSettledOfOthers(Segment segment) {
    if (settledOfOthers > 0) {
      damagedFrames++;
      log.error(
          "The list of settled batches of {} has other numbers of spans than {} of its batches; the"
              + " agent sends these batches again, and the server discards duplicates",
          segment.frames.path(),
          settledOfOthers);
    }
  }

  private void damaged(Segment segment, Map<Integer, Integer> settled) {
    FrameFile frames = segment.frames;
    long batches = 0;
    long spans = frames.spans();
    for (int i = 0; i < frames.batches(); i++) {
      Integer settledSpans = settled.get(segment.count());
      if (settledSpans == null) {
        batches++;
      } else {
        spans -= settledSpans;
      }
      segment.skip();
    }
    damagedFrames++;
    damagedBatches += batches;
    damagedSpans += Math.max(spans, 0);
    log.error(
        "{} has a damaged frame at byte {}. Lost: {} unconfirmed batches with {} spans, and the"
            + " read positions in the frame",
        frames.path(),
        frames.offset(),
        batches,
        spans);
  }

  /** Closes the segments. */
  void close() throws IOException {
    for (Segment segment : segments) {
      segment.close();
    }
  }
}
