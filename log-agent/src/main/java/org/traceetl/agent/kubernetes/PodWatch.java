package org.traceetl.agent.kubernetes;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.access.TokenSource;
import org.traceetl.agent.config.KubernetesConfig;
import org.traceetl.agent.kubernetes.KubernetesMetrics.Failure;
import org.traceetl.common.BackOff;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.Reason;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Lists the pods of a node, then watches them: the API server sends each change as an event. If it
 * does not answer, the last known pods stay.
 */
final class PodWatch implements SteppedTask, AutoCloseable {
  /** Several times what a node can run. */
  static final int MAX_PODS = 1_024;

  private static final Logger log = LoggerFactory.getLogger(PodWatch.class);

  /**
   * Characters; the API server accepts no larger object. Values that are not used have no limit.
   */
  private static final int MAX_TEXT = 3 * 1024 * 1024;

  private static final int PAGE = 500;

  /** A watch lasts this time to twice as long, so that agents do not return together. */
  private static final int WATCH_SECONDS = 240;

  /** Without an event for this time a watch is given up: the API server sends one each minute. */
  private static final int IDLE_SECONDS = 150;

  /** What a page of a list may take. */
  private static final int PAGE_SECONDS = 30;

  /** What the head of an answer may take. */
  private static final int HEAD_SECONDS = 10;

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

  /** A watch that ends sooner and without an event has failed. */
  private static final long SHORTEST_WATCH_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long NEXT_WATCH_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final long FIRST_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long MAX_RETRY_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final int OK = 200;
  private static final int UNAUTHORIZED = 401;
  private static final int FORBIDDEN = 403;
  private static final int GONE = 410;
  private static final int GATEWAY_TIMEOUT = 504;

  private static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  // A watch's names would be kept until its end.
                  .disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxStringLength(MAX_TEXT)
                          .maxNameLength(MAX_TEXT)
                          .build())
                  .build())
          .build();

  /** The pods at one time, by what identifies them. */
  record Pods(Map<String, Pod> byUid, Map<String, Pod> byId, Map<InetAddress, Pod> byAddress) {
    static Pods of(Map<String, Pod> byUid) {
      Map<String, Pod> byId = new HashMap<>(byUid);
      Map<InetAddress, Pod> byAddress = new HashMap<>();
      Set<InetAddress> shared = new HashSet<>();
      for (Pod pod : byUid.values()) {
        pod.containers().forEach(id -> byId.put(id, pod));
        for (InetAddress address : pod.addresses()) {
          if (byAddress.put(address, pod) != null) {
            // One of them ends, and it is not known which one sends.
            shared.add(address);
          }
        }
      }
      byAddress.keySet().removeAll(shared);
      return new Pods(Map.copyOf(byUid), byId, byAddress);
    }
  }

  private static final class FailedException extends Exception {
    final Failure failure;

    FailedException(Failure failure, String message) {
      super(message);
      this.failure = failure;
    }
  }

  private final KubernetesConfig config;
  private final KubernetesMetrics metrics;
  private final Clocks clocks;
  private final RandomGenerator random;
  private final BackOff backOff;
  private final LogThrottle failureLog;
  private final SteppedThread thread;
  private final CountDownLatch listed = new CountDownLatch(1);
  // Null until the first list.
  private volatile Pods pods;
  private volatile long heardNanos;
  // The answer that is read; null before the first one.
  private volatile Answer reading;

  // Owned by the thread.
  private Map<String, Pod> byUid = new HashMap<>();
  // The last one known: what to watch from, and the oldest to list. Empty for the latest.
  private String version = "0";
  private boolean mustList = true;
  private boolean leftOut;
  private int failures;

  PodWatch(
      KubernetesConfig config, KubernetesMetrics metrics, Clocks clocks, RandomGenerator random) {
    this.config = config;
    this.metrics = metrics;
    this.clocks = clocks;
    this.random = random;
    heardNanos = clocks.nanos();
    backOff = new BackOff(FIRST_RETRY_NANOS, MAX_RETRY_NANOS, random);
    failureLog = new LogThrottle(clocks.nanoClock());
    thread =
        SteppedThread.daemon(clocks, "kubernetes-pods", this, new LogThrottle(clocks.nanoClock()));
  }

  void start() {
    thread.start();
  }

  /** Returns the known pods; null if none were listed yet. */
  Pods pods() {
    return pods;
  }

  /** Returns when the API server last sent pods or an event; the start before that. */
  long heardNanos() {
    return heardNanos;
  }

  /** Returns what is open after the first list. */
  CountDownLatch listed() {
    return listed;
  }

  /** Lists the pods if necessary, and watches them for some minutes. */
  @Override
  public long doWork() throws InterruptedException {
    HttpClient client = null;
    try {
      client =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .followRedirects(HttpClient.Redirect.NEVER)
              .connectTimeout(CONNECT_TIMEOUT)
              .sslContext(TlsFiles.trusting(config.caFile()))
              .build();
      if (mustList) {
        list(client);
      }
      watch(client);
      return NEXT_WATCH_NANOS;
    } catch (FailedException e) {
      return failed(e.failure, e);
    } catch (StreamConstraintsException e) {
      return failed(Failure.TOO_LARGE, e);
    } catch (IOException | JacksonIOException e) {
      return failed(Failure.UNREACHABLE, e);
    } catch (JacksonException e) {
      return failed(Failure.MALFORMED, e);
    } finally {
      if (client != null) {
        client.shutdownNow();
      }
    }
  }

  private long failed(Failure failure, Exception cause) {
    if (thread.isClosed()) {
      return SteppedTask.ENDED;
    }
    metrics.failures.get(failure).increment();
    switch (failure) {
      case EXPIRED -> {
        version = "";
        mustList = true;
      }
      // The same watch would fail again.
      case MALFORMED, TOO_LARGE -> mustList = true;
      case UNREACHABLE, UNAUTHORIZED, FORBIDDEN, REFUSED -> {}
    }
    // An expired version is usual after a pause.
    if (failure != Failure.EXPIRED && failureLog.permits()) {
      log.warn(
          "Cannot read the pods of node {} from {}: {}. Resources get the attributes of {} pods"
              + " that were known before",
          config.nodeName(),
          config.url(),
          Reason.of(cause),
          byUid.size());
    }
    failures++;
    return backOff.nanos(failures);
  }

  private void list(HttpClient client) throws IOException, InterruptedException, FailedException {
    Map<String, Pod> found = new HashMap<>();
    // From the API server's memory: a read of the latest version costs a scan of all pods.
    String page =
        version.isEmpty()
            ? ""
            : "&resourceVersionMatch=NotOlderThan&resourceVersion=" + encoded(version);
    String listVersion = "";
    leftOut = false;
    while (page != null) {
      JsonNode metadata = null;
      try (Answer answer = get(client, "&limit=" + PAGE + page, PAGE_SECONDS);
          JsonParser json = JSON.createParser(answer.body)) {
        json.nextToken();
        while (json.nextToken() == JsonToken.PROPERTY_NAME) {
          String name = json.currentName();
          json.nextToken();
          if (name.equals("metadata")) {
            metadata = UsedFields.read(json);
          } else if (name.equals("items") && json.currentToken() == JsonToken.START_ARRAY) {
            while (json.nextToken() == JsonToken.START_OBJECT) {
              add(found, UsedFields.read(json));
            }
            if (json.currentToken() != JsonToken.END_ARRAY) {
              throw new FailedException(Failure.MALFORMED, "an item of the list is no object");
            }
          } else {
            json.skipChildren();
          }
        }
      }
      listVersion = metadata == null ? "" : metadata.path("resourceVersion").asString("");
      if (listVersion.isEmpty()) {
        throw new FailedException(Failure.MALFORMED, "the list has no resourceVersion");
      }
      String rest = metadata.path("continue").asString("");
      page = rest.isEmpty() ? null : "&continue=" + encoded(rest);
    }
    byUid = found;
    version = listVersion;
    mustList = false;
    publish();
    heardNanos = clocks.nanos();
    if (listed.getCount() > 0) {
      log.info("Following the {} pods of node {}", byUid.size(), config.nodeName());
      listed.countDown();
    }
  }

  private void watch(HttpClient client) throws IOException, InterruptedException, FailedException {
    int seconds = WATCH_SECONDS + random.nextInt(WATCH_SECONDS);
    String query =
        "&watch=true&allowWatchBookmarks=true&timeoutSeconds="
            + seconds
            + "&resourceVersion="
            + encoded(version);
    long beginNanos = clocks.nanos();
    long endNanos = beginNanos + TimeUnit.SECONDS.toNanos(seconds);
    boolean isEmpty = true;
    try (Answer answer = get(client, query, IDLE_SECONDS);
        JsonParser events = JSON.createParser(answer.body)) {
      while (!mustList && clocks.nanos() - endNanos < 0 && events.nextToken() != null) {
        event(UsedFields.read(events));
        isEmpty = false;
        heardNanos = clocks.nanos();
        failures = 0;
        answer.endAfter(IDLE_SECONDS);
      }
    }
    if (isEmpty && clocks.nanos() - beginNanos < SHORTEST_WATCH_NANOS) {
      throw new FailedException(Failure.REFUSED, "the watch ended at once, without an event");
    }
  }

  private void event(JsonNode event) throws FailedException {
    JsonNode object = event.path("object");
    String type = event.path("type").asString("");
    if (type.equals("ERROR")) {
      int code = object.path("code").asInt(0);
      mustList = true;
      throw new FailedException(failureOf(code), "the watch ended with code " + code);
    }
    String next = object.path("metadata").path("resourceVersion").asString("");
    if (next.isEmpty()) {
      throw new FailedException(Failure.MALFORMED, "an event has no resourceVersion");
    }
    version = next;
    if (type.equals("BOOKMARK")) {
      return;
    }
    int before = byUid.size();
    if (type.equals("DELETED")) {
      byUid.remove(Pod.uid(object));
    } else {
      add(byUid, object);
    }
    publish();
    // There is room for a pod that was left out.
    mustList = leftOut && byUid.size() < before;
  }

  /** Adds a pod, or removes it if it has ended. */
  private void add(Map<String, Pod> byUid, JsonNode object) {
    Pod pod = Pod.read(object);
    if (pod == null) {
      byUid.remove(Pod.uid(object));
    } else if (byUid.size() < MAX_PODS || byUid.containsKey(pod.uid())) {
      byUid.put(pod.uid(), pod);
    } else {
      leftOut = true;
      metrics.failures.get(Failure.TOO_LARGE).increment();
    }
  }

  private void publish() {
    pods = Pods.of(byUid);
  }

  /** An answer that is read. Any thread may end it early, which the reader sees as a failure. */
  private static final class Answer implements AutoCloseable {
    final InputStream body;
    private CompletableFuture<Void> limit = new CompletableFuture<>();

    Answer(InputStream body) {
      this.body = body;
    }

    /** Ends the answer after a time, in place of the time that was set before. */
    void endAfter(long seconds) {
      limit.cancel(false);
      limit = new CompletableFuture<Void>().completeOnTimeout(null, seconds, TimeUnit.SECONDS);
      CompletableFuture<Void> unused = limit.thenRun(this::end);
    }

    void end() {
      try {
        body.close();
      } catch (IOException e) {
        // Its connection is closed with the client.
      }
    }

    @Override
    public void close() {
      limit.cancel(false);
      end();
    }
  }

  /**
   * Requests the running pods of the node.
   *
   * @param query what is appended to the request's query
   * @param endsSeconds when the answer is ended, unless its end is put off
   */
  private Answer get(HttpClient client, String query, int endsSeconds)
      throws IOException, InterruptedException, FailedException {
    String selector =
        "spec.nodeName=" + config.nodeName() + ",status.phase!=Succeeded,status.phase!=Failed";
    URI uri = URI.create(config.url() + "/api/v1/pods?fieldSelector=" + encoded(selector) + query);
    String token;
    try {
      token = new TokenSource("", Optional.of(config.tokenFile())).read().getFirst();
    } catch (IOException e) {
      throw new IOException(config.tokenFile() + ": " + e.getMessage(), e);
    }
    HttpResponse<InputStream> response =
        answer(
            client.sendAsync(
                HttpRequest.newBuilder(uri)
                    .header("Accept", "application/json")
                    .header("Authorization", "Bearer " + token)
                    .header("User-Agent", "trace-etl-agent")
                    .build(),
                BodyHandlers.ofInputStream()));
    InputStream body = response.body();
    if (response.statusCode() != OK) {
      body.close();
      throw new FailedException(
          failureOf(response.statusCode()),
          "the API server answers with status " + response.statusCode());
    }
    Answer answer = new Answer(body);
    answer.endAfter(endsSeconds);
    reading = answer;
    if (thread.isClosed()) {
      answer.end();
    }
    return answer;
  }

  /** Waits for the head. A timeout of the request would also limit the body on newer JDKs. */
  private static HttpResponse<InputStream> answer(
      CompletableFuture<HttpResponse<InputStream>> response)
      throws IOException, InterruptedException {
    try {
      return response.get(HEAD_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } catch (TimeoutException e) {
      throw new IOException("no answer within " + HEAD_SECONDS + " s", e);
    }
  }

  private static Failure failureOf(int status) {
    return switch (status) {
      case UNAUTHORIZED -> Failure.UNAUTHORIZED;
      case FORBIDDEN -> Failure.FORBIDDEN;
      // Timeout: a server whose store was restored does not have the version yet.
      case GONE, GATEWAY_TIMEOUT -> Failure.EXPIRED;
      default -> Failure.REFUSED;
    };
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8);
  }

  @Override
  public void endPause() {
    Answer answer = reading;
    if (answer != null) {
      answer.end();
    }
  }

  @Override
  public void close() {
    // A request without an answer is interrupted.
    thread.abort();
    thread.close();
  }
}
