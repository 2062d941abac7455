package org.traceetl.server.migration;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

/** A section of the file. It knows which keys were read, so that no key passes unnamed. */
final class Section {
  private final Value value;
  private final Map<String, Node> unread = new LinkedHashMap<>();

  Section(Value value) {
    this.value = value;
    if (value.present()) {
      if (value.node() instanceof MappingNode mapping) {
        read(mapping, Collections.newSetFromMap(new IdentityHashMap<>()));
      } else {
        value.report().problem(value, "must be a section of keys" + value.variable());
      }
    }
  }

  /** Adds keys, and then those of merged sections, of which the section's own keys win. */
  private void read(MappingNode mapping, Set<Node> merged) {
    if (!merged.add(mapping)) {
      return;
    }
    boolean own = merged.size() == 1;
    for (NodeTuple tuple : mapping.getValue()) {
      Value key = new Value(value.report(), value.path(), tuple.getKeyNode());
      if (!(tuple.getKeyNode() instanceof ScalarNode name)) {
        value.report().problem(key, "must have texts as keys");
      } else if (!name.getTag().equals(Tag.MERGE)
          && unread.putIfAbsent(name.getValue(), tuple.getValueNode()) != null
          && own) {
        value.report().problem(key, "must not occur twice");
      }
    }
    for (NodeTuple tuple : mapping.getValue()) {
      if (tuple.getKeyNode().getTag().equals(Tag.MERGE)) {
        List<Node> others =
            tuple.getValueNode() instanceof SequenceNode several
                ? several.getValue()
                : List.of(tuple.getValueNode());
        for (Node other : others) {
          if (other instanceof MappingNode section) {
            read(section, merged);
          }
        }
      }
    }
  }

  Value value() {
    return value;
  }

  Report report() {
    return value.report();
  }

  String path(String key) {
    return value.path().isEmpty() ? key : value.path() + "." + key;
  }

  /** Returns the value of a key, which then counts as read. */
  Value take(String key) {
    return new Value(report(), path(key), unread.remove(key));
  }

  /** Returns the values of keys that were not read. */
  Map<String, Value> rest() {
    Map<String, Value> rest = new LinkedHashMap<>();
    unread.forEach((key, node) -> rest.put(key, new Value(report(), path(key), node)));
    return rest;
  }

  /**
   * Reports each key that was not read.
   *
   * @param effects what happens, by key
   * @param unknown what happens with a key that is not among them
   */
  void reportRest(Map<String, String> effects, String unknown) {
    rest().forEach((key, value) -> report().gap(value, effects.getOrDefault(key, unknown)));
  }
}
