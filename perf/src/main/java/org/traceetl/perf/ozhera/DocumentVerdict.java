package org.traceetl.perf.ozhera;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The documents that are there, one by one, held to those that should be.
 *
 * @param missing how many are not there
 * @param wrong how many are not as they should be, are there more than once or should not be at all
 * @param secrets how many have a password in them
 * @param differences a line for each of the first ones
 */
record DocumentVerdict(long missing, long wrong, long secrets, List<String> differences) {
  private static final int MOST_TOLD = 40;

  static DocumentVerdict of(
      Map<String, ExpectedDocument> expected, Map<String, List<IndexedDocuments.Found>> found) {
    List<String> differences = new ArrayList<>();
    long missing = 0;
    long wrong = 0;
    long secrets = 0;
    for (Map.Entry<String, ExpectedDocument> one : new TreeMap<>(expected).entrySet()) {
      List<IndexedDocuments.Found> there = found.getOrDefault(one.getKey(), List.of());
      if (there.isEmpty()) {
        missing++;
        tell(differences, "no document " + one.getValue().fields());
      } else if (there.size() > 1 || !there.getFirst().document().equals(one.getValue())) {
        wrong++;
        tell(differences, "documents " + there + " instead of " + one.getValue().fields());
      }
    }
    for (Map.Entry<String, List<IndexedDocuments.Found>> one : new TreeMap<>(found).entrySet()) {
      if (!expected.containsKey(one.getKey())) {
        wrong++;
        tell(differences, "a document that should not be: " + one.getValue());
      }
      if (one.getValue().toString().contains(Secrets.PASSWORD)) {
        secrets++;
        tell(differences, "a document with a password: trace " + one.getKey());
      }
    }
    return new DocumentVerdict(missing, wrong, secrets, List.copyOf(differences));
  }

  private static void tell(List<String> differences, String line) {
    if (differences.size() < MOST_TOLD) {
      differences.add(line);
    }
  }

  boolean isEqual() {
    return missing == 0 && wrong == 0 && secrets == 0;
  }
}
