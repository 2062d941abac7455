package org.traceetl.perf.systest.ozhera;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.perf.systest.IndexedDocuments;

/**
 * Compares each document found with the expected one.
 *
 * @param missing how many are missing
 * @param wrong how many are different, repeated or unexpected
 * @param secrets how many contain a password
 * @param differences a line for each of the first ones
 */
record DocumentVerdict(long missing, long wrong, long secrets, List<String> differences) {
  private static final int MOST_TOLD = 40;

  record Found(String index, ExpectedDocument document) {}

  /** Reads all documents, by trace ID. */
  static Map<String, List<Found>> read(IndexedDocuments documents)
      throws IOException, InterruptedException {
    Map<String, List<Found>> all = new HashMap<>();
    documents.forEach(
        List.of(),
        (index, source) -> {
          Map<String, String> fields = new TreeMap<>();
          // The fields are texts: a number is compared as its JSON.
          source.forEachEntry((name, value) ->
              fields.put(name, value.isString() ? value.asString() : value.toString()));
          Found found = new Found(index, ExpectedDocument.of(fields));
          all.computeIfAbsent(found.document.traceId(), ignored -> new ArrayList<>()).add(found);
        });
    return all;
  }

  static DocumentVerdict of(
      Map<String, ExpectedDocument> expected, Map<String, List<Found>> found) {
    List<String> differences = new ArrayList<>();
    long missing = 0;
    long wrong = 0;
    long secrets = 0;
    for (Map.Entry<String, ExpectedDocument> one : new TreeMap<>(expected).entrySet()) {
      List<Found> there = found.getOrDefault(one.getKey(), List.of());
      if (there.isEmpty()) {
        missing++;
        tell(differences, "missing document " + one.getValue().fields());
      } else if (there.size() > 1 || !there.getFirst().document().equals(one.getValue())) {
        wrong++;
        tell(differences, "documents " + there + " instead of " + one.getValue().fields());
      }
    }
    for (Map.Entry<String, List<Found>> one : new TreeMap<>(found).entrySet()) {
      if (!expected.containsKey(one.getKey())) {
        wrong++;
        tell(differences, "unexpected document " + one.getValue());
      }
      if (one.getValue().toString().contains(DatabaseSecret.PASSWORD)) {
        secrets++;
        tell(differences, "document with a password, trace " + one.getKey());
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
