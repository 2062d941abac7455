package org.traceetl.server.http;

import jakarta.servlet.http.HttpServlet;
import java.util.List;
import java.util.Map;
import org.traceetl.server.component.Component;
import org.traceetl.server.journal.WindowFollower;

/** A component that can be left out: what it follows, and what it shows on the port. */
public interface Feature extends Component {
  /** Returns the followers of the windows of this server's queues. */
  default List<WindowFollower> followers() {
    return List.of();
  }

  /** Returns the classes annotated as controllers that answer paths below {@code /api}. */
  default List<Object> resources() {
    return List.of();
  }

  /** Returns the servlets of other paths. Called once. */
  default Map<String, HttpServlet> servlets() {
    return Map.of();
  }

  /** Adds the feature's fields to the answer of {@code /api/status}. Never waits. */
  default void status(Map<String, Object> fields) {}
}
