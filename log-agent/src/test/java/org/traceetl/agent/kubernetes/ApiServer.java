package org.traceetl.agent.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.traceetl.agent.access.TestCertificates;

/**
 * Answers requests for pods over HTTPS as the API server does, by its documentation: lists with
 * pages, and watches that send the changes since a version.
 */
public final class ApiServer implements AutoCloseable {
  private static final char[] PASSWORD = "unused".toCharArray();

  private record Event(int version, String json) {}

  private final TestCertificates authority = new TestCertificates("kubernetes");
  private final HttpsServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Path directory;
  // Guarded by this.
  private final Map<String, String> pods = new LinkedHashMap<>();
  private final List<Event> events = new ArrayList<>();
  private final List<String> queries = new ArrayList<>();
  private String token = "first-token";
  private String body = "";
  private int status = 200;
  private int pageSize = Integer.MAX_VALUE;
  private int version = 100;
  private int oldest;
  private boolean closed;
  private boolean endsWatches;

  /**
   * Starts the server.
   *
   * @param directory gets {@code token} and {@code ca.crt}, as a container has them
   * @param port 0 for a free one
   */
  public ApiServer(Path directory, int port) throws IOException {
    this.directory = directory;
    write("ca.crt", authority.caPem());
    write("token", token.getBytes(UTF_8));
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(context(authority.issue())));
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          try (exchange) {
            answer(exchange);
          }
        });
    server.start();
  }

  private static SSLContext context(TestCertificates.Issued issued) {
    try {
      KeyStore keys = KeyStore.getInstance(KeyStore.getDefaultType());
      keys.load(null, null);
      keys.setKeyEntry(
          "server", issued.keys().getPrivate(), PASSWORD, new Certificate[] {issued.certificate()});
      KeyManagerFactory factory =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      factory.init(keys, PASSWORD);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(factory.getKeyManagers(), null, null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void write(String name, byte[] content) throws IOException {
    Files.write(directory.resolve(name), content);
  }

  public int port() {
    return server.getAddress().getPort();
  }

  /** Returns the section {@code kubernetes} of an agent's configuration. */
  public String yaml() {
    return yaml(directory, port());
  }

  static String yaml(Path directory, int port) {
    return "kubernetes: {enabled: true, node-name: node-1, url: 'https://127.0.0.1:%d', token-file: '%s', ca-file: '%s'}\n"
        .formatted(port, directory.resolve("token"), directory.resolve("ca.crt"));
  }

  /** Adds a pod, or changes it. */
  public synchronized void put(PodJson pod) {
    version++;
    String json = pod.json(version);
    String type = pods.put(pod.uid(), json) == null ? "ADDED" : "MODIFIED";
    add(type, json);
  }

  /** Removes a pod; it is one that has ended if the selector no longer finds it. */
  public synchronized void remove(PodJson pod) {
    version++;
    pods.remove(pod.uid());
    add("DELETED", pod.json(version));
  }

  /** Sends an event in place of those of pods. */
  synchronized void send(String json) {
    version++;
    events.add(new Event(version, json));
    notifyAll();
  }

  synchronized void bookmark() {
    version++;
    add(
        "BOOKMARK",
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"%d\",\"creationTimestamp\":null},\"spec\":{\"containers\":null},\"status\":{}}"
            .formatted(version));
  }

  private void add(String type, String json) {
    events.add(new Event(version, "{\"type\":\"" + type + "\",\"object\":" + json + "}\n"));
    notifyAll();
  }

  /** Accepts only another token from now on; the agent's file gets it, if it shall. */
  synchronized void rotate(String next, boolean written) throws IOException {
    token = next;
    if (written) {
      write("token", next.getBytes(UTF_8));
    }
  }

  /** Ends the watches; further requests get this status. */
  synchronized void status(int now) {
    status = now;
    endWatches();
  }

  /** Ends the watches; further requests get this with status 200, if it is not empty. */
  synchronized void body(String now) {
    body = now;
    endWatches();
  }

  synchronized void pageSize(int pods) {
    pageSize = pods;
  }

  /** Forgets all events, so that earlier versions have expired, and ends the watches. */
  synchronized void compact() {
    oldest = version;
    events.clear();
    endWatches();
  }

  synchronized void endWatches() {
    endsWatches = true;
    notifyAll();
  }

  /** Returns the decoded queries so far. */
  synchronized List<String> queries() {
    return List.copyOf(queries);
  }

  private void answer(HttpExchange exchange) throws IOException {
    String query = URLDecoder.decode(exchange.getRequestURI().getRawQuery(), UTF_8);
    int code;
    String instead;
    synchronized (this) {
      instead = body;
      queries.add(query);
      boolean isKnown =
          ("Bearer " + token).equals(exchange.getRequestHeaders().getFirst("Authorization"));
      boolean isPath = exchange.getRequestURI().getPath().equals("/api/v1/pods");
      code = !isKnown ? 401 : isPath ? status : 404;
    }
    if (code != 200) {
      byte[] body = failure(code).getBytes(UTF_8);
      exchange.sendResponseHeaders(code, body.length);
      exchange.getResponseBody().write(body);
    } else if (!instead.isEmpty()) {
      exchange.sendResponseHeaders(200, 0);
      exchange.getResponseBody().write(instead.getBytes(UTF_8));
    } else if (query.contains("&watch=true")) {
      watch(exchange, Integer.parseInt(query.replaceFirst(".*resourceVersion=", "")));
    } else {
      exchange.sendResponseHeaders(200, 0);
      exchange.getResponseBody().write(page(query).getBytes(UTF_8));
    }
  }

  private static String failure(int code) {
    return """
    {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"of a test",\
    "reason":"OfATest","code":%d}
    """
        .formatted(code);
  }

  private synchronized String page(String query) {
    int from = query.contains("&continue=") ? number(query, "continue=") : 0;
    List<String> all = List.copyOf(pods.values());
    int to = (int) Math.min(all.size(), (long) from + pageSize);
    String rest = to < all.size() ? ",\"continue\":\"" + to + "\",\"remainingItemCount\":1" : "";
    return "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"%d\"%s},\"items\":[%s]}\n"
        .formatted(version, rest, String.join(",", all.subList(from, to)));
  }

  private static int number(String query, String name) {
    return Integer.parseInt(query.replaceFirst(".*" + name, "").replaceFirst("&.*", ""));
  }

  private void watch(HttpExchange exchange, int from) throws IOException {
    exchange.sendResponseHeaders(200, 0);
    OutputStream body = exchange.getResponseBody();
    int sent = from;
    synchronized (this) {
      endsWatches = false;
      if (from < oldest) {
        body.write(
            ("{\"type\":\"ERROR\",\"object\":" + failure(410).strip() + "}\n").getBytes(UTF_8));
        return;
      }
    }
    while (true) {
      List<Event> next = new ArrayList<>();
      synchronized (this) {
        while (next.isEmpty()) {
          int since = sent;
          events.stream().filter(event -> event.version > since).forEach(next::add);
          if (next.isEmpty()) {
            if (closed || endsWatches) {
              return;
            }
            try {
              wait();
            } catch (InterruptedException e) {
              return;
            }
          }
        }
      }
      for (Event event : next) {
        body.write(event.json.getBytes(UTF_8));
        sent = event.version;
      }
      body.flush();
    }
  }

  /** Gives the agent another root certificate, which the server's is not of. */
  void distrust() throws IOException {
    write("ca.crt", new TestCertificates("another").caPem());
  }

  void trust() throws IOException {
    write("ca.crt", authority.caPem());
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    server.stop(0);
    threads.shutdownNow();
  }
}
