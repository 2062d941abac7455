package org.traceetl.server.web;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.io.IOException;
import java.util.Collection;
import java.util.Set;
import org.apache.catalina.session.TooManyActiveSessionsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.oauth2.client.oidc.userinfo.OidcUserRequest;
import org.springframework.security.oauth2.client.oidc.userinfo.OidcUserService;
import org.springframework.security.oauth2.client.oidc.web.logout.OidcClientInitiatedLogoutSuccessHandler;
import org.springframework.security.oauth2.client.registration.ClientRegistration;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.client.registration.ClientRegistrations;
import org.springframework.security.oauth2.client.registration.InMemoryClientRegistrationRepository;
import org.springframework.security.oauth2.client.registration.SupplierClientRegistrationRepository;
import org.springframework.security.oauth2.client.userinfo.OAuth2UserService;
import org.springframework.security.oauth2.client.web.OAuth2AuthorizationRequestRedirectFilter;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.core.OAuth2AuthenticationException;
import org.springframework.security.oauth2.core.OAuth2Error;
import org.springframework.security.oauth2.core.oidc.user.DefaultOidcUser;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.security.web.context.SecurityContextHolderFilter;
import org.springframework.web.filter.OncePerRequestFilter;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.server.config.WebConfig;
import org.traceetl.server.http.Problem;

/**
 * Sign-in with an OpenID provider: the authorization code flow with PKCE. Sessions are local to
 * this server; one ends after half an hour without requests, or at the end of its lifetime.
 *
 * <p>The provider's endpoints are read at the first sign-in, because the provider may be
 * unreachable when the server starts.
 */
final class OpenIdSignIn {
  private static final Logger log = LoggerFactory.getLogger(OpenIdSignIn.class);
  private static final String REGISTRATION = "oidc";
  private static final String STARTS =
      OAuth2AuthorizationRequestRedirectFilter.DEFAULT_AUTHORIZATION_REQUEST_BASE_URI + "/";
  private static final String START = STARTS + REGISTRATION;
  private static final String BACK = "/login/oauth2/";
  private static final String NOT_IN_A_GROUP = "not_in_a_group";

  /** In a session: a Long of {@link Clocks#nanos} at which it ends. */
  private static final String UNTIL_NANOS = "trace-etl.until-nanos";

  private final WebConfig config;
  private final WebConfig.Oidc oidc;
  private final Clocks clocks;
  private final LogThrottle throttle;
  private final ClientRegistrationRepository registrations =
      new SupplierClientRegistrationRepository(
          () -> new InMemoryClientRegistrationRepository(registration()));

  OpenIdSignIn(WebConfig config, Clocks clocks) {
    this.config = config;
    this.clocks = clocks;
    oidc = config.oidc();
    throttle = new LogThrottle(clocks.wall());
  }

  void configure(HttpSecurity http) {
    http.sessionManagement(
        sessions -> sessions.sessionCreationPolicy(SessionCreationPolicy.IF_REQUIRED));
    http.addFilterBefore(new SessionEnds(), SecurityContextHolderFilter.class);
    http.addFilterBefore(new ProviderAnswers(), OAuth2AuthorizationRequestRedirectFilter.class);
    http.oauth2Login(login ->
        login
            .clientRegistrationRepository(registrations)
            .loginPage(START)
            .authorizationEndpoint(start ->
                start.authorizationRequestRepository(
                    new SignInState(registrations, REGISTRATION, clocks.nanoClock())))
            .successHandler((request, response, person) -> signedIn(request, response))
            .userInfoEndpoint(userInfo -> userInfo.oidcUserService(people()))
            .failureHandler((request, response, e) -> refuse(response, e)));
    var logout = new OidcClientInitiatedLogoutSuccessHandler(registrations);
    logout.setPostLogoutRedirectUri("{baseUrl}/");
    http.logout(out -> out.logoutUrl("/logout").logoutSuccessHandler(logout));
    http.exceptionHandling(failures ->
        failures.authenticationEntryPoint((request, response, e) -> {
          if (wantsPage(request)) {
            response.sendRedirect(request.getContextPath() + START);
          } else {
            WebSecurity.refuse(response, config);
          }
        }));
  }

  private ClientRegistration registration() {
    ClientRegistration.Builder registration =
        ClientRegistrations.fromIssuerLocation(oidc.issuer().toString())
            .registrationId(REGISTRATION)
            .clientId(oidc.clientId())
            .scope(oidc.scopes());
    if (oidc.clientSecret() == null) {
      registration.clientAuthenticationMethod(ClientAuthenticationMethod.NONE);
    } else {
      registration.clientSecret(oidc.clientSecret().value());
    }
    return registration
        .clientSettings(ClientRegistration.ClientSettings.builder().requireProofKey(true).build())
        .build();
  }

  /** Accepts only members of the configured groups, under the name that the provider returns. */
  private OAuth2UserService<OidcUserRequest, OidcUser> people() {
    var service = new OidcUserService();
    return request -> {
      OidcUser user = service.loadUser(request);
      if (!oidc.groups().isEmpty() && !isIn(oidc.groups(), user.getClaim(oidc.groupsClaim()))) {
        throw new OAuth2AuthenticationException(
            new OAuth2Error(NOT_IN_A_GROUP),
            user.getName() + " is in none of the groups that have access");
      }
      String name =
          user.getPreferredUsername() != null
              ? "preferred_username"
              : user.getEmail() != null ? "email" : "sub";
      return new DefaultOidcUser(
          user.getAuthorities(), user.getIdToken(), user.getUserInfo(), name);
    };
  }

  private static boolean isIn(Set<String> groups, Object claim) {
    return claim instanceof Collection<?> several
        ? several.stream().anyMatch(group -> groups.contains(String.valueOf(group)))
        : claim != null && groups.contains(String.valueOf(claim));
  }

  private void signedIn(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    request
        .getSession()
        .setAttribute(UNTIL_NANOS, clocks.nanos() + oidc.sessionLifetime().toNanos());
    response.sendRedirect(request.getContextPath() + "/");
  }

  /** Whether a browser requests a page and can be redirected, unlike a script or a program. */
  private static boolean wantsPage(HttpServletRequest request) {
    String accept = request.getHeader("Accept");
    return accept != null
        && accept.contains("text/html")
        && !request.getServletPath().startsWith("/api/");
  }

  private void refuse(HttpServletResponse response, AuthenticationException failure)
      throws IOException {
    warn("A sign-in with the OpenID provider failed", failure);
    Problem.write(
        response,
        HttpServletResponse.SC_FORBIDDEN,
        isStranger(failure)
            ? "you are in none of the groups that have access (trace-etl.web.oidc.groups)"
            : "the sign-in failed; the server's log says why. Try again at " + START);
  }

  /** Throttled and without control characters, so that strangers cannot fill or forge the log. */
  private void warn(String what, Exception why) {
    if (throttle.permits()) {
      log.warn("{}: {}", what, String.valueOf(why.getMessage()).replaceAll("\\p{Cntrl}", " "));
    }
  }

  private static boolean isStranger(AuthenticationException failure) {
    return failure instanceof OAuth2AuthenticationException said
        && said.getError().getErrorCode().equals(NOT_IN_A_GROUP);
  }

  /** Ends a session whose lifetime is over, before any other filter uses it. */
  private final class SessionEnds extends OncePerRequestFilter {
    @Override
    protected void doFilterInternal(
        HttpServletRequest request, HttpServletResponse response, FilterChain chain)
        throws IOException, ServletException {
      HttpSession session = request.getSession(false);
      if (session != null
          && session.getAttribute(UNTIL_NANOS) instanceof Long untilNanos
          && untilNanos - clocks.nanos() <= 0) {
        session.invalidate();
      }
      chain.doFilter(request, response);
    }
  }

  /** Answers 503 if the provider is unreachable or the limit of sessions is reached. */
  private final class ProviderAnswers extends OncePerRequestFilter {
    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
      String path = request.getServletPath();
      return !path.startsWith(STARTS) && !path.startsWith(BACK);
    }

    @Override
    protected void doFilterInternal(
        HttpServletRequest request, HttpServletResponse response, FilterChain chain)
        throws IOException, ServletException {
      if (request.getServletPath().startsWith(STARTS) && !request.getServletPath().equals(START)) {
        Problem.write(response, HttpServletResponse.SC_NOT_FOUND, "sign in at " + START);
        return;
      }
      try {
        registrations.findByRegistrationId(REGISTRATION);
      } catch (RuntimeException e) {
        warn("Failed to read the endpoints of the OpenID provider", e);
        Problem.write(
            response,
            HttpServletResponse.SC_SERVICE_UNAVAILABLE,
            "the OpenID provider does not answer; try again later");
        return;
      }
      try {
        chain.doFilter(request, response);
      } catch (TooManyActiveSessionsException e) {
        warn("Refused a sign-in because too many sessions are open", e);
        Problem.write(
            response,
            HttpServletResponse.SC_SERVICE_UNAVAILABLE,
            "too many people are signed in; try again in some minutes");
      }
    }
  }
}
