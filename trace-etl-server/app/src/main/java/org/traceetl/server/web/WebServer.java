package org.traceetl.server.web;

import com.google.common.base.Throwables;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServlet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.catalina.Manager;
import org.apache.catalina.session.StandardManager;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.tomcat.TomcatContextCustomizer;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.web.filter.ShallowEtagHeaderFilter;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.common.TlsRefused;
import org.traceetl.server.binding.Configuration;
import org.traceetl.server.binding.ConfigurationRefused;
import org.traceetl.server.binding.KeysInForce;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.component.Components;
import org.traceetl.server.config.WebConfig;
import org.traceetl.server.http.ByApplication;
import org.traceetl.server.http.Feature;

/** The open HTTP port with the server behind it. */
public final class WebServer implements AutoCloseable {
  private static final Duration PORT_CLOSES_WITHIN = Duration.ofSeconds(10);

  /** For sending what servlets have written: a client that does not read must not hold a stop. */
  private static final Duration ANSWERS_WITHIN = Duration.ofSeconds(2);

  /** The limit of sessions of people who signed in with the OpenID provider. */
  private static final int MAX_SESSIONS = 10_000;

  /** Spring Boot's properties, unless they are configured. */
  static final Map<String, Object> DEFAULTS =
      Map.ofEntries(
          Map.entry("spring.application.name", "trace-etl-server"),
          Map.entry("spring.main.banner-mode", "off"),
          // Spring's own, with whole thread names.
          Map.entry(
              "logging.pattern.console",
              "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %5p [%t] %-40.40logger{39} : %m%n%wEx"),
          Map.entry("spring.threads.virtual.enabled", "true"),
          // Room for a name of 20,000 characters, percent-encoded.
          Map.entry("server.max-http-request-header-size", "64KB"),
          Map.entry("server.compression.enabled", "true"),
          // The API and the page. Not text/plain: /metrics is compressed where it is made.
          Map.entry(
              "server.compression.mime-types",
              "application/json,application/problem+json,application/yaml,application/javascript,"
                  + "text/csv,text/html,text/css,text/javascript,image/svg+xml"),
          // Revalidated each time, and answered by 304 while it is the same. Not by time: all files
          // in a jar have the time of the source's last change, which an older jar may share.
          Map.entry("spring.web.resources.cache.cachecontrol.no-cache", "true"),
          Map.entry("spring.web.resources.cache.use-last-modified", "false"),
          Map.entry("server.servlet.session.cookie.name", "trace-etl-session"),
          Map.entry("server.servlet.session.cookie.http-only", "true"),
          // Strict, it would be missing where the OpenID provider sends people back.
          Map.entry("server.servlet.session.cookie.same-site", "lax"),
          Map.entry("management.endpoints.web.exposure.include", "health"),
          Map.entry("management.endpoint.health.probes.enabled", "true"),
          Map.entry("management.endpoint.health.group.liveness.include", "livenessState,pipeline"),
          Map.entry("management.endpoint.health.group.liveness.additional-path", "server:/health"),
          // Independent of the index, which catches up after an outage.
          Map.entry("management.endpoint.health.group.readiness.include", "readinessState,queues"),
          Map.entry("management.endpoint.health.group.readiness.show-details", "always"),
          Map.entry("management.endpoint.health.group.readiness.additional-path", "server:/ready"));

  private final ConfigurableApplicationContext context;

  private WebServer(ConfigurableApplicationContext context) {
    this.context = context;
  }

  /**
   * Reads the configuration, opens the port, starts the server behind it.
   *
   * @param arguments {@code --key=value}; they win over files and environment
   * @param properties keys and values; they win over everything else
   * @param endsWithProcess whether the end of the JVM drains and closes it
   * @throws ConfigurationRefused if the configuration cannot be run
   * @throws PortTaken if another program has the port
   */
  public static WebServer start(
      List<String> arguments,
      Map<String, Object> properties,
      boolean endsWithProcess,
      Function<ServerConfig, ServerComponents> assemble) {
    var reading = new ReadConfiguration(properties, false);
    SpringApplication application = application(reading);
    application.setRegisterShutdownHook(endsWithProcess);
    application.addInitializers(context -> {
      ServerConfig config = reading.config;
      register((GenericApplicationContext) context, reading.assembled(assemble), config);
    });
    return new WebServer(run(application, arguments, reading));
  }

  /**
   * Reads the configuration as {@link #start} does, and starts nothing.
   *
   * @throws ConfigurationRefused if it cannot be run
   */
  public static ServerConfig check(List<String> arguments) {
    var reading = new ReadConfiguration(Map.of(), true);
    run(application(reading), arguments, reading);
    return reading.config;
  }

  /** The port that is open: the one asked for, or a free one if that was 0. */
  public int port() {
    return ((WebServerApplicationContext) context).getWebServer().getPort();
  }

  /** Drains the components, then closes the port. Idempotent. */
  @Override
  public void close() {
    context.close();
  }

  private static SpringApplication application(ReadConfiguration reading) {
    var application = new SpringApplication(WebApplication.class);
    application.setDefaultProperties(DEFAULTS);
    application.addListeners(reading);
    // It would name Spring's profiles, which are not those of trace-etl.
    application.setLogStartupInfo(false);
    return application;
  }

  private static ConfigurableApplicationContext run(
      SpringApplication application, List<String> arguments, ReadConfiguration reading) {
    try {
      return application.run(arguments.toArray(String[]::new));
    } catch (SpringApplication.AbandonedRunException e) {
      if (reading.failure != null) {
        throw reading.failure;
      }
      return null;
    } catch (RuntimeException e) {
      for (Throwable cause : Throwables.getCausalChain(e)) {
        if (cause instanceof PortInUseException inUse) {
          throw new PortTaken(inUse.getPort(), e);
        }
      }
      throw e;
    }
  }

  private static void register(
      GenericApplicationContext context, ServerComponents server, ServerConfig config) {
    Components components = server.components();
    // Closed last, after the port, because a request may still use it.
    context.registerBean(ServerComponents.class, () -> server);
    context.registerBean(
        ComponentLifecycle.class,
        () -> new ComponentLifecycle((WebServerApplicationContext) context, components, config));
    context.registerBean(
        "pipelineHealthIndicator",
        HealthIndicator.class,
        () -> () -> (components.healthy() ? Health.up() : Health.down()).build());
    context.registerBean(
        "queuesHealthIndicator", HealthIndicator.class, () -> () -> queues(components));
    context.registerBean(WebConfig.class, config::web);
    context.registerBean(Clocks.class, server::clocks);
    context.registerBean(
        "sessionLimit",
        TomcatContextCustomizer.class,
        () -> tomcat -> tomcat.setManager(sessions()));
    var answers = new WholeAnswers(ANSWERS_WITHIN);
    context.registerBean(WholeAnswers.class, () -> answers);
    context.registerBean(
        "answers",
        TomcatCustomizer.class,
        () -> factory -> factory.addEngineValves(answers.valve()));
    context.registerBean(
        "callers",
        TomcatContextCustomizer.class,
        () -> tomcat -> tomcat.getPipeline().addValve(new CallerValve()));
    context.registerBean("pageTags", FilterRegistrationBean.class, WebServer::pageTags);
    registerApi(context, server, config);
  }

  private static void registerApi(
      GenericApplicationContext context, ServerComponents server, ServerConfig config) {
    register(context, new StatusResource(server, config));
    register(context, new ConfigurationResource(KeysInForce.of(config, context.getEnvironment())));
    List<String> byApplication = new ArrayList<>();
    for (Feature feature : server.components().of(Feature.class)) {
      feature.resources().forEach(resource -> register(context, resource));
      feature
          .servlets()
          .forEach((path, servlet) -> {
            if (servlet instanceof ByApplication) {
              byApplication.add(path);
            }
            context.registerBean(
                path, ServletRegistrationBean.class, () -> registration(path, servlet));
          });
    }
    context.registerBean(
        ServletsByApplication.class, () -> new ServletsByApplication(byApplication));
  }

  @SuppressWarnings("unchecked")
  private static void register(GenericApplicationContext context, Object resource) {
    context.registerBean((Class<Object>) resource.getClass(), () -> resource);
  }

  private static Manager sessions() {
    var sessions = new StandardManager();
    sessions.setMaxActiveSessions(MAX_SESSIONS);
    return sessions;
  }

  /**
   * Tags of answers that nothing but their bytes identifies. Weak, as an answer with a strong one
   * is not compressed.
   */
  private static FilterRegistrationBean<ShallowEtagHeaderFilter> pageTags() {
    var filter = new ShallowEtagHeaderFilter();
    filter.setWriteWeakETag(true);
    var registration = new FilterRegistrationBean<>(filter);
    registration.setUrlPatterns(List.of("/index.html", "/page/*", "/openapi.yaml", "/api/queues"));
    // "/" is forwarded to index.html, and ends with that: what holds back must be within.
    registration.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.FORWARD);
    return registration;
  }

  private static ServletRegistrationBean<HttpServlet> registration(
      String path, HttpServlet servlet) {
    ServletRegistrationBean<HttpServlet> registration =
        new ServletRegistrationBean<>(servlet, path);
    // Otherwise it is that of the class, without its path.
    registration.setName(path);
    return registration;
  }

  private static Health queues(Components components) {
    return (components.ready() ? Health.up() : Health.outOfService())
        .withDetails(components.missing())
        .build();
  }

  /**
   * Makes the configuration as soon as its sources are read: before anything is started or logged,
   * so that a refused one costs neither a stack trace nor a half-open server.
   */
  private static final class ReadConfiguration
      implements ApplicationListener<ApplicationEnvironmentPreparedEvent> {
    private final Map<String, Object> properties;
    private final boolean thenStop;
    private ServerConfig config;

    /** Why the server does not start; its message is for the operator. */
    private RuntimeException failure;

    ReadConfiguration(Map<String, Object> properties, boolean thenStop) {
      this.properties = properties;
      this.thenStop = thenStop;
    }

    @Override
    public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
      ConfigurableEnvironment environment = event.getEnvironment();
      environment.getPropertySources().addFirst(new MapPropertySource("in-process", properties));
      try {
        config = Configuration.bind(environment);
        if (!thenStop) {
          PortProbe.check(environment);
        }
      } catch (ConfigurationRefused | PortTaken e) {
        throw abandoned(e);
      }
      if (thenStop) {
        throw new SpringApplication.AbandonedRunException();
      }
      Duration shutdown = config.drainWithin().plus(PORT_CLOSES_WITHIN);
      environment
          .getPropertySources()
          .addLast(
              new MapPropertySource(
                  "from-configuration",
                  Map.of(
                      "spring.lifecycle.timeout-per-shutdown-phase", shutdown.toMillis() + "ms")));
    }

    ServerComponents assembled(Function<ServerConfig, ServerComponents> assemble) {
      try {
        return assemble.apply(config);
      } catch (ConfigException e) {
        throw abandoned(new ConfigurationRefused(e.getMessage(), e));
      } catch (TlsRefused e) {
        throw abandoned(e);
      }
    }

    /** Spring logs the stack trace of any other failure. */
    private SpringApplication.AbandonedRunException abandoned(RuntimeException reason) {
      failure = reason;
      return new SpringApplication.AbandonedRunException();
    }
  }

  /** A type that tells Spring which factory is customized. */
  private interface TomcatCustomizer
      extends WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> {}
}
