package org.traceetl.server.features.push;

import com.google.common.collect.Interner;
import com.google.common.collect.Interners;
import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.LabelText;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The names and labels of pushed series: those of the page, and labels of this server. For all
 * threads.
 */
final class PushNaming {
  private final Naming naming;

  /** Null for Remote Write. */
  private final Map<String, String> resourceAttributes;

  /** Those of {@link Naming#families()} when they were last read, which may have become more. */
  private volatile List<PushedFamily> families = List.of();

  /** How many of those families the list represents. */
  private int familiesRead;

  private final List<Symbol> ownNames = new ArrayList<>();
  private final List<Symbol> ownValues = new ArrayList<>();

  /** Most names and values are those of other series too: they take memory once. */
  private final Interner<Symbol> symbols = Interners.newWeakInterner();

  /**
   * Creates the naming for Remote Write.
   *
   * @param labels added to each series that does not have them
   */
  PushNaming(Naming naming, Map<String, String> labels) {
    this(naming, labels, null);
  }

  /**
   * Creates the naming for OTLP, in which a histogram is one point.
   *
   * @param resourceAttributes of all resources; null for Remote Write
   */
  PushNaming(Naming naming, Map<String, String> labels, Map<String, String> resourceAttributes) {
    this.naming = naming;
    this.resourceAttributes = resourceAttributes;
    readFamilies();
    labels.forEach((name, value) -> {
      // Prometheus treats an empty label as absent.
      if (!value.isEmpty()) {
        ownNames.add(Symbol.of(name));
        ownValues.add(Symbol.of(value));
      }
    });
  }

  List<PushedFamily> families() {
    return families;
  }

  private synchronized void readFamilies() {
    List<Family> all = naming.families();
    if (familiesRead < all.size()) {
      List<PushedFamily> now = new ArrayList<>(families);
      all.stream()
          .skip(familiesRead)
          .filter(family -> family != naming.received())
          .forEach(family -> now.add(new PushedFamily(family, family == naming.size())));
      familiesRead = all.size();
      families = List.copyOf(now);
    }
  }

  /**
   * Returns the number of samples and native histograms, or of points of OTLP, of a series of these
   * families.
   */
  int samples(long familyBits) {
    int samples = 0;
    for (PushedFamily family : families) {
      if ((family.bit & familyBits) != 0) {
        samples += family.isHistogram ? ofHistogram(family) : 1;
      }
    }
    return samples;
  }

  private int ofHistogram(PushedFamily family) {
    if (resourceAttributes != null) {
      return 1;
    }
    int classic = family.isClassic ? family.le.length + 2 : 0;
    return classic + (family.nativeBuckets == null ? 0 : 1);
  }

  /** Returns the attributes of all resources of OTLP; null for Remote Write. */
  Map<String, String> resourceAttributes() {
    return resourceAttributes;
  }

  /** Returns the numbers of a series in windows. */
  int stride() {
    return naming.stride();
  }

  /** Returns how many of them, from the first, are buckets; the size may follow. */
  int buckets() {
    return naming.buckets();
  }

  /**
   * Returns the labels of a series.
   *
   * @param queue null for a series of all queues
   * @param shards number of shards of the endpoint
   */
  PushedSeries series(QueueId queue, SeriesDefinition definition, int shards) {
    List<Symbol> names = new ArrayList<>();
    List<Symbol> values = new ArrayList<>();
    String queueLabel = queue == null ? null : naming.queueLabel(queue, definition);
    byte[] labels = naming.labels(definition, queueLabel);
    // Receivers of Remote Write may refuse UTF-8 names; those of OTLP convert them.
    boolean escapes = naming.hasUtf8Names() && resourceAttributes == null;
    LabelReader.read(escapes ? LabelText.escaped(labels) : labels, names, values);
    for (int i = 0; i < ownNames.size(); i++) {
      if (!names.contains(ownNames.get(i))) {
        names.add(ownNames.get(i));
        values.add(ownValues.get(i));
      }
    }
    names.replaceAll(symbols::intern);
    values.replaceAll(symbols::intern);
    long familyBits = naming.families(definition);
    readFamilies();
    return new PushedSeries(
        definition, names, values, familyBits, Math.floorMod(hash(names, values), shards));
  }

  /** The same in all processes, so that the next owner of a queue has the same shards. */
  private static int hash(List<Symbol> names, List<Symbol> values) {
    Hasher hasher = Hashing.murmur3_32_fixed().newHasher();
    for (int i = 0; i < names.size(); i++) {
      hasher.putBytes(names.get(i).utf8).putByte((byte) 0);
      hasher.putBytes(values.get(i).utf8).putByte((byte) 0);
    }
    return hasher.hash().asInt();
  }
}
