package org.traceetl.server.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.security.core.userdetails.UsernameNotFoundException;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.traceetl.server.binding.ConfigurationRefused;
import org.traceetl.server.binding.UsersFile;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Who is let in, by each way to sign in, over real HTTP. */
class SignInTest {
  private static final String TOKEN = "--trace-etl.web.token=open sesame";
  private static final String[] BEARER = {"Authorization", "Bearer open sesame"};

  @TempDir private Path directory;

  @Test
  void requestsNeedNoSignInByDefault() throws Exception {
    try (WebServer server = start()) {
      assertThat(get(server, "/api/status").statusCode()).isEqualTo(200);
      assertThat(get(server, "/metrics").statusCode()).isEqualTo(200);
      JsonNode status = json(get(server, "/api/status"));
      assertThat(status.get("signIn").asString()).isEqualTo("none");
      assertThat(status.get("user").isNull()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/metrics", "/api/status", "/openapi.yaml", "/api/nothing", "/health"})
  void answersHaveSecurityHeaders(String path) throws Exception {
    try (WebServer server = start()) {
      HttpResponse<String> response = get(server, path);

      assertThat(response.headers().firstValue("Content-Security-Policy").orElseThrow())
          .contains("default-src 'self'", "frame-ancestors 'none'")
          .doesNotContain("unsafe");
      assertThat(response.headers().allValues("X-Content-Type-Options")).containsExactly("nosniff");
      assertThat(response.headers().allValues("X-Frame-Options")).containsExactly("DENY");
      assertThat(response.headers().allValues("Referrer-Policy")).containsExactly("no-referrer");
      assertThat(response.headers().allValues("Set-Cookie")).isEmpty();
    }
  }

  @Test
  void tokenProtectsDataButNotTheWebUi() throws Exception {
    try (WebServer server = start(TOKEN)) {
      HttpResponse<String> stranger = get(server, "/api/status");
      assertThat(stranger.statusCode()).isEqualTo(401);
      assertThat(stranger.headers().allValues("WWW-Authenticate")).containsExactly("Bearer");
      assertThat(json(stranger).get("detail").asString()).contains("Bearer");
      assertThat(get(server, "/api/status", BEARER).statusCode()).isEqualTo(200);
      assertThat(get(server, "/api/status", "Authorization", "Bearer open").statusCode())
          .isEqualTo(401);
      for (String path : List.of("/", "/page/main.js", "/openapi.yaml", "/ready")) {
        assertThat(get(server, path).statusCode()).as(path).isEqualTo(200);
      }
      for (String path : List.of("/metrics", "/actuator", "/nothing")) {
        assertThat(get(server, path).statusCode()).as(path).isEqualTo(401);
      }
      assertThat(get(server, "/nothing", BEARER).statusCode()).isEqualTo(404);
    }
  }

  @Test
  void unchangedWebUiIsAnsweredWith304() throws Exception {
    try (WebServer server = start()) {
      for (String path : List.of("/", "/index.html", "/openapi.yaml")) {
        HttpResponse<String> file = get(server, path);
        assertThat(file.body()).as(path).contains("trace-etl");
        assertThat(file.headers().allValues("Cache-Control")).containsExactly("no-cache");
        assertThat(file.headers().firstValue("ETag")).as(path).isPresent();
      }
      HttpResponse<String> script = get(server, "/page/main.js");
      String tag = script.headers().firstValue("ETag").orElseThrow();

      assertThat(script.headers().allValues("Cache-Control")).containsExactly("no-cache");
      assertThat(script.headers().allValues("Last-Modified")).isEmpty();
      assertThat(get(server, "/page/main.js", "If-None-Match", tag).statusCode()).isEqualTo(304);
      assertThat(get(server, "/page/api.js", "If-None-Match", tag).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void usersFileDefinesNamesAndPasswords() throws Exception {
    Path users = users("ada", "correct horse", "żółw", "pass:word");
    try (WebServer server = start("--trace-etl.web.sign-in=basic", usersFile(users))) {
      for (String path : List.of("/", "/openapi.yaml", "/metrics", "/api/status")) {
        HttpResponse<String> stranger = get(server, path);
        assertThat(stranger.statusCode()).as(path).isEqualTo(401);
        assertThat(stranger.headers().firstValue("WWW-Authenticate").orElseThrow())
            .startsWith("Basic realm=");
      }
      for (String path : List.of("/health", "/ready")) {
        assertThat(get(server, path).statusCode()).isEqualTo(200);
      }
      HttpResponse<String> ada = get(server, "/api/status", basic("ada", "correct horse"));
      assertThat(ada.statusCode()).isEqualTo(200);
      assertThat(json(ada).get("user").asString()).isEqualTo("ada");
      assertThat(ada.headers().allValues("Set-Cookie")).isEmpty();
      assertThat(get(server, "/metrics", basic("żółw", "pass:word")).statusCode()).isEqualTo(200);
      // What was right once is remembered: what is wrong is still wrong.
      for (String password : List.of("wrong horse", "", "pass:word")) {
        assertThat(get(server, "/api/status", basic("ada", password)).statusCode()).isEqualTo(401);
      }
      assertThat(get(server, "/api/status", basic("eve", "correct horse")).statusCode())
          .isEqualTo(401);
    }
  }

  @Test
  void excessPasswordComparisonsAreRefusedSoon() throws Exception {
    Path users = users("ada", "correct horse");
    var passwords = new RememberedPasswords(new UsersFile(users, Instant::now).highestCost());
    assertThat(passwords.encode("any")).startsWith("$2a$04$");
    String slow = new BCryptPasswordEncoder(14).encode("any");
    int most = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);

    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Callable<Boolean>> guesses = new ArrayList<>();
      for (int guess = 0; guess < 50 * most; guess++) {
        String password = "guess " + guess;
        guesses.add(() -> passwords.matches(password, slow));
      }
      List<Future.State> states =
          threads.invokeAll(guesses).stream().map(Future::state).distinct().toList();
      assertThat(states).containsExactlyInAnyOrder(Future.State.SUCCESS, Future.State.FAILED);
    }
    assertThat(passwords.matches("any", slow)).isTrue();
  }

  @Test
  void programsMayUseTheTokenInPlaceOfPasswords() throws Exception {
    Path users = users("ada", "correct horse");
    try (WebServer server = start("--trace-etl.web.sign-in=basic", usersFile(users), TOKEN)) {
      assertThat(get(server, "/metrics", BEARER).statusCode()).isEqualTo(200);
      assertThat(get(server, "/nothing", BEARER).statusCode()).isEqualTo(404);
      assertThat(get(server, "/metrics", "Authorization", "Bearer guess").statusCode())
          .isEqualTo(401);
      assertThat(get(server, "/metrics", basic("ada", "correct horse")).statusCode())
          .isEqualTo(200);
    }
  }

  @Test
  void validUsersFileIsReloadedWithoutRestart() throws Exception {
    var now = new AtomicLong(1_000_000);
    Path file = users("ada", "first");
    Files.setLastModifiedTime(file, FileTime.fromMillis(1));
    var users = new UsersFile(file, () -> Instant.ofEpochMilli(now.addAndGet(10_000)));
    String first = users.loadUserByUsername("ada").getPassword();

    Files.writeString(file, "ada:not a hash\n");
    Files.setLastModifiedTime(file, FileTime.fromMillis(2));
    assertThat(users.loadUserByUsername("ada").getPassword()).isEqualTo(first);
    Files.delete(file);
    assertThat(users.loadUserByUsername("ada").getPassword()).isEqualTo(first);

    users("bob", "second");
    Files.setLastModifiedTime(file, FileTime.fromMillis(3));
    assertThat(users.loadUserByUsername("bob").getPassword()).startsWith("$2");
    assertThatThrownBy(() -> users.loadUserByUsername("ada"))
        .isInstanceOf(UsernameNotFoundException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "# nobody",
        "ada",
        "ada:secret",
        "ada:$2y$31$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        ":$2y$10$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
      })
  void invalidUsersFileIsRefusedWithoutShowingItsContent(String content) throws Exception {
    Path users = Files.writeString(directory.resolve("users"), content);

    assertThatThrownBy(
            () -> WebServer.check(List.of("--trace-etl.web.sign-in=basic", usersFile(users))))
        .isInstanceOf(ConfigurationRefused.class)
        .hasMessageContaining("trace-etl.web.users-file = " + users)
        .hasMessageNotContaining("secret");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "trace-etl.web.users-file --trace-etl.web.sign-in=basic",
        "trace-etl.web.oidc.issuer --trace-etl.web.sign-in=oidc --trace-etl.web.token=t",
        "trace-etl.web.token --trace-etl.web.sign-in=oidc"
            + " --trace-etl.web.oidc.issuer=https://id.example.com --trace-etl.web.oidc.client-id=a",
        "trace-etl.web.oidc.issuer --trace-etl.web.sign-in=oidc --trace-etl.web.token=t"
            + " --trace-etl.web.oidc.issuer=http://id.example.com --trace-etl.web.oidc.client-id=a",
        "trace-etl.web.oidc.client-id --trace-etl.web.sign-in=oidc --trace-etl.web.token=t"
            + " --trace-etl.web.oidc.issuer=https://id.example.com",
        "trace-etl.web.oidc --trace-etl.web.oidc.issuer=https://id.example.com"
            + " --trace-etl.web.oidc.client-id=a",
        "trace-etl.web.trace-url --trace-etl.web.trace-url=javascript:alert({traceId})",
        "trace-etl.web.trace-url --trace-etl.web.trace-url=https://jaeger.example.com/trace/",
        "trace-etl.web.trace-url --trace-etl.web.trace-url=https://{traceId}/",
        "trace-etl.web.trace-url --trace-etl.web.trace-url=https://j.example.com/{traceId}/{who}",
        "trace-etl.web.sign-in --trace-etl.web.sign-in=ldap"
      })
  void contradictoryKeysAreRefused(String keyAndArguments) {
    List<String> all = new ArrayList<>(Arrays.asList(keyAndArguments.split(" ")));
    String key = all.removeFirst();

    assertThatThrownBy(() -> WebServer.check(all))
        .isInstanceOf(ConfigurationRefused.class)
        // An absent key has no value.
        .hasMessageMatching(Pattern.quote(key) + "( = |: ).*");
  }

  @Test
  void statusContainsTheTraceUrl() throws Exception {
    String url = "https://jaeger.example.com/trace/{traceId}?uiFind={spanId}";
    try (WebServer server = start("--trace-etl.web.trace-url=" + url)) {
      assertThat(json(get(server, "/api/status")).get("traceUrl").asString()).isEqualTo(url);
    }
  }

  @Test
  void peopleSignInAtTheProviderAndProgramsUseTheToken() throws Exception {
    try (var provider = OpenIdProvider.start();
        WebServer server = start(openId(provider, "observability"))) {
      provider.callbackPort(server.port());
      assertThat(get(server, "/metrics", BEARER).statusCode()).isEqualTo(200);
      HttpResponse<String> program = get(server, "/api/status");
      assertThat(program.statusCode()).isEqualTo(401);
      assertThat(json(program).get("detail").asString()).contains("/oauth2/authorization/oidc");

      try (HttpClient browser = browser()) {
        HttpResponse<String> form = browse(browser, uri(server, "/"));
        assertThat(form.uri().getPort()).isEqualTo(provider.port());
        HttpResponse<String> page = submit(browser, form, "ada", "correct horse");
        assertThat(page.uri()).isEqualTo(uri(server, "/"));

        HttpResponse<String> status = browse(browser, uri(server, "/api/status"));
        assertThat(status.statusCode()).isEqualTo(200);
        assertThat(json(status).get("signIn").asString()).isEqualTo("oidc");
        assertThat(json(status).get("user").asString()).isEqualTo("ada");

        HttpResponse<String> out =
            browser.send(
                HttpRequest.newBuilder(uri(server, "/logout"))
                    .POST(BodyPublishers.noBody())
                    .build(),
                BodyHandlers.ofString());
        assertThat(out.uri().getPort()).isIn(provider.port(), server.port());
        HttpResponse<String> after =
            browser.send(
                HttpRequest.newBuilder(uri(server, "/api/status")).build(),
                BodyHandlers.ofString());
        assertThat(after.statusCode()).isEqualTo(401);
      }
    }
  }

  @Test
  void startedSignInCreatesNoSession() throws Exception {
    try (var provider = OpenIdProvider.start();
        WebServer server = start(openId(provider, "observability"))) {
      provider.callbackPort(server.port());
      HttpResponse<String> begun = get(server, "/oauth2/authorization/oidc");
      assertThat(begun.statusCode()).isEqualTo(302);
      List<String> cookies = begun.headers().allValues("Set-Cookie");
      assertThat(cookies).noneMatch(cookie -> cookie.startsWith("trace-etl-session="));
      assertThat(cookies)
          .singleElement()
          .asString()
          .startsWith("trace-etl-sign-in=")
          .contains("Max-Age=300", "HttpOnly", "SameSite=Lax");
    }
  }

  @Test
  void signInRequiresTheSignedCookie() throws Exception {
    try (var provider = OpenIdProvider.start();
        WebServer server = start(openId(provider, "observability"))) {
      provider.callbackPort(server.port());
      HttpResponse<String> begun = get(server, "/oauth2/authorization/oidc");
      Matcher state =
          Pattern.compile("[?&]state=([^&]+)")
              .matcher(begun.headers().firstValue("Location").orElseThrow());
      assertThat(state.find()).isTrue();
      String set = begun.headers().firstValue("Set-Cookie").orElseThrow();
      String cookie = set.substring(0, set.indexOf(';'));
      char last = cookie.charAt(cookie.length() - 5);
      String forged =
          cookie.substring(0, cookie.length() - 5)
              + (last == 'A' ? 'B' : 'A')
              + cookie.substring(cookie.length() - 4);
      String back = "/login/oauth2/code/oidc?error=access_denied&state=" + state.group(1);

      // The provider's refusal is only read where the server knows the state.
      assertThat(get(server, back, "Cookie", cookie).headers().allValues("Set-Cookie"))
          .anyMatch(cleared -> cleared.startsWith("trace-etl-sign-in=;"));
      HttpResponse<String> refused = get(server, back, "Cookie", forged);
      assertThat(refused.statusCode()).isEqualTo(403);
      assertThat(refused.headers().allValues("Set-Cookie")).isEmpty();
    }
  }

  @Test
  void activeSessionEndsAtItsLifetime() throws Exception {
    List<String> arguments = new ArrayList<>();
    try (var provider = OpenIdProvider.start()) {
      arguments.addAll(List.of(openId(provider, "observability")));
      arguments.add("--trace-etl.web.oidc.session-lifetime=2s");
      try (WebServer server = start(arguments.toArray(String[]::new));
          HttpClient browser = browser()) {
        provider.callbackPort(server.port());
        HttpResponse<String> form = browse(browser, uri(server, "/"));
        assertThat(submit(browser, form, "ada", "correct horse").statusCode()).isEqualTo(200);
        HttpRequest status = HttpRequest.newBuilder(uri(server, "/api/status")).build();
        await()
            .atMost(Duration.ofSeconds(30))
            .until(() -> browser.send(status, BodyHandlers.ofString()).statusCode() == 401);
      }
    }
  }

  @Test
  void userOutsideTheGroupsIsRefused() throws Exception {
    try (var provider = OpenIdProvider.start();
        WebServer server = start(openId(provider, "observability"));
        HttpClient browser = browser()) {
      provider.callbackPort(server.port());
      HttpResponse<String> form = browse(browser, uri(server, "/"));
      HttpResponse<String> refused = submit(browser, form, "eve", "stolen horse");

      assertThat(refused.statusCode()).isEqualTo(403);
      assertThat(json(refused).get("detail").asString()).contains("none of the groups");
      assertThat(browse(browser, uri(server, "/api/status")).statusCode()).isEqualTo(401);
    }
  }

  @Test
  void declinedSignInDoesNotMentionGroups() throws Exception {
    try (var provider = OpenIdProvider.start();
        WebServer server = start(openId(provider, "observability"));
        HttpClient browser = HttpClient.newBuilder().cookieHandler(new CookieManager()).build()) {
      provider.callbackPort(server.port());
      HttpResponse<String> start = browse(browser, uri(server, "/oauth2/authorization/oidc"));
      Matcher state =
          Pattern.compile("[?&]state=([^&]+)")
              .matcher(start.headers().firstValue("Location").orElseThrow());
      assertThat(state.find()).isTrue();

      HttpResponse<String> declined =
          browse(
              browser,
              uri(
                  server,
                  "/login/oauth2/code/oidc?error=access_denied&error_description=a%0Ab&state="
                      + state.group(1)));
      assertThat(declined.statusCode()).isEqualTo(403);
      assertThat(json(declined).get("detail").asString()).contains("failed").contains("log");
      HttpResponse<String> other = browse(browser, uri(server, "/oauth2/authorization/other"));
      assertThat(other.statusCode()).isEqualTo(404);
      assertThat(json(other).get("detail").asString()).contains("/oauth2/authorization/oidc");
    }
  }

  @Test
  void unreachableProviderIsReportedUntilItReturns() throws Exception {
    int port;
    try (var provider = OpenIdProvider.start()) {
      port = provider.port();
    }
    try (WebServer server = start(openId(port));
        HttpClient browser = browser()) {
      HttpResponse<String> away = browse(browser, uri(server, "/"));
      assertThat(away.statusCode()).isEqualTo(503);
      assertThat(json(away).get("detail").asString()).contains("provider");
      assertThat(get(server, "/metrics", BEARER).statusCode()).isEqualTo(200);

      try (var provider = OpenIdProvider.start(port)) {
        provider.callbackPort(server.port());
        assertThat(browse(browser, uri(server, "/")).uri().getPort()).isEqualTo(port);
      }
    }
  }

  private static String[] openId(OpenIdProvider provider, String group) {
    List<String> arguments = new ArrayList<>(List.of(openId(provider.port())));
    arguments.add("--trace-etl.web.oidc.groups=" + group);
    return arguments.toArray(String[]::new);
  }

  private static String[] openId(int port) {
    return new String[] {
      "--trace-etl.web.sign-in=oidc",
      "--trace-etl.web.oidc.issuer=http://localhost:" + port,
      "--trace-etl.web.oidc.client-id=trace-etl",
      "--trace-etl.web.oidc.client-secret=" + OpenIdProvider.CLIENT_SECRET,
      TOKEN
    };
  }

  /** Keeps cookies and follows the provider's ways, as a browser does. */
  private static HttpClient browser() {
    return HttpClient.newBuilder()
        .cookieHandler(new CookieManager())
        .followRedirects(HttpClient.Redirect.ALWAYS)
        .build();
  }

  private static HttpResponse<String> browse(HttpClient browser, URI uri) throws Exception {
    return browser.send(
        HttpRequest.newBuilder(uri).header("Accept", "text/html,*/*").build(),
        BodyHandlers.ofString());
  }

  private static final Pattern HIDDEN =
      Pattern.compile("name=\"_csrf\" type=\"hidden\" value=\"([^\"]+)\"");

  /** The provider's form, filled in. */
  private static HttpResponse<String> submit(
      HttpClient browser, HttpResponse<String> form, String name, String password)
      throws Exception {
    Matcher csrf = HIDDEN.matcher(form.body());
    assertThat(csrf.find()).as(form.body()).isTrue();
    String body =
        "username="
            + encoded(name)
            + "&password="
            + encoded(password)
            + "&_csrf="
            + encoded(csrf.group(1));
    return browser.send(
        HttpRequest.newBuilder(form.uri())
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Accept", "text/html,*/*")
            .POST(BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }

  private static String encoded(String text) {
    return URLEncoder.encode(
        URLDecoder.decode(text, StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  private static WebServer start(String... arguments) {
    return WebServer.start(
        List.of(arguments), Map.of("server.port", 0), false, new HandMadeService.Factory());
  }

  private Path users(String... namesAndPasswords) throws IOException {
    return Files.writeString(directory.resolve("users"), lines(namesAndPasswords));
  }

  private static String lines(String... namesAndPasswords) {
    var encoder = new BCryptPasswordEncoder(4);
    var lines = new StringBuilder("# who may look\n\n");
    for (int each = 0; each < namesAndPasswords.length; each += 2) {
      lines
          .append(namesAndPasswords[each])
          .append(':')
          .append(encoder.encode(namesAndPasswords[each + 1]))
          .append('\n');
    }
    return lines.toString();
  }

  private static String usersFile(Path users) {
    return "--trace-etl.web.users-file=" + users;
  }

  private static String[] basic(String name, String password) {
    byte[] shown = (name + ":" + password).getBytes(StandardCharsets.UTF_8);
    return new String[] {"Authorization", "Basic " + Base64.getEncoder().encodeToString(shown)};
  }

  private static HttpResponse<String> get(WebServer server, String path, String... headers)
      throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest.Builder request = HttpRequest.newBuilder(uri(server, path));
      if (headers.length > 0) {
        request.headers(headers);
      }
      return client.send(request.build(), BodyHandlers.ofString());
    }
  }

  private static URI uri(WebServer server, String path) {
    return URI.create("http://localhost:" + server.port() + path);
  }

  private static JsonNode json(HttpResponse<String> response) {
    return new JsonMapper().readTree(response.body());
  }
}
