package org.traceetl.server.learn;

/**
 * A place in an application's span names at which many different tokens stood.
 *
 * @param prefix all that stands before it
 * @param behind tokens behind it
 * @param values different ones when it was found
 */
record Variety(String application, String prefix, int behind, int values) {}
