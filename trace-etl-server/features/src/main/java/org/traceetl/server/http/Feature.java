package org.traceetl.server.http;

import jakarta.servlet.http.HttpServlet;
import java.util.List;
import java.util.Map;
import org.traceetl.server.component.Component;
import org.traceetl.server.journal.WindowFollower;
import tools.jackson.core.JsonGenerator;

/** A component that can be left out: what it follows, and what it shows on the port. */
public interface Feature extends Component {
  /** Those that are given the windows of this server's queues. */
  default List<WindowFollower> followers() {
    return List.of();
  }

  /** What answers its paths. Called once. */
  default Map<String, HttpServlet> servlets() {
    return Map.of();
  }

  /** Adds to the object of {@code /api/status} what it has to say there. Never waits. */
  default void status(JsonGenerator out) {}
}
