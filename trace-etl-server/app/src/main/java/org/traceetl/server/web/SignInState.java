package org.traceetl.server.web;

import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.springframework.security.oauth2.client.registration.ClientRegistration;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.oauth2.client.web.AuthorizationRequestRepository;
import org.springframework.security.oauth2.core.endpoint.OAuth2AuthorizationRequest;
import org.springframework.security.oauth2.core.endpoint.OAuth2ParameterNames;
import org.springframework.security.oauth2.core.endpoint.PkceParameterNames;
import org.springframework.security.oauth2.core.oidc.endpoint.OidcParameterNames;

/**
 * Keeps the authorization request in a cookie of the browser, signed with a key of this process:
 * however many sign-ins strangers begin, the server stores none. Thread-safe.
 *
 * <p>The value is {@code base64url(lines).base64url(HMAC-SHA256(lines))}; the lines are when it
 * ends, state, nonce, PKCE's verifier, and the address to come back to.
 */
final class SignInState implements AuthorizationRequestRepository<OAuth2AuthorizationRequest> {
  private static final String COOKIE = "trace-etl-sign-in";
  private static final String HMAC = "HmacSHA256";
  private static final int KEY_BYTES = 32;

  /** The time within which a person must return from the provider. */
  private static final int LIFETIME_SECONDS = 300;

  private static final int LINES = 5;

  private final ClientRegistrationRepository registrations;
  private final String registrationId;
  private final LongSupplier nanoTime;
  private final SecretKeySpec key;

  SignInState(
      ClientRegistrationRepository registrations, String registrationId, LongSupplier nanoTime) {
    this.registrations = registrations;
    this.registrationId = registrationId;
    this.nanoTime = nanoTime;
    byte[] random = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(random);
    key = new SecretKeySpec(random, HMAC);
  }

  /** Null unless the browser shows a cookie of this process, of this state, in time. */
  @Override
  public OAuth2AuthorizationRequest loadAuthorizationRequest(HttpServletRequest request) {
    String state = request.getParameter(OAuth2ParameterNames.STATE);
    if (state == null || request.getCookies() == null) {
      return null;
    }
    for (Cookie cookie : request.getCookies()) {
      if (cookie.getName().equals(COOKIE)) {
        String[] lines = lines(cookie.getValue());
        boolean holds =
            lines != null
                && Long.parseLong(lines[0]) - nanoTime.getAsLong() > 0
                && lines[1].equals(state);
        return holds ? asked(lines) : null;
      }
    }
    return null;
  }

  @Override
  public void saveAuthorizationRequest(
      OAuth2AuthorizationRequest asked, HttpServletRequest request, HttpServletResponse response) {
    if (asked == null) {
      set(request, response, "", 0);
      return;
    }
    long untilNanos = nanoTime.getAsLong() + TimeUnit.SECONDS.toNanos(LIFETIME_SECONDS);
    String nonce = asked.getAttribute(OidcParameterNames.NONCE);
    String verifier = asked.getAttribute(PkceParameterNames.CODE_VERIFIER);
    byte[] lines =
        String.join(
                "\n",
                Long.toString(untilNanos),
                asked.getState(),
                nonce,
                verifier,
                asked.getRedirectUri())
            .getBytes(StandardCharsets.UTF_8);
    Base64.Encoder text = Base64.getUrlEncoder().withoutPadding();
    set(
        request,
        response,
        text.encodeToString(lines) + '.' + text.encodeToString(code(lines)),
        LIFETIME_SECONDS);
  }

  @Override
  public OAuth2AuthorizationRequest removeAuthorizationRequest(
      HttpServletRequest request, HttpServletResponse response) {
    OAuth2AuthorizationRequest asked = loadAuthorizationRequest(request);
    if (asked != null) {
      set(request, response, "", 0);
    }
    return asked;
  }

  private static void set(
      HttpServletRequest request, HttpServletResponse response, String value, int maxAgeSeconds) {
    Cookie cookie = new Cookie(COOKIE, value);
    cookie.setPath(request.getContextPath() + "/");
    cookie.setHttpOnly(true);
    cookie.setSecure(request.isSecure());
    cookie.setMaxAge(maxAgeSeconds);
    // Strict, it would be missing where the provider sends people back.
    cookie.setAttribute("SameSite", "Lax");
    response.addCookie(cookie);
  }

  /** Null unless this process signed them. */
  private String[] lines(String value) {
    int dot = value.indexOf('.');
    if (dot < 0) {
      return null;
    }
    try {
      byte[] lines = Base64.getUrlDecoder().decode(value.substring(0, dot));
      byte[] shown = Base64.getUrlDecoder().decode(value.substring(dot + 1));
      if (!MessageDigest.isEqual(shown, code(lines))) {
        return null;
      }
      return new String(lines, StandardCharsets.UTF_8).split("\n", LINES);
    } catch (IllegalArgumentException e) {
      return null; // not base64: not from here
    }
  }

  private OAuth2AuthorizationRequest asked(String[] lines) {
    ClientRegistration registration = registrations.findByRegistrationId(registrationId);
    return OAuth2AuthorizationRequest.authorizationCode()
        .authorizationUri(registration.getProviderDetails().getAuthorizationUri())
        .clientId(registration.getClientId())
        .scopes(registration.getScopes())
        .state(lines[1])
        .redirectUri(lines[4])
        .attributes(attributes -> {
          attributes.put(OAuth2ParameterNames.REGISTRATION_ID, registrationId);
          attributes.put(OidcParameterNames.NONCE, lines[2]);
          attributes.put(PkceParameterNames.CODE_VERIFIER, lines[3]);
        })
        .build();
  }

  private byte[] code(byte[] lines) {
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(key);
      return mac.doFinal(lines);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + HMAC, e);
    }
  }
}
