package org.traceetl.server.ozhera;

import java.util.ArrayList;
import java.util.List;
import org.traceetl.server.decode.AttributeKeys;

/**
 * A fact that an attribute states, by its key: OzHera's keys, which are those of an old
 * OpenTelemetry version, and today's keys with the same meaning.
 */
enum Fact {
  THREAD("thread.name"),
  HTTP_METHOD("http.method", "http.request.method"),
  STATUS_CODE("http.status_code", "http.response.status_code"),
  URL("http.url", "url.full"),
  USER_AGENT("http.user_agent", "user_agent.original"),
  SYSTEM("rpc.system", "rpc.system.name", "db.system", "db.system.name", "messaging.system"),
  RPC_METHOD("rpc.method"),
  RPC_SERVICE("rpc.service"),
  KIND("span.kind"),
  STATEMENT("db.statement", "db.query.text"),
  OPERATION("db.operation", "db.operation.name"),
  DATABASE("db.name", "db.namespace"),
  CONNECTION("db.connection_string"),
  HOST("net.peer.name", "net.peer.ip", "server.address"),
  PORT("net.peer.port", "server.port"),
  TOPIC("messaging.destination", "messaging.destination.name"),
  ERROR("error"),
  ANNOTATED("hera.annotations");

  private static final Fact[] BY_KEY;
  private static final AttributeKeys ALL_KEYS;

  static {
    List<Fact> facts = new ArrayList<>();
    List<String> keys = new ArrayList<>();
    for (Fact fact : values()) {
      for (String key : fact.keys) {
        facts.add(fact);
        keys.add(key);
      }
    }
    BY_KEY = facts.toArray(Fact[]::new);
    ALL_KEYS = new AttributeKeys(keys);
  }

  private final String[] keys;

  Fact(String... keys) {
    this.keys = keys;
  }

  /** All keys of facts. */
  static AttributeKeys keys() {
    return ALL_KEYS;
  }

  /** Returns the fact of a key; null for none. */
  static Fact of(byte[] buffer, int offset, int length) {
    int number = ALL_KEYS.find(buffer, offset, length);
    return number == AttributeKeys.NONE ? null : BY_KEY[number];
  }
}
