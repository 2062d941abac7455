package org.traceetl.server.rocketmq;

import com.google.common.net.HostAndPort;
import com.google.common.net.InetAddresses;
import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The endpoint where a server is scraped, announced as text such as {@code http://10.0.0.1:8080}.
 *
 * @param tls whether its port uses TLS
 * @param host name or address, an IPv6 address without brackets
 * @param port 1 to 65535
 */
public record Endpoint(boolean tls, String host, int port) implements Comparable<Endpoint> {
  private static final int MAX_TEXT = 300;
  private static final int MAX_HOST = 253;
  private static final Pattern NAME = Pattern.compile("\\w(?:[\\w.-]*\\w)?");
  private static final Pattern TEXT = Pattern.compile("(http|https)://([^/@\\s]+)");

  private static final Comparator<Endpoint> ORDER =
      Comparator.comparing(Endpoint::host)
          .thenComparingInt(Endpoint::port)
          .thenComparing(Endpoint::tls);

  /** Returns the endpoint in an arbitrary text, if it is valid. */
  static Optional<Endpoint> parse(String text) {
    if (text.length() > MAX_TEXT) {
      return Optional.empty();
    }
    Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    try {
      HostAndPort address = HostAndPort.fromString(matcher.group(2));
      Endpoint read =
          new Endpoint(
              matcher.group(1).equals("https"), address.getHost(), address.getPortOrDefault(0));
      return read.port > 0 && isHost(read.host) ? Optional.of(read) : Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** Returns whether the text is a host name or address; IPv6 zones are invalid on other hosts. */
  public static boolean isHost(String text) {
    return text.length() <= MAX_HOST
        && (NAME.matcher(text).matches()
            || text.indexOf('%') < 0 && InetAddresses.isInetAddress(text));
  }

  /** Returns {@code host:port}, as in a scrape target. */
  public String target() {
    return HostAndPort.fromParts(host, port).toString();
  }

  public String scheme() {
    return tls ? "https" : "http";
  }

  @Override
  public int compareTo(Endpoint other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return scheme() + "://" + target();
  }
}
