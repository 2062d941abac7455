package org.traceetl.perf.systest.ozhera;

import java.util.Map;
import java.util.TreeMap;

/** The document of a slow or failed span in OzHera's Elasticsearch, without empty fields. */
record ExpectedDocument(Map<String, String> fields) {
  static ExpectedDocument of(Map<String, String> fields) {
    Map<String, String> sorted = new TreeMap<>();
    fields.forEach((field, value) -> {
      if (value != null && !value.isEmpty()) {
        sorted.put(field, value);
      }
    });
    return new ExpectedDocument(sorted);
  }

  String traceId() {
    return fields.get("traceId");
  }
}
