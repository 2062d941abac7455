package org.traceetl.agent;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ArchitectureTest {
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("org.traceetl.agent");

  @Test
  void packagesFlowOneWay() {
    layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .layer("program")
        .definedBy("org.traceetl.agent")
        .layer("source")
        .definedBy("org.traceetl.agent.source..")
        .layer("pipeline")
        .definedBy("org.traceetl.agent.pipeline")
        .layer("publish")
        .definedBy("org.traceetl.agent.publish")
        .layer("forward")
        .definedBy("org.traceetl.agent.forward")
        .layer("spool")
        .definedBy("org.traceetl.agent.spool")
        .layer("route")
        .definedBy("org.traceetl.agent.route")
        .layer("filter")
        .definedBy("org.traceetl.agent.filter")
        .layer("detail")
        .definedBy("org.traceetl.agent.detail")
        .layer("edge")
        .definedBy("org.traceetl.agent.edge")
        .whereLayer("program")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("source")
        .mayOnlyBeAccessedByLayers("program")
        .whereLayer("pipeline")
        .mayOnlyBeAccessedByLayers("program")
        .whereLayer("publish")
        .mayOnlyBeAccessedByLayers("program")
        .whereLayer("forward")
        .mayOnlyBeAccessedByLayers("program")
        .whereLayer("spool")
        .mayOnlyBeAccessedByLayers("program", "pipeline", "publish")
        .whereLayer("route")
        .mayOnlyBeAccessedByLayers("program", "pipeline", "publish", "spool", "edge")
        .whereLayer("filter")
        .mayOnlyBeAccessedByLayers("program", "pipeline")
        .whereLayer("detail")
        .mayOnlyBeAccessedByLayers("program", "pipeline")
        .whereLayer("edge")
        .mayOnlyBeAccessedByLayers("program", "pipeline")
        .check(CLASSES);
  }

  @Test
  void sharedPackagesDependOnNoPartOfTheFlow() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "org.traceetl.agent.config",
            "org.traceetl.agent.disk",
            "org.traceetl.agent.flow",
            "org.traceetl.agent.state",
            "org.traceetl.agent.telemetry")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "org.traceetl.agent",
            "org.traceetl.agent.source..",
            "org.traceetl.agent.pipeline",
            "org.traceetl.agent.publish",
            "org.traceetl.agent.forward",
            "org.traceetl.agent.spool",
            "org.traceetl.agent.route")
        .check(CLASSES);
  }

  @Test
  void sourcesDependOnlyOnThePipelinesContracts() {
    noClasses()
        .that()
        .resideInAPackage("org.traceetl.agent.source..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "org.traceetl.agent.pipeline",
            "org.traceetl.agent.publish",
            "org.traceetl.agent.forward",
            "org.traceetl.agent.spool",
            "org.traceetl.agent.route",
            "org.apache.rocketmq..")
        .check(CLASSES);
  }

  /** Each package counts in a metric set of its own. */
  @Test
  void onlyTheProgramKnowsTheRegistry() {
    noClasses()
        .that()
        .resideOutsideOfPackages("org.traceetl.agent", "org.traceetl.agent.telemetry")
        .should()
        .dependOnClassesThat()
        .haveSimpleNameStartingWith("AgentMetrics")
        .orShould()
        .dependOnClassesThat()
        .haveSimpleName("CollectorRegistry")
        .check(CLASSES);
  }

  @Test
  void thereAreNoCycles() {
    slices().matching("org.traceetl.agent.(**)").should().beFreeOfCycles().check(CLASSES);
  }

  @Test
  void onlyTheTransportKnowsRocketMq() {
    noClasses()
        .that()
        .doNotHaveSimpleName("RocketMqTransport")
        .and()
        .haveNameNotMatching(".*RocketMqTransport\\$.*")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.apache.rocketmq..")
        .check(CLASSES);
  }

  @Test
  void thereIsNoSpring() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.springframework..")
        .check(CLASSES);
  }

  /** Simulations replace all clocks. */
  @Test
  void timeIsInjected() {
    Set<String> clocks =
        Set.of(
            "java.lang.System.nanoTime",
            "java.lang.System.currentTimeMillis",
            "java.lang.Thread.sleep",
            "java.time.Clock.systemUTC",
            "java.time.Instant.now",
            "java.time.InstantSource.system",
            "java.util.concurrent.TimeUnit.sleep");
    noClasses()
        .should()
        .accessTargetWhere(
            DescribedPredicate.describe(
                "it is a clock of the machine",
                access ->
                    clocks.contains(access.getTargetOwner().getName() + "." + access.getName())))
        .check(CLASSES);
  }

  /** Simulations replace all random numbers. */
  @Test
  void randomIsInjected() {
    Set<String> sources =
        Set.of(
            "java.lang.Math.random",
            "java.security.SecureRandom.<init>",
            "java.util.Random.<init>",
            "java.util.SplittableRandom.<init>",
            "java.util.UUID.randomUUID",
            "java.util.concurrent.ThreadLocalRandom.current",
            "java.util.random.RandomGenerator.getDefault",
            "java.util.random.RandomGenerator.of");
    noClasses()
        .that()
        .doNotHaveFullyQualifiedName("org.traceetl.agent.Platform")
        .should()
        .accessTargetWhere(
            DescribedPredicate.describe(
                "it is a source of random numbers",
                access ->
                    sources.contains(access.getTargetOwner().getName() + "." + access.getName())))
        .check(CLASSES);
  }

  /** Simulations replace the disk under the state directory, the spool and the forward buffer. */
  @Test
  void onlyTheDiskAccessesFilesOfState() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "org.traceetl.agent.state", "org.traceetl.agent.spool", "org.traceetl.agent.forward")
        .should()
        .dependOnClassesThat()
        .haveNameMatching("java\\.nio\\.file\\.Files|java\\.nio\\.channels\\..*Channel")
        .check(CLASSES);
  }
}
