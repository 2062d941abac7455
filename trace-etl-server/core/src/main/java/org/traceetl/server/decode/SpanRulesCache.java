package org.traceetl.server.decode;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.function.Supplier;
import org.traceetl.server.series.Applications;
import org.traceetl.server.series.SymbolTable;

/**
 * Finds the rules of a batch's application by the bytes of its name. Allocates nothing for the
 * {@value #MAX_APPLICATIONS} applications that it remembers. One owner thread.
 */
final class SpanRulesCache {
  private static final int MAX_APPLICATIONS = 1 << 14;
  private static final long MAX_BYTES = 1 << 20;
  private static final byte[] UNNAMED = Applications.UNNAMED.getBytes(UTF_8);

  private final Supplier<SpanRulesInForce> inForce;
  private final int maxNameBytes;
  private final long seed;

  /** Rules whose results are remembered. */
  private SpanRulesInForce remembered;

  private SymbolTable names;

  /** By symbol of the name; null where not known. */
  private SpanRules[] rules = new SpanRules[64];

  /**
   * @param inForce called for each batch
   * @param maxNameBytes longer names are cut
   * @param seed of the hashes; random
   */
  SpanRulesCache(Supplier<SpanRulesInForce> inForce, int maxNameBytes, long seed) {
    this.inForce = inForce;
    this.maxNameBytes = maxNameBytes;
    this.seed = seed;
  }

  /**
   * Returns the rules of an application.
   *
   * @param text its name; negative without one
   */
  SpanRules of(Texts texts, int text) {
    SpanRulesInForce now = inForce.get();
    if (now.isUniform()) {
      return now.others();
    }
    if (now != remembered) {
      forget();
      remembered = now;
    }
    return text < 0 || texts.length(text) == 0
        ? of(UNNAMED, 0, UNNAMED.length)
        : of(texts.buffer(text), texts.offset(text), texts.length(text));
  }

  private void forget() {
    names = new SymbolTable(MAX_APPLICATIONS, MAX_BYTES, maxNameBytes, seed);
    Arrays.fill(rules, null);
  }

  private SpanRules of(byte[] bytes, int offset, int length) {
    int name = names.intern(bytes, offset, length);
    if (name == SymbolTable.FULL) {
      forget();
      name = names.intern(bytes, offset, length);
    }
    if (name >= rules.length) {
      rules = Arrays.copyOf(rules, Math.max(name + 1, rules.length * 2));
    }
    if (rules[name] == null) {
      rules[name] = remembered.of(names.text(name));
    }
    return rules[name];
  }
}
