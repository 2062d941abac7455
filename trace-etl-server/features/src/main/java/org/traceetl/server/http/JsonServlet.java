package org.traceetl.server.http;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.security.web.firewall.RequestRejectedException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.json.JsonMapper;

/**
 * A path of the API that can only be read: its parameters are known, its answer is JSON or a {@link
 * Problem}, and one that the caller has already is not sent again.
 */
public abstract class JsonServlet extends HttpServlet {
  protected static final JsonMapper JSON = new JsonMapper();

  private static final long serialVersionUID = 1L;
  private static final Logger log = LoggerFactory.getLogger(JsonServlet.class);

  /** A page that asks every few seconds is to be told each change; two views of it ask at once. */
  private static final String CACHE = "private, max-age=2";

  private final transient Set<String> parameters;

  /**
   * @param parameters that the path knows
   */
  protected JsonServlet(Set<String> parameters) {
    this.parameters = parameters;
  }

  /**
   * Writes the answer.
   *
   * @throws Refusal if there is none
   * @throws IllegalArgumentException saying which parameter, which value, and what would be right
   */
  protected abstract void answer(Parameters given, JsonGenerator out) throws IOException;

  /**
   * Changes whenever an answer may, whatever the parameters; asked before it. Null, the default,
   * where that is not known: then nobody is to keep an answer.
   */
  protected String tag() {
    return null;
  }

  /** The same, told by an answer itself: it is sent only to who has another one. */
  protected String tag(byte[] body) {
    return tag();
  }

  /** Sends the answer; one that is not JSON does it in a way of its own. */
  protected void answer(Parameters given, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    String before = tag();
    if (isKnown(request, before)) {
      unchanged(response, before);
      return;
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(out)) {
      answer(given, json);
    }
    byte[] body = out.toByteArray();
    String tag = before == null ? tag(body) : before;
    if (before == null && isKnown(request, tag)) {
      unchanged(response, tag);
      return;
    }
    describe(response, tag);
    response.setContentType("application/json");
    response.setContentLength(body.length);
    response.getOutputStream().write(body);
  }

  private static boolean isKnown(HttpServletRequest request, String tag) {
    String known = request.getHeader("If-None-Match");
    if (known == null || tag == null) {
      return false;
    }
    for (String one : known.split(",", -1)) {
      String stripped = one.strip();
      if (stripped.equals(weak(tag)) || weak(tag).equals("W/" + stripped)) {
        return true;
      }
    }
    return false;
  }

  /** Compressed or not, it is the same answer. */
  private static String weak(String tag) {
    return "W/\"" + tag + "\"";
  }

  private static void unchanged(HttpServletResponse response, String tag) {
    describe(response, tag);
    response.setStatus(HttpServletResponse.SC_NOT_MODIFIED);
  }

  /** Says for how long an answer holds; null for not at all. */
  private static void describe(HttpServletResponse response, String tag) {
    response.setHeader("Cache-Control", tag == null ? "no-store" : CACHE);
    if (tag != null) {
      response.setHeader("ETag", weak(tag));
    }
  }

  @Override
  protected final void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    try {
      if (!List.of("GET", "HEAD").contains(request.getMethod())) {
        response.setHeader("Allow", "GET, HEAD");
        throw new Refusal(
            HttpServletResponse.SC_METHOD_NOT_ALLOWED,
            "method = " + request.getMethod() + ": must be GET or HEAD; this can only be read");
      }
      answer(new Parameters(given(request), parameters), request, response);
    } catch (Refusal e) {
      refuse(response, e.status(), e.getMessage());
    } catch (IllegalArgumentException e) {
      refuse(response, HttpServletResponse.SC_BAD_REQUEST, e.getMessage());
    } catch (RequestRejectedException e) {
      refuse(
          response,
          HttpServletResponse.SC_BAD_REQUEST,
          "a header has characters in it that none may have");
    } catch (RuntimeException e) {
      log.error("A request of {} failed by an internal error", request.getServletPath(), e);
      refuse(
          response,
          HttpServletResponse.SC_INTERNAL_SERVER_ERROR,
          "the server failed by an internal error; its log has more");
    }
  }

  private static void refuse(HttpServletResponse response, int status, String detail)
      throws IOException {
    response.setHeader("Cache-Control", "no-store");
    Problem.write(response, status, detail);
  }

  private static Map<String, String[]> given(HttpServletRequest request) {
    try {
      return request.getParameterMap();
    } catch (IllegalStateException e) {
      throw new Refusal(
          HttpServletResponse.SC_BAD_REQUEST, "the query must be UTF-8, percent-encoded");
    }
  }

  /** Null where it is not known. */
  protected static void putOrNull(JsonGenerator out, String name, double value) {
    if (Double.isNaN(value)) {
      out.writeNullProperty(name);
    } else {
      out.writeNumberProperty(name, value);
    }
  }

  /** In UTC, as RFC 3339 has it. */
  protected static String time(long millis) {
    return Instant.ofEpochMilli(millis).toString();
  }

  /** Null for 0, which stands for never. */
  protected static String timeOrNull(long millis) {
    return millis == 0 ? null : time(millis);
  }
}
