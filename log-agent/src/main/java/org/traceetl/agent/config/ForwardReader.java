package org.traceetl.agent.config;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.traceetl.agent.access.TlsFileException;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.config.ForwardConfig.Endpoint;
import org.traceetl.agent.config.ForwardConfig.Keep;
import org.traceetl.common.Secret;

/** Reads the section {@code forward} of the configuration. */
final class ForwardReader {
  private static final int MAX_ENDPOINTS = 16;
  private static final String PATH = "/v1/traces";
  private static final String URL =
      "must be http://host:port or https://host:port and at most a path";

  private ForwardReader() {}

  static ForwardConfig read(Settings forward, ForwardConfig standard, OtlpConfig otlp) {
    ForwardConfig read =
        new ForwardConfig(
            buffer(forward, standard.bufferBytes()),
            forward.secretList("endpoints", "endpoints", each -> endpoint(each, otlp)),
            keep(forward.section("keep"), standard.keep()));
    if (read.endpoints().isEmpty()) {
      return read;
    }
    if (read.endpoints().size() > MAX_ENDPOINTS) {
      forward.problem("endpoints", read.endpoints().size(), "must be at most " + MAX_ENDPOINTS);
    }
    Set<String> names = new HashSet<>();
    for (Endpoint endpoint : read.endpoints()) {
      if (!names.add(endpoint.name())) {
        forward.problem("endpoints.name", endpoint.name(), "must be different for each endpoint");
      }
    }
    checkBuffer(forward, "buffer-bytes", read.bufferBytes(), otlp);
    if (read.keep().enabled()) {
      checkBuffer(forward, "keep.buffer-bytes", read.keep().bufferBytes(), otlp);
    }
    return read;
  }

  private static void checkBuffer(Settings forward, String key, long bytes, OtlpConfig otlp) {
    if (bytes / 2 < otlp.maxRequestBytes()) {
      forward.problem(
          key, bytes, "must be at least twice otlp.max-request-bytes = " + otlp.maxRequestBytes());
    }
  }

  private static Keep keep(Settings keep, Keep standard) {
    return new Keep(
        keep.flag("enabled", standard.enabled()),
        keep.integer("wait-millis", standard.waitMillis(), 1_000, 120_000),
        keep.integer("slow-millis", standard.slowMillis(), 0, 86_400_000),
        keep.flag("failed", standard.failed()),
        keep.value("ratio", standard.ratio(), DetailReader.RATIO, DetailReader::ratio),
        buffer(keep, standard.bufferBytes()));
  }

  private static long buffer(Settings section, long standard) {
    return section.longInteger("buffer-bytes", standard, 16L << 20, 64L << 30);
  }

  private static Endpoint endpoint(Settings endpoint, OtlpConfig otlp) {
    String name = endpoint.optional("name");
    if (!name.matches("[a-z0-9][a-z0-9-]{0,31}")) {
      endpoint.problem("name", name, "must be 1 to 32 lower-case letters, digits and hyphens");
    }
    Endpoint standard = Endpoint.of(name, url(endpoint, otlp));
    Endpoint read =
        new Endpoint(
            name,
            standard.url(),
            endpoint.choice("compression", standard.compression()),
            headers(endpoint),
            endpoint.optionalPath("headers-file"),
            endpoint.optionalPath("token-file"),
            caFile(endpoint, standard.url()),
            endpoint.integer("timeout-millis", standard.timeoutMillis(), 100, 600_000));
    try {
      read.readHeaders();
    } catch (IOException e) {
      // The message begins with the file.
      boolean isToken =
          read.tokenFile().isPresent() && e.getMessage().startsWith(read.tokenFile().get() + ": ");
      String[] fileAndProblem = e.getMessage().split(": ", 2);
      endpoint.problem(
          isToken ? "token-file" : "headers-file", fileAndProblem[0], fileAndProblem[1]);
    }
    return read;
  }

  /** Reads the address; problems give only its host, because the rest may be secret. */
  private static URI url(Settings endpoint, OtlpConfig otlp) {
    URI none = URI.create("http://localhost" + PATH);
    URI url;
    try {
      url = new URI(endpoint.secretText("url"));
    } catch (URISyntaxException e) {
      endpoint.problem("url", "", URL);
      return none;
    }
    boolean isWeb = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
    if (!isWeb || url.getHost() == null || hasMore(url)) {
      endpoint.problem("url", "", URL);
      return none;
    }
    if (url.getRawUserInfo() != null) {
      endpoint.problem("url", "", "must not contain a user: set a header Authorization");
      return none;
    }
    int port = url.getPort() < 0 ? (url.getScheme().equals("https") ? 443 : 80) : url.getPort();
    boolean isOwnPort = port == otlp.httpPort() || port == otlp.grpcPort();
    if (otlp.enabled() && isOwnPort && isThisHost(url.getHost(), otlp.host())) {
      endpoint.problem(
          "url",
          url.getScheme() + "://" + url.getRawAuthority(),
          "must not be this agent's own OTLP port, because requests would return to it");
    }
    boolean hasPath = !url.getRawPath().isEmpty() && !url.getRawPath().equals("/");
    return hasPath ? url : URI.create(url.getScheme() + "://" + url.getRawAuthority() + PATH);
  }

  private static boolean hasMore(URI url) {
    return url.getRawQuery() != null || url.getRawFragment() != null;
  }

  /** Returns whether an address is of this host. Other names are not resolved. */
  private static boolean isThisHost(String host, String ownHost) {
    if (host.equalsIgnoreCase("localhost") || host.equalsIgnoreCase(ownHost)) {
      return true;
    }
    try {
      InetAddress address = InetAddress.ofLiteral(host.replaceAll("[\\[\\]]", ""));
      return address.isLoopbackAddress()
          || address.isAnyLocalAddress()
          || NetworkInterface.getByInetAddress(address) != null;
    } catch (IllegalArgumentException | SocketException e) {
      // A name.
      return false;
    }
  }

  private static Map<String, Secret> headers(Settings endpoint) {
    Map<String, Secret> headers = new LinkedHashMap<>();
    YamlNode node = endpoint.node("headers");
    if (node == null) {
      return headers;
    }
    if (node.keys() == null) {
      endpoint.problem("headers", "", "must be a section of names and values");
      return headers;
    }
    node.keys()
        .forEach((header, value) -> {
          if (value.isScalar() && Endpoint.isHeader(header, value.text())) {
            headers.put(header, new Secret(value.text()));
          } else {
            endpoint.problem(
                "headers." + header,
                "",
                "must be a header that the agent does not set, with a value of printable ASCII");
          }
        });
    return headers;
  }

  private static Optional<Path> caFile(Settings endpoint, URI url) {
    Optional<Path> file = endpoint.optionalPath("ca-file");
    if (file.isPresent() && !url.getScheme().equals("https")) {
      endpoint.problem("ca-file", file.get(), "requires a url with https");
    } else if (file.isPresent()) {
      try {
        TlsFiles.checkRoots(file.get());
      } catch (TlsFileException e) {
        endpoint.problem("ca-file", file.get(), e.problem());
      }
    }
    return file;
  }
}
