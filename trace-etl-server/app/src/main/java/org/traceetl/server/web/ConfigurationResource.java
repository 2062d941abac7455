package org.traceetl.server.web;

import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.traceetl.server.binding.KeysInForce;

/** The keys that this server runs with. */
@RestController
final class ConfigurationResource {
  private final Keys keys;

  ConfigurationResource(List<KeysInForce.Key> keys) {
    this.keys =
        new Keys(
            keys.stream()
                .map(key -> new Key(key.key(), key.value(), key.from() != null, key.from()))
                .toList());
  }

  record Keys(List<Key> keys) {}

  record Key(String key, String value, boolean given, String from) {}

  @GetMapping("/api/configuration")
  Keys keys() {
    return keys;
  }
}
