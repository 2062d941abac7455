package org.traceetl.server.features.history;

/**
 * What an application used in some minutes.
 *
 * @param spans received, without duplicates
 * @param bytes of its batches as they were sent, without duplicates
 * @param seriesMillis its live series times the milliseconds of the windows in which they lived
 * @param documents sent to the index
 */
record Usage(String application, long spans, long bytes, long seriesMillis, long documents) {
  boolean isEmpty() {
    return (spans | bytes | seriesMillis | documents) == 0;
  }
}
