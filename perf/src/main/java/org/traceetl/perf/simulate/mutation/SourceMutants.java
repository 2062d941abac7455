package org.traceetl.perf.simulate.mutation;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/**
 * Compiles mutations. Only the changed class is compiled, against the class path of this process.
 */
final class SourceMutants {
  private static final List<String> OPTIONS =
      List.of("-proc:none", "-nowarn", "-parameters", "-implicit:none");

  /** How deep modules are below the checkout. */
  private static final int MODULE_DEPTH = 2;

  private final List<Path> sourceFolders;
  private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();

  /**
   * @param checkout has the modules' sources
   */
  SourceMutants(Path checkout) throws IOException {
    try (Stream<Path> folders = Files.walk(checkout, MODULE_DEPTH)) {
      sourceFolders =
          folders
              .map(folder -> folder.resolve("src/main/java"))
              .filter(Files::isDirectory)
              .sorted()
              .toList();
    }
    if (compiler == null) {
      throw new IllegalStateException("this Java has no compiler: run it with a JDK");
    }
  }

  Mutant of(Mutation mutation) {
    return new Mutant() {
      @Override
      public String number() {
        return Integer.toString(mutation.number());
      }

      @Override
      public String name() {
        return mutation.name();
      }

      @Override
      public void write(Path folder) throws IOException {
        compile(mutation, folder);
      }
    };
  }

  private void compile(Mutation mutation, Path folder) throws IOException {
    String file = mutation.className().replace('.', '/') + ".java";
    Path source =
        sourceFolders.stream()
            .map(module -> module.resolve(file))
            .filter(Files::exists)
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("no source " + file));
    JavaFileObject mutated = inMemory(file, mutation.applyTo(Files.readString(source)));
    StringWriter errors = new StringWriter();
    try (var files = compiler.getStandardFileManager(null, Locale.ROOT, null)) {
      files.setLocationFromPaths(
          StandardLocation.CLASS_OUTPUT, List.of(Files.createDirectories(folder)));
      if (!compiler.getTask(errors, files, null, OPTIONS, null, List.of(mutated)).call()) {
        throw new IllegalStateException(
            "mutation " + mutation.number() + " does not compile: " + errors);
      }
    }
  }

  private static JavaFileObject inMemory(String file, String source) {
    return new SimpleJavaFileObject(URI.create("string:///" + file), JavaFileObject.Kind.SOURCE) {
      @Override
      public CharSequence getCharContent(boolean ignoreEncodingErrors) {
        return source;
      }
    };
  }
}
