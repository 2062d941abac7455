package org.traceetl.server.web;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Parameter;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.core.convert.converter.GenericConverter;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.method.HandlerMethod;
import org.traceetl.server.http.Allowed;
import org.traceetl.server.http.ParameterRefused;

/**
 * The parameters of the API: each is known, given once, and has an allowed value. They are checked
 * before they are bound, because Spring reads some wrong values leniently. An empty parameter
 * counts as absent: a form sends its empty fields.
 */
final class Parameters {
  private Parameters() {}

  /**
   * Checks the parameters of a request.
   *
   * @throws ParameterRefused saying which parameter, which value, and what is allowed
   */
  static void check(Map<String, String[]> given, HandlerMethod method) {
    if (given.isEmpty()) {
      return;
    }
    Map<String, AnnotatedElement> known = known(method);
    given.forEach((name, values) -> {
      if (!known.containsKey(name)) {
        throw new ParameterRefused(
            name
                + ": is not a parameter of this path; "
                + (known.isEmpty()
                    ? "this path has no parameters"
                    : "the parameters are " + String.join(", ", known.keySet())));
      }
      if (values.length > 1) {
        throw new ParameterRefused(name + ": must be given once");
      }
      if (!values[0].isEmpty()) {
        check(name, values[0], known.get(name));
      }
    });
  }

  /** Parameters of the method, and components of records that group some, by name. */
  private static Map<String, AnnotatedElement> known(HandlerMethod method) {
    Map<String, AnnotatedElement> known = new TreeMap<>();
    for (Parameter parameter : method.getMethod().getParameters()) {
      if (parameter.isAnnotationPresent(RequestParam.class)) {
        known.put(parameter.getName(), parameter);
      } else if (parameter.getType().isRecord()) {
        for (RecordComponent component : parameter.getType().getRecordComponents()) {
          known.put(component.getName(), component);
        }
      }
    }
    return known;
  }

  private static void check(String name, String text, AnnotatedElement parameter) {
    Class<?> type =
        parameter instanceof RecordComponent component
            ? component.getType()
            : ((Parameter) parameter).getType();
    Allowed allowed = parameter.getAnnotation(Allowed.class);
    if (type == String.class) {
      if (allowed != null && text.codePointCount(0, text.length()) > allowed.max()) {
        throw new ParameterRefused(
            name + ": must have at most " + allowed.max() + " characters; it has " + text.length());
      }
    } else if (allowed != null) {
      if (!isWithin(allowed, text)) {
        throw wrong(name, text, "a number from " + allowed.min() + " to " + allowed.max());
      }
    } else if (choices(type).noneMatch(choice -> label(choice).equals(text))) {
      throw wrong(
          name,
          text,
          "one of " + choices(type).map(Parameters::label).collect(Collectors.joining(", ")));
    }
  }

  private static ParameterRefused wrong(String name, String text, String allowed) {
    return new ParameterRefused(name + " = " + text + ": must be " + allowed);
  }

  private static boolean isWithin(Allowed allowed, String text) {
    try {
      int number = Integer.parseInt(text);
      return number >= allowed.min() && number <= allowed.max();
    } catch (NumberFormatException e) {
      return false;
    }
  }

  private static Stream<?> choices(Class<?> type) {
    return type.isEnum() ? Arrays.stream(type.getEnumConstants()) : Stream.of(false, true);
  }

  private static String label(Object choice) {
    return choice.toString().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Reads constants of enums by their label, and empty texts as absent. */
  static final class Reader implements GenericConverter {
    @Override
    public Set<ConvertiblePair> getConvertibleTypes() {
      return Set.of(
          new ConvertiblePair(String.class, String.class),
          new ConvertiblePair(String.class, Enum.class));
    }

    @Override
    public Object convert(Object text, TypeDescriptor from, TypeDescriptor to) {
      if (text == null || text.equals("")) {
        return null;
      }
      return to.getType() == String.class
          ? text
          : choices(to.getType())
              .filter(choice -> label(choice).equals(text))
              .findFirst()
              .orElseThrow();
    }
  }
}
