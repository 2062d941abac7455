package org.traceetl.server.binding;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.env.PropertiesPropertySourceLoader;
import org.springframework.boot.env.PropertySourceLoader;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.origin.Origin;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.boot.origin.SystemEnvironmentOrigin;
import org.springframework.boot.origin.TextResourceOrigin;
import org.springframework.core.env.CommandLinePropertySource;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.FileSystemResource;
import org.springframework.core.io.Resource;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * The configuration file of the operator. It is checked before Spring reads it, because Spring
 * reports errors with stack traces.
 */
public final class ConfigFile {
  private static final List<String> SECTIONS =
      List.of("trace-etl", "server", "spring", "management", "logging");
  private static final Set<String> UNIFORM_SECTIONS =
      Set.of("traceetl", "server", "spring", "management", "logging");

  private ConfigFile() {}

  /**
   * Returns the argument that makes Spring read the file.
   *
   * @throws ConfigurationRefused if it is neither YAML nor properties, or has an unknown section
   */
  public static String argument(Path file) {
    Set<String> unknown = new TreeSet<>();
    for (PropertySource<?> source : load("--config", file)) {
      for (String name : ((EnumerablePropertySource<?>) source).getPropertyNames()) {
        if (!UNIFORM_SECTIONS.contains(
            ConfigurationPropertyName.adapt(name, '.').getElement(0, Form.UNIFORM))) {
          unknown.add(
              name
                  + ": must begin with one of "
                  + String.join(", ", SECTIONS)
                  + "; "
                  + where(PropertySourceOrigin.get(source, name)));
        }
      }
    }
    if (!unknown.isEmpty()) {
      throw new ConfigurationRefused(String.join("\n", unknown), null);
    }
    return "--spring.config.additional-location=" + file.toUri();
  }

  /** Returns file and line, or a description of the origin if it is not a line of a file. */
  static String where(Origin origin) {
    return line(origin).orElseGet(() -> source(inner(origin)));
  }

  private static String source(Origin origin) {
    if (origin instanceof SystemEnvironmentOrigin environment) {
      return "in environment variable " + environment.getProperty();
    }
    boolean argument =
        origin instanceof PropertySourceOrigin source
            && source.getPropertySource() instanceof CommandLinePropertySource;
    return argument ? "on the command line" : String.valueOf(origin);
  }

  /** Returns file and line, if the origin is a line of a file. */
  static Optional<String> line(Origin origin) {
    if (inner(origin) instanceof TextResourceOrigin text && text.getLocation() != null) {
      try {
        return Optional.of(text.getResource().getFile() + ":" + (text.getLocation().getLine() + 1));
      } catch (IOException e) {
        // Not a file resource.
        return Optional.empty();
      }
    }
    return Optional.empty();
  }

  private static Origin inner(Origin origin) {
    return origin instanceof PropertySourceOrigin outer && outer.getOrigin() != null
        ? outer.getOrigin()
        : origin;
  }

  /**
   * Returns the documents of a file, whose values have their lines as origins.
   *
   * @param option the option that names the file, for messages
   * @throws ConfigurationRefused if it is neither YAML nor properties
   */
  static List<PropertySource<?>> load(String option, Path file) {
    return load(option, file, new FileSystemResource(file));
  }

  /** Returns the documents in the content that was read from a file; as the other method. */
  static List<PropertySource<?>> load(String option, Path file, byte[] content) {
    return load(option, file, resource(file, content));
  }

  /** The same for YAML in a file with any name. */
  static List<PropertySource<?>> loadYaml(String option, Path file, byte[] content) {
    return load(option, file, resource(file, content), new YamlPropertySourceLoader());
  }

  private static Resource resource(Path file, byte[] content) {
    return new ByteArrayResource(content) {
      @Override
      public File getFile() {
        return file.toFile();
      }
    };
  }

  private static List<PropertySource<?>> load(String option, Path file, Resource resource) {
    String name = file.toString();
    PropertySourceLoader loader;
    if (name.endsWith(".yaml") || name.endsWith(".yml")) {
      loader = new YamlPropertySourceLoader();
    } else if (name.endsWith(".properties")) {
      loader = new PropertiesPropertySourceLoader();
    } else {
      throw refused(option, file.toString(), "must end in .yaml, .yml or .properties", null);
    }
    return load(option, file, resource, loader);
  }

  private static List<PropertySource<?>> load(
      String option, Path file, Resource resource, PropertySourceLoader loader) {
    try {
      return new ArrayList<>(loader.load(file.toString(), resource));
    } catch (MarkedYAMLException e) {
      int line = e.getProblemMark() == null ? 1 : e.getProblemMark().getLine() + 1;
      throw refused(option, file + ":" + line, "is not YAML: " + e.getProblem(), e);
    } catch (YAMLException e) {
      throw refused(option, file.toString(), "is not YAML: " + firstLine(e), e);
    } catch (IOException | RuntimeException e) {
      throw refused(option, file.toString(), "cannot be read: " + firstLine(e), e);
    }
  }

  static ConfigurationRefused refused(String option, String where, String rule, Exception cause) {
    return new ConfigurationRefused(option + " = " + where + ": " + rule, cause);
  }

  private static String firstLine(Exception e) {
    return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
  }
}
