package org.traceetl.agent.kubernetes;

import java.util.Set;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The fields of lists, events and pods that the agent uses. All others are skipped while they are
 * read: whoever creates a pod can make them as large as the API server accepts.
 */
final class UsedFields {
  /** Longer arrays lose the elements after these. */
  static final int MAX_ELEMENTS = 32;

  /** Wherever they are, as none of them is below a field that is not used. */
  private static final Set<String> NAMES =
      Set.of(
          "type",
          "object",
          "code",
          "metadata",
          "continue",
          "resourceVersion",
          "name",
          "namespace",
          "uid",
          "deletionTimestamp",
          "labels",
          "app.kubernetes.io/instance",
          "app.kubernetes.io/name",
          "app.kubernetes.io/version",
          "pod-template-hash",
          "annotations",
          "resource.opentelemetry.io/service.name",
          "resource.opentelemetry.io/service.version",
          "ownerReferences",
          "kind",
          "controller",
          "spec",
          "nodeName",
          "hostNetwork",
          "status",
          "phase",
          "podIPs",
          "ip",
          "containerStatuses",
          "initContainerStatuses",
          "ephemeralContainerStatuses",
          "containerID",
          "state",
          "running");

  private UsedFields() {}

  /** Reads the value that begins at the current token, up to its end. */
  static JsonNode read(JsonParser json) {
    if (json.currentToken() == JsonToken.START_OBJECT) {
      ObjectNode object = JsonNodeFactory.instance.objectNode();
      while (json.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = json.currentName();
        json.nextToken();
        if (NAMES.contains(name)) {
          object.set(name, read(json));
        } else {
          json.skipChildren();
        }
      }
      return object;
    }
    if (json.currentToken() == JsonToken.START_ARRAY) {
      ArrayNode array = JsonNodeFactory.instance.arrayNode();
      while (json.nextToken() != JsonToken.END_ARRAY) {
        if (array.size() < MAX_ELEMENTS) {
          array.add(read(json));
        } else {
          json.skipChildren();
        }
      }
      return array;
    }
    return json.readValueAsTree();
  }
}
