package org.traceetl.server.features.pages;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Section;

/**
 * The sections of one family on a page, and of the families with the same name after it. The fold
 * thread adds them; once published, they do not change and any thread reads them.
 */
final class FamilySections {
  private static final int INITIAL_SECTIONS = 16;

  private final Family family;
  private final List<Section> sections = new ArrayList<>();

  /** By section, the number that assigns it to a {@link Shard}. */
  private int[] parts = new int[INITIAL_SECTIONS];

  private int part;
  private long bytes;

  FamilySections(Family family) {
    this.family = family;
  }

  /** Returns whether a family has the name of this one. */
  boolean isOf(Family other) {
    return family.name().equals(other.name());
  }

  /** Sets the number that assigns the next sections to a shard. */
  void part(int number) {
    part = number;
  }

  /** Adds a section; an empty one is left out. */
  void add(Section section) {
    if (section.length() == 0) {
      return;
    }
    if (sections.size() == parts.length) {
      parts = Arrays.copyOf(parts, 2 * parts.length);
    }
    parts[sections.size()] = part;
    sections.add(section);
    bytes += section.length();
  }

  /** Returns all sections. */
  List<Section> sections() {
    return sections;
  }

  /**
   * Returns the header of the family.
   *
   * @param ofSections length of the sections after it
   */
  byte[] header(Format format, long ofSections) {
    return family.header(format, ofSections);
  }

  /** Returns the length of all sections. */
  long bytes() {
    return bytes;
  }

  /**
   * Appends the header and the sections of a shard.
   *
   * @param deflated whether the header is deflated
   */
  void addTo(List<Section> page, Shard shard, Format format, boolean deflated) {
    int header = page.size();
    page.add(null);
    long ofShard = 0;
    for (int i = 0; i < sections.size(); i++) {
      if (shard.has(parts[i])) {
        page.add(sections.get(i));
        ofShard += sections.get(i).length();
      }
    }
    page.set(header, Section.of(header(format, ofShard), deflated));
  }
}
