package org.traceetl.agent.source.ring;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.proto.ring.MalformedRingException;
import org.traceetl.proto.ring.RingHeader;

/** The rings that are being read. Opens and closes them. Owned by the source's thread. */
final class OpenRings {
  private static final Logger log = LoggerFactory.getLogger(OpenRings.class);

  /** Consecutive memory faults without a known cause after which the current ring is given up. */
  private static final int MOST_FAULTS = 3;

  private final Shares shares;
  private final RingPositions positions;
  private final GivenUpRings givenUp;
  private final RingReader reader;
  private final Ring.Payloads payloads;
  private final Map<String, Ring> rings = new LinkedHashMap<>();

  OpenRings(
      Shares shares,
      RingPositions positions,
      GivenUpRings givenUp,
      RingReader reader,
      Ring.Payloads payloads) {
    this.shares = shares;
    this.positions = positions;
    this.givenUp = givenUp;
    this.reader = reader;
    this.payloads = payloads;
  }

  int size() {
    return rings.size();
  }

  Collection<Ring> all() {
    return rings.values();
  }

  /** Returns a copy that later changes do not affect. */
  List<Ring> copy() {
    return List.copyOf(rings.values());
  }

  /** Returns whether a ring is open or given up. */
  boolean knows(String name) {
    return rings.containsKey(name) || givenUp.contains(name);
  }

  /** Returns how many rings were given up whose files still exist. */
  int givenUp() {
    return givenUp.size();
  }

  /**
   * Forgets rings that were not opened or were given up, and no longer exist.
   *
   * @param names of the existing rings
   * @param positionsToo whether to delete their positions from the spool
   */
  void retain(Set<String> names, boolean positionsToo) {
    givenUp.retain(names);
    if (positionsToo) {
      positions.forgetAllBut(names);
    }
  }

  /** Removes the files of given-up rings that have no writer any more. */
  void removeDead(RingFiles files) {
    givenUp.removeDead(files).forEach(positions::forget);
  }

  boolean contains(Ring ring) {
    return rings.get(ring.name) == ring;
  }

  /**
   * Opens a ring, or gives it up.
   *
   * @return false if it must wait for room
   */
  boolean open(RingFiles files, String name, long now) {
    try {
      RingFiles.Opened opened = files.openRing(name);
      Ring renamed = of(opened.status());
      if (renamed != null) {
        opened.channel().close();
        rename(renamed, name, opened.status());
        return true;
      }
      return open(files, name, opened, now);
    } catch (NoSuchFileException e) {
      log.debug("Ring {} disappeared before it was opened", name);
    } catch (IOException | MalformedRingException | InternalError | RuntimeException e) {
      givenUp.add(name, e);
    }
    return true;
  }

  private boolean open(RingFiles files, String name, RingFiles.Opened opened, long now)
      throws IOException, MalformedRingException {
    RingHeader header;
    boolean fits;
    try {
      header = Ring.header(opened.channel());
      fits = shares.hasRoom(opened.status().user(), header.fileBytes());
      if (fits && !files.isWhole(name, opened.status(), header.fileBytes())) {
        throw new MalformedRingException(MalformedRingException.Part.HEADER, "its file has holes");
      }
    } catch (IOException | MalformedRingException e) {
      opened.channel().close();
      throw e;
    }
    if (!fits) {
      opened.channel().close();
      return false;
    }
    Ring ring =
        Ring.map(name, header, opened, positions.of(name), shares.mostStringBytes(), payloads);
    ring.nextCheckNanos = now;
    ring.pausedUntilNanos = now;
    rings.put(name, ring);
    shares.add(ring);
    if (!shares.hasRoomForStrings(ring, ring.chargedBytes)) {
      drop(ring);
      return false;
    }
    positions.goesOn(name);
    log.info("Reading ring {} of process {} from byte {}", name, header.processId(), ring.position);
    return true;
  }

  /** Returns the ring of a file, whatever its name is; null if it is not open. */
  private Ring of(RingFiles.Status file) {
    for (Ring ring : rings.values()) {
      if (ring.file.isSameFile(file)) {
        return ring;
      }
    }
    return null;
  }

  /** Continues under the new name; opening the file again would count its spans twice. */
  private void rename(Ring ring, String name, RingFiles.Status file) {
    log.info("Ring {} was renamed to {}", ring.name, name);
    rings.remove(ring.name);
    if (ring.saved) {
      positions.forget(ring.name);
    }
    ring.name = name;
    ring.file = file;
    rings.put(name, ring);
  }

  /** Closes the ring and unmaps its memory. */
  void drop(Ring ring) {
    rings.remove(ring.name);
    shares.remove(ring);
    reader.release(ring);
    try {
      ring.close();
    } catch (IOException e) {
      log.warn("Cannot close ring {}: {}", ring.name, e.toString());
    }
  }

  void giveUp(Ring ring, Throwable cause) {
    drop(ring);
    givenUp.add(ring.name, cause);
  }

  /**
   * Handles a memory fault, which the JVM may report late: gives up all rings whose files lack
   * memory. If none does, counts the fault for the current ring.
   *
   * @param files null while there is no directory
   * @param atHand the current ring; null for none
   */
  void giveUpGuilty(RingFiles files, Ring atHand, InternalError fault) {
    boolean found = false;
    for (Ring ring : copy()) {
      if (lacksMemory(files, ring)) {
        giveUp(ring, fault);
        found = true;
      }
    }
    if (!found && atHand != null && ++atHand.faults == MOST_FAULTS) {
      giveUp(atHand, fault);
    }
  }

  /** Returns true also if the file was cut and extended again, or cannot be read. */
  private static boolean lacksMemory(RingFiles files, Ring ring) {
    try {
      return ring.isCut()
          || (files != null && !files.isWhole(ring.name, ring.file, ring.header.fileBytes()));
    } catch (IOException e) {
      return true;
    }
  }
}
