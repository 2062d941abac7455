package org.traceetl.server.features.pages;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Page;
import org.traceetl.server.expose.Section;

/**
 * The families of one naming in one encoding, whole, and by their sections. A shard is put together
 * from the sections by the request that reads it, so it is rendered and stored only once, as part
 * of the whole page.
 *
 * @param inflated whether only deflated sections exist although the encoding is plain
 * @param current whether all queues on the page may still be shown
 */
record PublishedPage(
    Page whole, List<FamilySections> families, boolean inflated, BooleanSupplier current) {
  Page page(Shard shard) {
    if (shard.equals(Shard.WHOLE)) {
      return whole;
    }
    Encoding encoding = whole.encoding();
    List<Section> sections = new ArrayList<>();
    for (FamilySections family : families) {
      family.addTo(sections, shard, encoding.format(), encoding.gzip() || inflated);
    }
    return Page.of(encoding, sections, inflated, current);
  }
}
