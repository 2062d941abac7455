package org.traceetl.server.http;

import jakarta.servlet.http.HttpServlet;
import java.util.List;
import java.util.Map;
import org.traceetl.server.component.Background;
import org.traceetl.server.component.Component;
import org.traceetl.server.journal.WindowFollower;
import org.traceetl.server.rocketmq.Endpoint;

/** A component that can be left out: what it follows, and what it shows on the port. */
public interface Feature extends Component {
  /** Returns the work that starts, fails and ends with the feature; null for none. */
  default Background background() {
    return null;
  }

  @Override
  default void start(Endpoint here) {
    if (background() != null) {
      background().start();
    }
  }

  @Override
  default boolean healthy() {
    return background() == null || background().alive();
  }

  @Override
  default void close() {
    if (background() != null) {
      background().close();
    }
  }

  /** Returns the followers of the windows of this server's queues. */
  default List<WindowFollower> followers() {
    return List.of();
  }

  /** Returns the followers of the windows of this server's queues of half-edges. */
  default List<WindowFollower> edgeFollowers() {
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
