package org.traceetl.server.web;

import java.util.List;
import java.util.Set;
import org.traceetl.server.binding.KeysInForce;
import org.traceetl.server.http.JsonServlet;
import org.traceetl.server.http.Parameters;
import tools.jackson.core.JsonGenerator;

/** {@code GET /api/configuration}: the keys that this server runs by. */
final class ConfigurationServlet extends JsonServlet {
  static final String PATH = "/api/configuration";

  private static final long serialVersionUID = 1L;

  private final transient List<KeysInForce.Key> keys;

  ConfigurationServlet(List<KeysInForce.Key> keys) {
    super(Set.of());
    this.keys = keys;
  }

  @Override
  protected void answer(Parameters given, JsonGenerator out) {
    out.writeStartObject();
    out.writeArrayPropertyStart("keys");
    for (KeysInForce.Key key : keys) {
      out.writeStartObject();
      out.writeStringProperty("key", key.key());
      out.writeStringProperty("value", key.value());
      out.writeBooleanProperty("given", key.from() != null);
      out.writeStringProperty("from", key.from());
      out.writeEndObject();
    }
    out.writeEndArray();
    out.writeEndObject();
  }
}
