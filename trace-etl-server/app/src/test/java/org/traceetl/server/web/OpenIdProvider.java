package org.traceetl.server.web;

import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.proc.SecurityContext;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.security.interfaces.RSAPrivateKey;
import java.security.interfaces.RSAPublicKey;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.OAuth2AuthorizationServerConfiguration;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.core.oidc.endpoint.OidcParameterNames;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClient;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.settings.AuthorizationServerSettings;
import org.springframework.security.oauth2.server.authorization.token.JwtEncodingContext;
import org.springframework.security.oauth2.server.authorization.token.OAuth2TokenCustomizer;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/**
 * A real OpenID provider on a port of this machine: Spring's authorization server, with two people,
 * of whom ada is in the group observability.
 */
final class OpenIdProvider implements AutoCloseable {
  static final String CLIENT_SECRET = "hush";

  private final ConfigurableApplicationContext context;

  private OpenIdProvider(ConfigurableApplicationContext context) {
    this.context = context;
  }

  static OpenIdProvider start() {
    return start(0);
  }

  static OpenIdProvider start(int port) {
    var application = new SpringApplication(Provider.class);
    application.setDefaultProperties(Map.of("server.port", port, "spring.main.banner-mode", "off"));
    return new OpenIdProvider(application.run());
  }

  int port() {
    return Objects.requireNonNull(((WebServerApplicationContext) context).getWebServer()).getPort();
  }

  /** Where people are sent back to. */
  void callbackPort(int port) {
    context.getBean(Clients.class).callbackPort.set(port);
  }

  @Override
  public void close() {
    context.close();
  }

  /** The one client; its address is known when its server has a port. */
  static final class Clients implements RegisteredClientRepository {
    private final AtomicInteger callbackPort = new AtomicInteger();

    @Override
    public void save(RegisteredClient client) {
      // Wants to keep the password in another form.
    }

    @Override
    public RegisteredClient findById(String id) {
      return client();
    }

    @Override
    public RegisteredClient findByClientId(String clientId) {
      return client();
    }

    private RegisteredClient client() {
      String home = "http://localhost:" + callbackPort.get();
      return RegisteredClient.withId("1")
          .clientId("trace-etl")
          .clientSecret("{noop}" + CLIENT_SECRET)
          .clientAuthenticationMethod(ClientAuthenticationMethod.CLIENT_SECRET_BASIC)
          .authorizationGrantType(AuthorizationGrantType.AUTHORIZATION_CODE)
          .redirectUri(home + "/login/oauth2/code/oidc")
          .postLogoutRedirectUri(home + "/")
          .scopes(scopes -> scopes.addAll(List.of("openid", "profile", "email")))
          .build();
    }
  }

  /** What the provider is put together of. */
  @SpringBootConfiguration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Provider {
    @Bean
    SecurityFilterChain chain(HttpSecurity http) throws Exception {
      http.oauth2AuthorizationServer(server -> server.oidc(Customizer.withDefaults()));
      http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated());
      http.formLogin(Customizer.withDefaults());
      return http.build();
    }

    @Bean
    Clients clients() {
      return new Clients();
    }

    @Bean
    AuthorizationServerSettings settings() {
      return AuthorizationServerSettings.builder().build();
    }

    @Bean
    UserDetailsService people() {
      return new InMemoryUserDetailsManager(
          User.withUsername("ada").password("{noop}correct horse").roles("person").build(),
          User.withUsername("eve").password("{noop}stolen horse").roles("person").build());
    }

    @Bean
    OAuth2TokenCustomizer<JwtEncodingContext> claims() {
      return token -> {
        if (token.getTokenType().getValue().equals(OidcParameterNames.ID_TOKEN)) {
          String name = token.getPrincipal().getName();
          token
              .getClaims()
              .claim("preferred_username", name)
              .claim("groups", List.of(name.equals("ada") ? "observability" : "guests"));
        }
      };
    }

    @Bean
    JwtDecoder decoder(JWKSource<SecurityContext> keys) {
      return OAuth2AuthorizationServerConfiguration.jwtDecoder(keys);
    }

    @Bean
    JWKSource<SecurityContext> keys() throws NoSuchAlgorithmException {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
      generator.initialize(2048);
      KeyPair pair = generator.generateKeyPair();
      return new ImmutableJWKSet<>(
          new JWKSet(
              new RSAKey.Builder((RSAPublicKey) pair.getPublic())
                  .privateKey((RSAPrivateKey) pair.getPrivate())
                  .keyID("test")
                  .build()));
    }
  }
}
