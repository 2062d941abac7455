package org.traceetl.agent.forward;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.forward.ForwardMetrics.Drop;
import org.traceetl.common.LogThrottle;

/**
 * Requests on disk that at least one endpoint has not accepted yet, in segments {@code
 * 0000000001.seg}, and the position of each endpoint in file {@code positions}.
 *
 * <p>One thread appends, deletes segments and saves positions. Each endpoint's thread reads through
 * its own {@link Cursor}. The buffer's lock guards segments and positions; files are read and
 * written outside it. Nothing is forced to the disk: data survives the end of the process, and the
 * end of the host may lose what the system has not written.
 *
 * <p>A start continues with a new segment, so only the last segment of a run can end in the middle
 * of a request.
 */
final class ForwardBuffer implements AutoCloseable {
  /** A segment is closed before it exceeds this, unless a single request does. */
  private static final long MOST_SEGMENT_BYTES = 8 * 1024 * 1024;

  /** Least segments of a full buffer, because the oldest one is dropped as a whole. */
  private static final int LEAST_SEGMENTS = 4;

  /** Free bytes that are left to the spool, which counts spans. */
  private static final long SPARED_BYTES = 64 * 1024 * 1024;

  private static final Logger log = LoggerFactory.getLogger(ForwardBuffer.class);
  private static final String SEGMENT = ".seg";
  private static final Pattern SEGMENT_NAME = Pattern.compile("(\\d{10})\\.seg");
  private static final String POSITIONS = "positions";
  private static final Pattern POSITION = Pattern.compile("(\\S+) (\\d{1,10}) (\\d{1,18})");
  private static final int MOST_POSITIONS_BYTES = 64 * 1024;
  private static final int STAGING_BYTES = 64 * 1024;

  /** Counts requests that cannot be read any more. Called by any thread. */
  interface Drops {
    /**
     * Counts requests.
     *
     * @param cursor the one that has not read them
     */
    void dropped(String cursor, Drop reason, long requests);
  }

  /** A file of requests. Guarded by the buffer. */
  private static final class Segment {
    private final long number;
    private final Path path;
    private long end;
    private int requests;

    Segment(long number, Path path) {
      this.number = number;
      this.path = path;
    }
  }

  private final Path directory;
  private final long maxBytes;
  private final long segmentBytes;
  private final Disk disk;
  private final Drops drops;
  private final LogThrottle failureLog;

  // Guarded by this.
  private final TreeMap<Long, Segment> segments = new TreeMap<>();
  private final Map<String, Cursor> cursors = new LinkedHashMap<>();
  private long bytes;
  private long nextNumber = 1;
  private boolean moved = true;

  // Owned by the appending thread; null if the next append begins a segment.
  private Segment current;
  private Disk.OpenFile file;
  private final ByteBuffer staging = ByteBuffer.allocateDirect(STAGING_BYTES);

  private ForwardBuffer(
      Path directory, long maxBytes, Disk disk, Drops drops, LogThrottle failureLog) {
    this.directory = directory;
    this.maxBytes = maxBytes;
    segmentBytes = Math.min(MOST_SEGMENT_BYTES, maxBytes / LEAST_SEGMENTS);
    this.disk = disk;
    this.drops = drops;
    this.failureLog = failureLog;
  }

  /**
   * Opens the directory; creates it if it is missing. An endpoint without a stored position starts
   * with the next request; if there are no stored positions at all, with the oldest one.
   */
  static ForwardBuffer open(
      Path directory,
      long maxBytes,
      List<String> endpoints,
      Disk disk,
      Drops drops,
      LogThrottle failureLog)
      throws IOException {
    ForwardBuffer buffer = new ForwardBuffer(directory, maxBytes, disk, drops, failureLog);
    disk.createDirectories(directory);
    buffer.recover(endpoints);
    buffer.savePositions();
    return buffer;
  }

  private synchronized void recover(List<String> endpoints) throws IOException {
    Map<String, Position> stored = readPositions();
    for (Path path : disk.list(directory, SEGMENT)) {
      Matcher name = SEGMENT_NAME.matcher(path.getFileName().toString());
      if (name.matches()) {
        Segment segment = new Segment(Long.parseLong(name.group(1)), path);
        segments.put(segment.number, segment);
        nextNumber = Math.max(nextNumber, segment.number + 1);
      }
    }
    if (stored != null) {
      for (Position position : stored.values()) {
        nextNumber = Math.max(nextNumber, position.segment() + 1);
      }
    }
    Position start = new Position(stored == null ? 0 : nextNumber, 0);
    for (String endpoint : endpoints) {
      Position position = stored == null ? start : stored.getOrDefault(endpoint, start);
      cursors.put(endpoint, new Cursor(endpoint, position));
    }
    for (Segment segment : List.copyOf(segments.values())) {
      try {
        scan(segment);
        bytes += segment.end;
      } catch (IOException e) {
        log.warn(
            "Cannot read {}: {}. Its trace requests are not forwarded", segment.path, e.toString());
        segments.remove(segment.number);
        damaged(segment);
      }
    }
  }

  /** Counts requests of unknown number, for each endpoint that has not passed the segment. */
  private void damaged(Segment segment) {
    for (Cursor cursor : cursors.values()) {
      if (cursor.read.segment() <= segment.number) {
        drops.dropped(cursor.endpoint, Drop.DAMAGED, 1);
      }
    }
  }

  /** Returns the stored positions; null if there are none that can be used. */
  private Map<String, Position> readPositions() throws IOException {
    Map<String, Position> positions = new HashMap<>();
    try {
      String text =
          new String(disk.read(directory.resolve(POSITIONS), MOST_POSITIONS_BYTES), US_ASCII);
      for (String line : text.lines().toList()) {
        Matcher position = POSITION.matcher(line);
        if (!position.matches()) {
          log.warn(
              "{} is damaged; all requests in the buffer are forwarded again",
              directory.resolve(POSITIONS));
          return null;
        }
        positions.put(
            position.group(1),
            new Position(Long.parseLong(position.group(2)), Long.parseLong(position.group(3))));
      }
    } catch (NoSuchFileException e) {
      return null;
    }
    return positions.isEmpty() ? null : positions;
  }

  /** Finds the whole requests of a segment, and cuts off what follows them. */
  private void scan(Segment segment) throws IOException {
    try (Disk.OpenFile scanned = disk.open(segment.path)) {
      long size = scanned.size();
      boolean whole = true;
      while (segment.end < size && whole) {
        cursors.values().forEach(cursor -> cursor.meet(segment));
        StoredRequest request = StoredRequest.read(scanned, segment.end, size - segment.end);
        whole = request != null;
        if (whole) {
          segment.end += request.bytes();
          segment.requests++;
        }
      }
      cursors.values().forEach(cursor -> cursor.meet(segment));
      if (segment.end < size) {
        log.warn(
            "Cut {} bytes off {}: they begin with an incomplete or damaged request",
            size - segment.end,
            segment.path);
        scanned.truncate(segment.end);
        damaged(segment);
      }
      // A position between two requests is of a file that the end of the host has damaged.
      for (Cursor cursor : cursors.values()) {
        if (cursor.read.segment() == segment.number && !cursor.met) {
          cursor.moveTo(new Position(segment.number, 0));
        }
      }
    }
  }

  /** Returns an endpoint's cursor. */
  synchronized Cursor cursor(String endpoint) {
    return cursors.get(endpoint);
  }

  /**
   * Appends {@code body[0, length)}. If there is no room, the oldest segments are dropped.
   *
   * @throws IOException if it failed; nothing of it will be read
   */
  void append(byte[] body, int length, long millis, OtlpFormat format) throws IOException {
    StoredRequest request = StoredRequest.of(body, length, millis, format);
    makeRoom(request.bytes());
    if (current == null || (current.end > 0 && current.end + request.bytes() > segmentBytes)) {
      beginSegment();
    }
    try {
      write(request, body);
    } catch (IOException e) {
      abandon();
      throw e;
    }
    synchronized (this) {
      current.end += request.bytes();
      current.requests++;
      bytes += request.bytes();
    }
  }

  private void write(StoredRequest request, byte[] body) throws IOException {
    staging.clear();
    request.write(staging);
    long at = current.end;
    for (int done = 0; done < request.length(); ) {
      int part = Math.min(staging.remaining(), request.length() - done);
      staging.put(body, done, part).flip();
      while (staging.hasRemaining()) {
        at += file.write(staging, at);
      }
      staging.clear();
      done += part;
    }
  }

  private void beginSegment() throws IOException {
    closeCurrent();
    if (disk.usableBytes(directory) < SPARED_BYTES + segmentBytes) {
      throw new IOException(
          "less than " + ((SPARED_BYTES + segmentBytes) >> 20) + " MiB of the disk are free");
    }
    long number;
    synchronized (this) {
      number = nextNumber++;
    }
    Segment next = new Segment(number, directory.resolve(String.format("%010d", number) + SEGMENT));
    file = disk.create(next.path);
    current = next;
    synchronized (this) {
      segments.put(number, next);
    }
  }

  /**
   * Cuts an incomplete request off, so that a start does not count it again, and ends the segment.
   */
  private void abandon() {
    Segment abandoned = current;
    try {
      file.truncate(abandoned.end);
    } catch (IOException e) {
      failed("cut an incomplete request off " + abandoned.path, e);
    }
    closeCurrent();
    if (abandoned.end == 0) {
      synchronized (this) {
        segments.remove(abandoned.number);
      }
      delete(abandoned);
    }
  }

  private void closeCurrent() {
    current = null;
    if (file != null) {
      try {
        file.close();
      } catch (IOException e) {
        failed("close a segment", e);
      }
      file = null;
    }
  }

  private void makeRoom(long needed) {
    Segment oldest = oldestIfAbove(maxBytes - needed);
    while (oldest != null) {
      if (oldest == current) {
        closeCurrent();
      }
      delete(oldest);
      oldest = oldestIfAbove(maxBytes - needed);
    }
  }

  /** Removes and returns the oldest segment, if all have more bytes than this. */
  private synchronized Segment oldestIfAbove(long most) {
    if (bytes <= most || segments.isEmpty()) {
      return null;
    }
    Segment oldest = segments.pollFirstEntry().getValue();
    bytes -= oldest.end;
    for (Cursor cursor : cursors.values()) {
      cursor.dropped(oldest);
    }
    return oldest;
  }

  /** Deletes the segments that every endpoint has passed, and stores the positions. */
  void tidy() {
    Segment passed = passed();
    while (passed != null) {
      delete(passed);
      passed = passed();
    }
    boolean save;
    synchronized (this) {
      save = moved;
    }
    if (save) {
      try {
        savePositions();
      } catch (IOException e) {
        synchronized (this) {
          moved = true;
        }
        failed("store the positions of the endpoints", e);
      }
    }
  }

  /** Removes and returns the oldest segment, if all endpoints have accepted its requests. */
  private synchronized Segment passed() {
    if (segments.isEmpty()) {
      return null;
    }
    Segment oldest = segments.firstEntry().getValue();
    Position end = new Position(oldest.number, oldest.end);
    boolean isPassed =
        oldest != current
            && cursors.values().stream().allMatch(cursor -> cursor.done.compareTo(end) >= 0);
    if (!isPassed) {
      return null;
    }
    segments.remove(oldest.number);
    bytes -= oldest.end;
    return oldest;
  }

  private void savePositions() throws IOException {
    StringBuilder text = new StringBuilder();
    synchronized (this) {
      for (Cursor cursor : cursors.values()) {
        Position done = cursor.done;
        text.append(cursor.endpoint + " " + done.segment() + " " + done.offset() + "\n");
      }
      moved = false;
    }
    Path temporary = directory.resolve(POSITIONS + ".new");
    try (Disk.OpenFile written = disk.create(temporary)) {
      ByteBuffer content = ByteBuffer.wrap(text.toString().getBytes(US_ASCII));
      while (content.hasRemaining()) {
        written.write(content, content.position());
      }
    }
    disk.move(temporary, directory.resolve(POSITIONS));
  }

  private void delete(Segment segment) {
    try {
      disk.delete(segment.path);
    } catch (IOException e) {
      failed("delete " + segment.path, e);
    }
  }

  private void failed(String what, IOException failure) {
    if (failureLog.permits()) {
      log.warn("Cannot {}: {}", what, failure.toString());
    }
  }

  /** Stores the positions. Call it on the appending thread, after all cursors are closed. */
  @Override
  public void close() {
    closeCurrent();
    tidy();
  }

  /** A request that was read: its body, and where the next one begins. */
  record Read<T extends OutputStream>(StoredRequest request, T body, Position end) {}

  /** Creates the output of a body. */
  @FunctionalInterface
  interface Output<T extends OutputStream> {
    /** Returns the output; null if the request is to be read later. */
    T create(StoredRequest request) throws IOException;
  }

  /**
   * How far an endpoint has got. The endpoint's thread reads, and reports which requests are done.
   * Requests that are read and not done are read again after a restart.
   */
  final class Cursor implements AutoCloseable {
    private final String endpoint;
    // Guarded by the buffer.
    private Position read;
    private Position done;
    private int passedRequests;
    private boolean met;

    // Confined to the endpoint's thread.
    private long openNumber;
    private Disk.OpenFile open;

    Cursor(String endpoint, Position position) {
      this.endpoint = endpoint;
      moveTo(position);
    }

    private void moveTo(Position position) {
      read = position;
      done = position;
      passedRequests = 0;
      met = false;
    }

    /** Counts, during the scan of a segment, the requests before the position. */
    private void meet(Segment segment) {
      if (read.equals(new Position(segment.number, segment.end))) {
        passedRequests = segment.requests;
        met = true;
      }
    }

    private void dropped(Segment segment) {
      if (read.segment() <= segment.number) {
        skipRest(segment, Drop.BUFFER_FULL);
        read = new Position(segment.number + 1, 0);
        passedRequests = 0;
      }
    }

    private void skipRest(Segment segment, Drop reason) {
      int passed = read.segment() == segment.number ? passedRequests : 0;
      drops.dropped(endpoint, reason, segment.requests - passed);
    }

    /**
     * Reads the next request; the body may be dropped while it is read.
     *
     * @return null after the last request, and if the next one is to be read later
     * @throws IOException if its file cannot be opened, for example because the process has too
     *     many; a later call tries again
     */
    <T extends OutputStream> Read<T> read(Output<T> output) throws IOException {
      while (true) {
        Position at;
        Segment segment;
        long end;
        synchronized (ForwardBuffer.this) {
          segment = next();
          if (segment == null) {
            return null;
          }
          at = read;
          end = segment.end;
        }
        Read<T> found = null;
        if (open(segment)) {
          try {
            found = read(segment, at, end, output);
          } catch (IOException e) {
            failed("read " + segment.path, e);
          }
        }
        synchronized (ForwardBuffer.this) {
          // Else the segment was dropped meanwhile, which is counted.
          if (read.equals(at)) {
            if (found != null && found.body() == null) {
              return null;
            }
            if (found != null) {
              read = found.end();
              passedRequests++;
              return found;
            }
            skipRest(segment, Drop.DAMAGED);
            passedRequests = segment.requests;
            read = new Position(segment.number, segment.end);
          }
        }
      }
    }

    /** Makes the request that was read last the next one, unless it was dropped meanwhile. */
    void unread(Read<?> last) {
      synchronized (ForwardBuffer.this) {
        if (read.equals(last.end())) {
          read = new Position(read.segment(), read.offset() - last.request().bytes());
          passedRequests--;
        }
      }
    }

    /** Moves to the segment of the next request and returns it; null after the last one. */
    private Segment next() {
      Segment segment = segments.get(read.segment());
      while (segment == null || read.offset() >= segment.end) {
        Map.Entry<Long, Segment> later = segments.higherEntry(read.segment());
        if (later == null) {
          return null;
        }
        segment = later.getValue();
        read = new Position(segment.number, 0);
        passedRequests = 0;
      }
      return segment;
    }

    /** Returns whether the segment is open; false if its file is gone. */
    private boolean open(Segment segment) throws IOException {
      if (open == null || openNumber != segment.number) {
        close();
        try {
          open = disk.open(segment.path);
        } catch (NoSuchFileException e) {
          return false;
        }
        openNumber = segment.number;
      }
      return true;
    }

    /** Returns null if the request is damaged; without body and end if it is to be read later. */
    private <T extends OutputStream> Read<T> read(
        Segment segment, Position at, long end, Output<T> output) throws IOException {
      StoredRequest request = StoredRequest.read(open, at.offset(), end - at.offset());
      if (request == null) {
        return null;
      }
      try (T body = output.create(request)) {
        if (body == null) {
          return new Read<>(request, null, null);
        }
        return request.copyBody(open, at.offset(), body)
            ? new Read<>(request, body, new Position(segment.number, at.offset() + request.bytes()))
            : null;
      }
    }

    /** Returns whether the buffer still has a request that ends there and is not done. */
    boolean has(Position end) {
      synchronized (ForwardBuffer.this) {
        return segments.containsKey(end.segment());
      }
    }

    /** Records that all requests before a position need not be read again. */
    void done(Position end) {
      synchronized (ForwardBuffer.this) {
        if (end.compareTo(done) > 0) {
          done = end;
          moved = true;
        }
      }
    }

    /** Records that all requests that were read are done. */
    void allDone() {
      synchronized (ForwardBuffer.this) {
        done(read);
      }
    }

    /** Returns the bytes of the requests that are not done. */
    long backlogBytes() {
      synchronized (ForwardBuffer.this) {
        long backlog = 0;
        for (Segment segment : segments.tailMap(done.segment(), true).values()) {
          boolean isPartly = segment.number == done.segment();
          backlog += segment.end - (isPartly ? done.offset() : 0);
        }
        return backlog;
      }
    }

    /** Closes the file that is read. */
    @Override
    public void close() throws IOException {
      Disk.OpenFile closed = open;
      open = null;
      if (closed != null) {
        closed.close();
      }
    }
  }
}
