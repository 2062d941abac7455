package org.traceetl.server;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.web.bind.annotation.RestController;

@AnalyzeClasses(
    packages = "org.traceetl.server",
    importOptions = {ImportOption.DoNotIncludeTests.class, PackagesTest.NoTestJars.class})
class PackagesTest {
  /** The tests of the other modules are in jars, which {@code DoNotIncludeTests} lets pass. */
  static final class NoTestJars implements ImportOption {
    @Override
    public boolean includes(Location location) {
      return !location.contains("-tests.jar");
    }
  }

  private static final Set<String> CLOCKS =
      Set.of(
          "java.lang.System.nanoTime",
          "java.lang.System.currentTimeMillis",
          "java.lang.Thread.sleep",
          "java.time.Clock.systemUTC",
          "java.time.Instant.now",
          "java.time.InstantSource.system",
          "java.util.concurrent.TimeUnit.sleep",
          "org.traceetl.common.Clocks.SYSTEM");

  private static final Set<String> RANDOM_SOURCES =
      Set.of(
          "java.lang.Math.random",
          "java.security.SecureRandom.<init>",
          "java.util.Random.<init>",
          "java.util.SplittableRandom.<init>",
          "java.util.UUID.randomUUID",
          "java.util.concurrent.ThreadLocalRandom.current",
          "java.util.random.RandomGenerator.getDefault");

  /** Spans flow from consume to journal; each package knows only what comes after it. */
  @ArchTest
  static final ArchRule spansFlowOneWay =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("consume")
          .definedBy("org.traceetl.server.consume..")
          .layer("decode")
          .definedBy("org.traceetl.server.decode..")
          .layer("series")
          .definedBy("org.traceetl.server.series..")
          .layer("dedup")
          .definedBy("org.traceetl.server.dedup..")
          .layer("edge")
          .definedBy("org.traceetl.server.edge..")
          .layer("journal")
          .definedBy("org.traceetl.server.journal..")
          .layer("window")
          .definedBy("org.traceetl.server.window..")
          .layer("config")
          .definedBy("org.traceetl.server.config..")
          .whereLayer("consume")
          .mayOnlyAccessLayers("decode", "dedup", "edge", "series", "window", "journal", "config")
          .whereLayer("decode")
          .mayOnlyAccessLayers("series", "window", "config")
          .whereLayer("series")
          .mayOnlyAccessLayers("window", "config")
          .whereLayer("journal")
          .mayOnlyAccessLayers("dedup", "edge", "window", "config")
          .whereLayer("dedup")
          .mayOnlyAccessLayers("series", "window")
          .whereLayer("edge")
          .mayOnlyAccessLayers("series", "window")
          .whereLayer("window")
          .mayNotAccessAnyLayer()
          .whereLayer("config")
          .mayNotAccessAnyLayer();

  /**
   * The fleet's chains are followed; chains are written in formats to logs; the contracts in the
   * root package know none of them.
   */
  @ArchTest
  static final ArchRule journalIsLayered =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("fleet")
          .definedBy("org.traceetl.server.journal.fleet")
          .layer("chain")
          .definedBy("org.traceetl.server.journal.chain")
          .layer("format")
          .definedBy("org.traceetl.server.journal.format")
          .layer("log")
          .definedBy("org.traceetl.server.journal.log")
          .layer("contracts")
          .definedBy("org.traceetl.server.journal")
          .whereLayer("fleet")
          .mayOnlyAccessLayers("chain", "contracts")
          .whereLayer("chain")
          .mayOnlyAccessLayers("format", "log", "contracts")
          .whereLayer("format")
          .mayOnlyAccessLayers("log", "contracts")
          .whereLayer("log")
          .mayOnlyAccessLayers("contracts")
          .whereLayer("contracts")
          .mayNotAccessAnyLayer();

  /** Workers own queues, which count what the broker delivers; metrics are counted everywhere. */
  @ArchTest
  static final ArchRule consumeIsLayered =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("workers")
          .definedBy("org.traceetl.server.consume")
          .layer("ownership")
          .definedBy("org.traceetl.server.consume.ownership")
          .layer("queue")
          .definedBy("org.traceetl.server.consume.queue")
          .layer("broker")
          .definedBy("org.traceetl.server.consume.broker")
          .layer("metrics")
          .definedBy("org.traceetl.server.consume.metrics")
          .whereLayer("ownership")
          .mayOnlyAccessLayers("queue", "broker", "metrics")
          .whereLayer("queue")
          .mayOnlyAccessLayers("broker", "metrics")
          .whereLayer("broker")
          .mayNotAccessAnyLayer()
          .whereLayer("metrics")
          .mayNotAccessAnyLayer();

  @ArchTest
  static final ArchRule sinksDoNotReachBack =
      noClasses()
          .that()
          .resideInAnyPackage(
              "org.traceetl.server.expose..",
              "org.traceetl.server.ozhera.delta..",
              "org.traceetl.server.features.pages..",
              "org.traceetl.server.features.index..",
              "org.traceetl.server.features.history..",
              "org.traceetl.server.features.graph..",
              "org.traceetl.server.features.discovery..",
              "org.traceetl.server.features.hotspot..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "org.traceetl.server.consume..",
              "org.traceetl.server.decode..",
              "org.traceetl.server.series..")
          .allowEmptyShould(true);

  /** Resources of the API are Spring's; nothing that touches spans is. */
  @ArchTest
  static final ArchRule springStaysAtTheEdge =
      noClasses()
          .that()
          .areNotAnnotatedWith(RestController.class)
          .and()
          .resideOutsideOfPackages(
              "org.traceetl.server.binding..",
              "org.traceetl.server.http..",
              "org.traceetl.server.web..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("org.springframework..");

  @ArchTest
  static final ArchRule featuresDoNotKnowEachOther =
      SlicesRuleDefinition.slices()
          .matching("org.traceetl.server.features.(*)..")
          .should()
          .notDependOnEachOther();

  @ArchTest
  static final ArchRule featuresKnowOnlyCoreAndTheHttpKit =
      noClasses()
          .that()
          .resideInAPackage("org.traceetl.server.features..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(Parts.BEYOND_FEATURES);

  @ArchTest
  static final ArchRule coreKnowsOnlyCore =
      noClasses()
          .that()
          .resideInAnyPackage(Parts.CORE)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(Parts.BEYOND_CORE);

  @ArchTest
  static final ArchRule nothingKnowsOzhera =
      noClasses()
          .that()
          .resideOutsideOfPackages(Parts.OZHERA)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(Parts.OZHERA);

  @ArchTest
  static final ArchRule everyPackageIsCoreOrBeyondIt =
      classes()
          .that()
          .resideOutsideOfPackages(Parts.OZHERA)
          .should()
          .resideInAnyPackage(
              Stream.of(Parts.CORE, Parts.BEYOND_CORE).flatMap(Stream::of).toArray(String[]::new));

  @ArchTest
  static final ArchRule packagesHaveNoCycles =
      SlicesRuleDefinition.slices().matching("org.traceetl.server.(*)..").should().beFreeOfCycles();

  /** From the port to the sessions of scrapers, and from there to what they read and write. */
  @ArchTest
  static final ArchRule deltaPagesDependOneWay =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .layer("http")
          .definedBy("org.traceetl.server.ozhera.delta.http")
          .layer("sessions")
          .definedBy("org.traceetl.server.ozhera.delta")
          .layer("positions")
          .definedBy("org.traceetl.server.ozhera.delta.positions")
          .layer("series")
          .definedBy("org.traceetl.server.ozhera.delta.series")
          .whereLayer("sessions")
          .mayOnlyAccessLayers("positions", "series")
          .whereLayer("positions")
          .mayNotAccessAnyLayer()
          .whereLayer("series")
          .mayNotAccessAnyLayer();

  /** Tests and simulations pass their own clocks; the main program chooses those of the machine. */
  @ArchTest
  static final ArchRule timeIsInjected =
      noClasses()
          .that()
          .resideOutsideOfPackage(Parts.MAIN)
          .should()
          .accessTargetWhere(isOneOf("it is a clock of the machine", CLOCKS));

  /** A simulation repeats its run from a seed. */
  @ArchTest
  static final ArchRule randomIsInjected =
      noClasses()
          .that()
          .resideOutsideOfPackages(Parts.NOT_SIMULATED)
          .and()
          .areNotAssignableTo(ServerPlatform.class)
          .should()
          .accessTargetWhere(isOneOf("it is a source of random numbers", RANDOM_SOURCES));

  private static DescribedPredicate<JavaAccess<?>> isOneOf(String what, Set<String> members) {
    return DescribedPredicate.describe(
        what,
        access -> members.contains(access.getTargetOwner().getName() + "." + access.getName()));
  }
}
