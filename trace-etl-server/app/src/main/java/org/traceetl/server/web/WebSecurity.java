package org.traceetl.server.web;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.authentication.dao.DaoAuthenticationProvider;
import org.springframework.security.authorization.AuthorizationDecision;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.Authentication;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.access.intercept.AuthorizationFilter;
import org.springframework.security.web.access.intercept.RequestAuthorizationContext;
import org.springframework.security.web.authentication.www.BasicAuthenticationFilter;
import org.springframework.security.web.firewall.HttpFirewall;
import org.springframework.security.web.firewall.StrictHttpFirewall;
import org.springframework.security.web.header.writers.CrossOriginOpenerPolicyHeaderWriter.CrossOriginOpenerPolicy;
import org.springframework.security.web.header.writers.CrossOriginResourcePolicyHeaderWriter.CrossOriginResourcePolicy;
import org.springframework.security.web.header.writers.ReferrerPolicyHeaderWriter.ReferrerPolicy;
import org.traceetl.common.Clocks;
import org.traceetl.server.binding.AccessFile;
import org.traceetl.server.binding.UsersFile;
import org.traceetl.server.config.WebConfig;
import org.traceetl.server.config.WebConfig.SignIn;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.Problem;

/** Authentication, and the headers that restrict what browsers do with the answers. */
@Configuration(proxyBeanMethods = false)
@EnableWebSecurity
class WebSecurity {

  /** The paths that orchestrators probe. */
  private static final String[] HEALTH = {"/health", "/ready", "/actuator/health/**"};

  /** The web UI itself: it contains no data and asks for the token. */
  private static final String[] PAGE = {"/", "/index.html", "/page/**", "/openapi.yaml"};

  private static final String API = "/api/**";

  /** All content comes from this server and no script is inline, so text of a span never runs. */
  private static final String CONTENT_SECURITY_POLICY =
      "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none';"
          + " form-action 'self'";

  private static final String PERMISSIONS_POLICY =
      "camera=(), geolocation=(), microphone=(), payment=(), usb=()";

  @Bean
  SecurityFilterChain securityFilterChain(
      HttpSecurity http,
      WebConfig config,
      ServerComponents server,
      ServletsByApplication byApplication)
      throws Exception {
    Clocks clocks = server.clocks();
    AccessFile tenants = server.tenants();
    headers(http);
    // The port is read-only. The API's POST requires a content type that no other site can send.
    http.csrf(csrf -> csrf.disable());
    http.logout(logout -> logout.disable());
    http.requestCache(cache -> cache.disable());
    http.sessionManagement(
        sessions -> sessions.sessionCreationPolicy(SessionCreationPolicy.STATELESS));
    if (config.token() != null || tenants != null) {
      http.addFilterBefore(
          new TokenFilter(config.token(), tenants), BasicAuthenticationFilter.class);
    }
    http.addFilterBefore(
        new AccessFilter(tenants, config.oidc() == null ? null : config.oidc().groupsClaim()),
        AuthorizationFilter.class);
    switch (config.signIn()) {
      case NONE -> {
        if (config.token() != null) {
          http.exceptionHandling(failures ->
              failures.authenticationEntryPoint(
                  (request, response, e) -> refuse(response, config)));
        }
      }
      case BASIC -> basic(http, config, clocks);
      case OIDC -> new OpenIdSignIn(config, clocks).configure(http);
    }
    http.authorizeHttpRequests(requests -> {
      // The text of a refusal; the request itself was authorized before.
      requests.dispatcherTypeMatchers(DispatcherType.ERROR).permitAll();
      requests.requestMatchers(HEALTH).permitAll();
      if (config.signIn() == SignIn.NONE && config.token() != null) {
        requests.requestMatchers(PAGE).permitAll();
      }
      if (tenants != null) {
        // What a method of the API shows is decided there.
        requests
            .requestMatchers(
                Stream.of(Stream.of(PAGE), Stream.of(API), byApplication.paths().stream())
                    .flatMap(paths -> paths)
                    .toArray(String[]::new))
            .authenticated();
        requests.anyRequest().access(WebSecurity::seesAll);
        http.exceptionHandling(failures ->
            failures.accessDeniedHandler((request, response, e) ->
                Problem.write(
                    response,
                    HttpServletResponse.SC_FORBIDDEN,
                    requiresAll(request.getServletPath()))));
      } else if (config.signIn() != SignIn.NONE || config.token() != null) {
        requests.anyRequest().authenticated();
      } else {
        requests.anyRequest().permitAll();
      }
    });
    return http.build();
  }

  /** Unknown methods and parameters are refused later, with a message that lists the known ones. */
  @Bean
  HttpFirewall firewall() {
    var firewall = new StrictHttpFirewall();
    firewall.setUnsafeAllowAnyHttpMethod(true);
    firewall.setAllowedParameterNames(any -> true);
    return firewall;
  }

  /** Returns why a path is refused to senders who see some applications only. */
  static String requiresAll(String path) {
    return path
        + ": shows the whole fleet, and requires access to all applications"
        + " (trace-etl.web.access-file)";
  }

  private static AuthorizationDecision seesAll(
      Supplier<? extends Authentication> sender, RequestAuthorizationContext context) {
    return new AuthorizationDecision(Access.of(context.getRequest()).isToAll());
  }

  private static void headers(HttpSecurity http) {
    http.headers(headers ->
        headers
            // Each answer sets Cache-Control itself.
            .cacheControl(cache -> cache.disable())
            // It would apply to all ports of the host.
            .httpStrictTransportSecurity(transport -> transport.disable())
            .frameOptions(frames -> frames.deny())
            .contentSecurityPolicy(policy -> policy.policyDirectives(CONTENT_SECURITY_POLICY))
            .referrerPolicy(policy -> policy.policy(ReferrerPolicy.NO_REFERRER))
            .permissionsPolicyHeader(policy -> policy.policy(PERMISSIONS_POLICY))
            .crossOriginOpenerPolicy(policy -> policy.policy(CrossOriginOpenerPolicy.SAME_ORIGIN))
            .crossOriginResourcePolicy(
                policy -> policy.policy(CrossOriginResourcePolicy.SAME_ORIGIN)));
  }

  private static void basic(HttpSecurity http, WebConfig config, Clocks clocks) {
    var users = new UsersFile(config.usersFile(), clocks.wall());
    var provider = new DaoAuthenticationProvider(users);
    provider.setPasswordEncoder(new RememberedPasswords(users.highestCost()));
    http.authenticationProvider(provider);
    http.httpBasic(basic ->
        basic
            .realmName("trace-etl")
            .authenticationEntryPoint((request, response, e) -> {
              if (e instanceof AuthenticationServiceException) {
                Problem.write(response, HttpServletResponse.SC_SERVICE_UNAVAILABLE, e.getMessage());
              } else {
                refuse(response, config);
              }
            }));
  }

  /** Answers 401 and says how to authenticate. */
  static void refuse(HttpServletResponse response, WebConfig config) throws IOException {
    if (config.signIn() == SignIn.BASIC) {
      response.addHeader("WWW-Authenticate", "Basic realm=\"trace-etl\", charset=\"UTF-8\"");
    }
    if (config.token() != null) {
      response.addHeader("WWW-Authenticate", "Bearer");
    }
    Problem.write(
        response,
        HttpServletResponse.SC_UNAUTHORIZED,
        switch (config.signIn()) {
          case NONE ->
              "Authorization: must be Bearer and the token of this server (trace-etl.web.token)";
          case BASIC ->
              "Authorization: must be Basic with the name and password of a user of this server"
                  + (config.token() == null ? "" : ", or Bearer and its token");
          case OIDC ->
              "sign in at /oauth2/authorization/oidc, or send Authorization: Bearer and the token"
                  + " of this server";
        });
  }
}
