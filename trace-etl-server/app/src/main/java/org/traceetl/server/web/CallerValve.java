package org.traceetl.server.web;

import jakarta.servlet.ServletException;
import java.io.IOException;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;
import org.apache.coyote.ActionCode;
import org.traceetl.server.http.Caller;

/**
 * Adds its caller to each request. A servlet detects only by writing that a client has closed its
 * connection; this one reads without waiting. A client that sends more than its request counts as
 * gone, as does one that ends its half of the connection. With HTTP/2 no client is ever gone.
 */
final class CallerValve extends ValveBase {
  CallerValve() {
    super(true);
  }

  @Override
  public void invoke(Request request, Response response) throws IOException, ServletException {
    org.apache.coyote.Request connection = request.getCoyoteRequest();
    request.setAttribute(Caller.ATTRIBUTE, (Caller) () -> isWaiting(connection));
    getNext().invoke(request, response);
  }

  private static boolean isWaiting(org.apache.coyote.Request connection) {
    // True: reads, and counts the end of the stream as one available byte.
    connection.action(ActionCode.AVAILABLE, true);
    return connection.getAvailable() == 0;
  }
}
