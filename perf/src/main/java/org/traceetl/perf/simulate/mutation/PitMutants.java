package org.traceetl.perf.simulate.mutation;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeSet;
import javax.tools.JavaFileObject;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;
import org.pitest.classinfo.ClassName;
import org.pitest.mutationtest.EngineArguments;
import org.pitest.mutationtest.engine.Mutater;
import org.pitest.mutationtest.engine.MutationDetails;
import org.pitest.mutationtest.engine.gregor.config.GregorEngineFactory;

/**
 * The mutants that PIT makes with its default mutators from the classes of journal, spool,
 * de-duplication and consumption. As in PIT, calls that log are not removed.
 */
final class PitMutants {
  private static final List<String> PACKAGES =
      List.of(
          "org.traceetl.server.journal",
          "org.traceetl.agent.spool",
          "org.traceetl.server.dedup",
          "org.traceetl.server.consume");

  private static final String LOGGING = "org/slf4j/";

  private final Mutater mutater =
      new GregorEngineFactory()
          .createEngine(EngineArguments.arguments())
          .createMutator(PitMutants::classBytes);

  /** Returns all mutants, in an order that depends on the classes only. */
  List<MutationDetails> all() throws IOException {
    List<MutationDetails> all = new ArrayList<>();
    for (String name : classNames()) {
      mutater.findMutations(ClassName.fromString(name)).stream()
          .filter(mutant -> !mutant.getDescription().contains(LOGGING))
          .sorted((one, other) -> one.getId().compareTo(other.getId()))
          .forEach(all::add);
    }
    return all;
  }

  /** Draws mutants by a seed; equal classes and seeds draw equal ones. */
  List<Mutant> draw(int count, long seed) throws IOException {
    List<MutationDetails> all = new ArrayList<>(all());
    Collections.shuffle(all, new Random(seed));
    List<Mutant> drawn = new ArrayList<>();
    for (MutationDetails details : all.subList(0, Math.min(count, all.size()))) {
      drawn.add(mutant("P" + (drawn.size() + 1), details));
    }
    return drawn;
  }

  private Mutant mutant(String number, MutationDetails details) {
    String file = details.getClassName().asInternalName() + ".class";
    return new Mutant() {
      @Override
      public String number() {
        return number;
      }

      @Override
      public String name() {
        return details.getFilename()
            + ":"
            + details.getLineNumber()
            + " "
            + details.getMethod()
            + ": "
            + details.getDescription();
      }

      @Override
      public void write(Path folder) throws IOException {
        Path to = folder.resolve(file);
        Files.createDirectories(to.getParent());
        Files.write(to, mutater.getMutation(details.getId()).getBytes());
      }
    };
  }

  private static SortedSet<String> classNames() throws IOException {
    SortedSet<String> names = new TreeSet<>();
    try (var files =
        ToolProvider.getSystemJavaCompiler().getStandardFileManager(null, Locale.ROOT, UTF_8)) {
      for (String name : PACKAGES) {
        for (JavaFileObject file :
            files.list(
                StandardLocation.CLASS_PATH, name, EnumSet.of(JavaFileObject.Kind.CLASS), true)) {
          names.add(files.inferBinaryName(StandardLocation.CLASS_PATH, file));
        }
      }
    }
    names.removeIf(name -> name.endsWith("package-info"));
    return names;
  }

  private static Optional<byte[]> classBytes(String name) {
    String file = name.replace('.', '/') + ".class";
    try (InputStream in = PitMutants.class.getClassLoader().getResourceAsStream(file)) {
      return in == null ? Optional.empty() : Optional.of(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
