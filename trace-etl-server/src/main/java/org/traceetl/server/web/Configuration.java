package org.traceetl.server.web;

import java.util.stream.Collectors;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.core.env.Environment;
import org.traceetl.server.config.ServerConfig;

/** Makes the configuration of what Spring has gathered from files, environment and arguments. */
final class Configuration {
  static final String PREFIX = "trace-etl";

  private Configuration() {}

  /**
   * Unknown keys are refused, but not those of the environment: orchestrators put variables there
   * that only look like ours.
   *
   * @throws ConfigurationRefused saying which key, which value, and what would be right
   */
  static ServerConfig bind(Environment environment) {
    try {
      return Binder.get(environment)
          .bindOrCreate(
              PREFIX,
              org.springframework.boot.context.properties.bind.Bindable.of(ServerProperties.class),
              new NoUnboundElementsBindHandler(
                  BindHandler.DEFAULT, new UnboundElementsSourceFilter()))
          .toConfig();
    } catch (BindException e) {
      throw new ConfigurationRefused(explain(e), e);
    } catch (IllegalArgumentException e) {
      throw new ConfigurationRefused(qualified(e.getMessage()), e);
    }
  }

  private static String explain(BindException failure) {
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
      if (root instanceof UnboundConfigurationPropertiesException unbound) {
        return unbound.getUnboundProperties().stream()
            .map(property -> shown(property) + ": is no key of this server")
            .collect(Collectors.joining("\n"));
      }
      if (root instanceof org.traceetl.server.config.ConfigException) {
        return root.getMessage();
      }
    }
    ConfigurationProperty property = failure.getProperty();
    String where = property == null ? failure.getName().toString() : shown(property);
    return where + ": must be " + failure.getTarget().getType() + ": " + root.getMessage();
  }

  private static String shown(ConfigurationProperty property) {
    String name = property.getName().toString();
    boolean secret = name.matches(".*(password|secret|token|api-?key).*");
    return name + " = " + (secret ? "***" : property.getValue());
  }

  private static String qualified(String message) {
    return message.startsWith(PREFIX) ? message : PREFIX + "." + message;
  }
}
