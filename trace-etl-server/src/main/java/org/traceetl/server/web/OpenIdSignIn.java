package org.traceetl.server.web;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collection;
import java.util.Set;
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
import org.springframework.security.oauth2.core.OAuth2ErrorCodes;
import org.springframework.security.oauth2.core.oidc.user.DefaultOidcUser;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.web.filter.OncePerRequestFilter;
import org.traceetl.server.config.WebConfig;

/**
 * People sign in by an OpenID provider: the authorization code flow with PKCE. Who is signed in is
 * known to this server alone, until the session was idle for half an hour.
 *
 * <p>The provider is asked for its addresses when somebody wants to sign in for the first time: it
 * may be away when the server starts.
 */
final class OpenIdSignIn {
  private static final Logger log = LoggerFactory.getLogger(OpenIdSignIn.class);
  private static final String REGISTRATION = "oidc";
  private static final String START = "/oauth2/authorization/" + REGISTRATION;

  private OpenIdSignIn() {}

  static void configure(HttpSecurity http, WebConfig config) {
    WebConfig.Oidc oidc = config.oidc();
    ClientRegistrationRepository registrations =
        new SupplierClientRegistrationRepository(
            () -> new InMemoryClientRegistrationRepository(registration(oidc)));
    http.sessionManagement(
        sessions -> sessions.sessionCreationPolicy(SessionCreationPolicy.IF_REQUIRED));
    http.addFilterBefore(
        new ProviderAnswers(registrations), OAuth2AuthorizationRequestRedirectFilter.class);
    http.oauth2Login(login ->
        login
            .clientRegistrationRepository(registrations)
            .loginPage(START)
            .defaultSuccessUrl("/", true)
            .userInfoEndpoint(userInfo -> userInfo.oidcUserService(people(oidc)))
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

  private static ClientRegistration registration(WebConfig.Oidc oidc) {
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

  /** Only people of the groups that are let in, by the name that the provider has for them. */
  private static OAuth2UserService<OidcUserRequest, OidcUser> people(WebConfig.Oidc oidc) {
    var service = new OidcUserService();
    return request -> {
      OidcUser user = service.loadUser(request);
      if (!oidc.groups().isEmpty() && !isIn(oidc.groups(), user.getClaim(oidc.groupsClaim()))) {
        throw new OAuth2AuthenticationException(
            new OAuth2Error(OAuth2ErrorCodes.ACCESS_DENIED),
            user.getName() + " is in none of the groups that may see this");
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

  /** Whether a person asks, who can be sent to the provider; not a page's script or a program. */
  private static boolean wantsPage(HttpServletRequest request) {
    String accept = request.getHeader("Accept");
    return accept != null
        && accept.contains("text/html")
        && !request.getServletPath().startsWith("/api/");
  }

  private static void refuse(HttpServletResponse response, AuthenticationException failure)
      throws IOException {
    log.warn("A sign-in by the OpenID provider failed: {}", failure.getMessage());
    Problem.write(
        response,
        HttpServletResponse.SC_FORBIDDEN,
        isStranger(failure)
            ? "you are in none of the groups that may see this (trace-etl.web.oidc.groups)"
            : "the sign-in failed; the server's log says why. Try again at " + START);
  }

  private static boolean isStranger(AuthenticationException failure) {
    return failure instanceof OAuth2AuthenticationException said
        && said.getError().getErrorCode().equals(OAuth2ErrorCodes.ACCESS_DENIED);
  }

  /** Says so where the provider cannot be asked for its addresses. */
  private static final class ProviderAnswers extends OncePerRequestFilter {
    private final ClientRegistrationRepository registrations;

    ProviderAnswers(ClientRegistrationRepository registrations) {
      this.registrations = registrations;
    }

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
      return !request.getServletPath().equals(START);
    }

    @Override
    protected void doFilterInternal(
        HttpServletRequest request, HttpServletResponse response, FilterChain chain)
        throws IOException, ServletException {
      try {
        registrations.findByRegistrationId(REGISTRATION);
      } catch (RuntimeException e) {
        log.warn("The OpenID provider does not say where to sign in: {}", e.toString());
        Problem.write(
            response,
            HttpServletResponse.SC_SERVICE_UNAVAILABLE,
            "the OpenID provider does not answer; try again later");
        return;
      }
      chain.doFilter(request, response);
    }
  }
}
