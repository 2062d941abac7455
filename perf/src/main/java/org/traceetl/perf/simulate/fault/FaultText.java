package org.traceetl.perf.simulate.fault;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.traceetl.perf.simulate.broker.Misbehaviour;

/**
 * A fault as a line: its time, its kind, and its other components as {@code name=value}. For
 * example: {@code 0:01:02.500 crash target=agent-1 operations=37 lasts-millis=4200}.
 */
final class FaultText {
  private static final Pattern TIME = Pattern.compile("(\\d+):(\\d\\d):(\\d\\d)\\.(\\d{3})");
  private static final Map<String, Class<?>> KINDS = new TreeMap<>();

  /** Values of components that earlier versions did not write. */
  private static final Map<String, String> ABSENT = Map.of("stall-millis", "0");

  static {
    for (Class<?> kind : Fault.class.getPermittedSubclasses()) {
      KINDS.put(hyphenated(kind.getSimpleName()), kind);
    }
  }

  private FaultText() {}

  static String write(Fault fault) {
    StringBuilder line =
        new StringBuilder(time(fault.atMillis()))
            .append(' ')
            .append(hyphenated(fault.getClass().getSimpleName()));
    try {
      for (RecordComponent component : fault.getClass().getRecordComponents()) {
        if (!component.getName().equals("atMillis")) {
          Object value = component.getAccessor().invoke(fault);
          line.append(' ').append(hyphenated(component.getName())).append('=');
          line.append(value instanceof Enum<?> one ? one.name().toLowerCase(Locale.ROOT) : value);
        }
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the components of faults are public", e);
    }
    return line.toString();
  }

  /** Reads a line that {@link #write} returned. */
  static Fault read(String line) {
    String[] words = line.strip().split(" +");
    Class<?> kind = words.length < 2 ? null : KINDS.get(words[1]);
    if (kind == null) {
      throw new IllegalArgumentException(
          "fault = " + line + ": the second word must be one of " + KINDS.keySet());
    }
    Map<String, String> values = new HashMap<>(ABSENT);
    for (String word : Arrays.asList(words).subList(2, words.length)) {
      int equals = word.indexOf('=');
      values.put(word.substring(0, Math.max(0, equals)), word.substring(equals + 1));
    }
    RecordComponent[] components = kind.getRecordComponents();
    Object[] arguments = new Object[components.length];
    Class<?>[] types = new Class<?>[components.length];
    for (int i = 0; i < components.length; i++) {
      String name = hyphenated(components[i].getName());
      types[i] = components[i].getType();
      if (!name.equals("at-millis") && !values.containsKey(name)) {
        throw new IllegalArgumentException("fault = " + line + ": " + name + " is missing");
      }
      try {
        arguments[i] =
            name.equals("at-millis") ? millis(words[0]) : value(types[i], values.get(name));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "fault = " + line + ": " + name + ": " + e.getMessage(), e);
      }
    }
    try {
      return (Fault) kind.getDeclaredConstructor(types).newInstance(arguments);
    } catch (InvocationTargetException e) {
      throw new IllegalArgumentException("fault = " + line + ": " + e.getCause().getMessage(), e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the constructors of faults are public", e);
    }
  }

  /** Returns what a fault acts on. */
  static List<Target> targets(Fault fault) {
    List<Target> targets = new ArrayList<>();
    try {
      for (RecordComponent component : fault.getClass().getRecordComponents()) {
        if (component.getAccessor().invoke(fault) instanceof Target target) {
          targets.add(target);
        }
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the components of faults are public", e);
    }
    return targets;
  }

  /** Returns the same fault at another time. */
  static Fault at(Fault fault, long millis) {
    String line = write(fault);
    return read(time(millis) + line.substring(line.indexOf(' ')));
  }

  private static Object value(Class<?> type, String text) {
    if (type == long.class) {
      return Long.valueOf(text);
    }
    if (type == int.class) {
      return Integer.valueOf(text);
    }
    if (type == boolean.class) {
      return Boolean.valueOf(text);
    }
    return type == Target.class
        ? Target.of(text)
        : Misbehaviour.valueOf(text.toUpperCase(Locale.ROOT));
  }

  /** Returns hours, minutes, seconds and milliseconds. */
  static String time(long millis) {
    return String.format(
        Locale.ROOT,
        "%d:%02d:%02d.%03d",
        millis / 3_600_000,
        millis / 60_000 % 60,
        millis / 1_000 % 60,
        millis % 1_000);
  }

  /** Reads {@link #time}. */
  static long millis(String time) {
    Matcher parts = TIME.matcher(time);
    if (!parts.matches()) {
      throw new IllegalArgumentException("time = " + time + ": must be such as 0:01:02.500");
    }
    return ((Long.parseLong(parts.group(1)) * 60 + Long.parseLong(parts.group(2))) * 60
                + Long.parseLong(parts.group(3)))
            * 1_000
        + Long.parseLong(parts.group(4));
  }

  static String hyphenated(String camelCase) {
    return camelCase.replaceAll("(?<=.)([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }
}
