package org.traceetl.server.rocketmq;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AnnouncementTest {
  /** Clients append a suffix: a consumer that pulls appends {@code @STREAM}. */
  @Property
  void whatIsAnnouncedIsRead(
      @ForAll("endpoints") Endpoint endpoint, @ForAll("added") String added) {
    String name = "10.0.0.1@" + Announcement.instance("7-123-0", endpoint) + added;

    assertThat(Announcement.announces(name)).isTrue();
    assertThat(Announcement.read(name)).contains(endpoint);
  }

  @Provide
  Arbitrary<String> added() {
    return Arbitraries.of("", "@STREAM", "@unit", "@unit@STREAM");
  }

  @Provide
  Arbitrary<Endpoint> endpoints() {
    return Combinators.combine(
            Arbitraries.of(true, false),
            Arbitraries.of("10.0.0.1", "::1", "2001:db8::1", "etl-1", "etl_2.shop.svc"),
            Arbitraries.integers().between(1, 65_535))
        .as(Endpoint::new);
  }

  /** For any announcement, the list contains only a host and a port. */
  @Property
  void anyTextIsAnEndpointOrNone(@ForAll("texts") String text) {
    Optional<Endpoint> read = Endpoint.parse(text);

    read.ifPresent(endpoint -> {
      assertThat(endpoint.target()).matches("[\\w.-]+:\\d+|\\[[0-9a-fA-F:.]+]:\\d+");
      assertThat(Endpoint.parse(endpoint.toString())).contains(endpoint);
    });
  }

  @Provide
  Arbitrary<String> texts() {
    return Arbitraries.oneOf(
        Arbitraries.strings(),
        Arbitraries.strings()
            .withChars("htps:/[]%.-_@ 019af\n")
            .ofMaxLength(40)
            .map(text -> "http://" + text),
        Combinators.combine(
                Arbitraries.strings().ofMaxLength(20), Arbitraries.integers().between(-1, 70_000))
            .as((host, port) -> "https://" + host + ":" + port));
  }

  /** Servers read the announcements of earlier releases. */
  @Test
  void anAnnouncementIsThisText() {
    Endpoint endpoint = new Endpoint(true, "2001:db8::1", 8080);

    assertThat(Announcement.instance("7-123-0", endpoint))
        .isEqualTo("7-123-0=https://[2001:db8::1]:8080");
    assertThat(Announcement.read("10.0.0.1@7-123-0=https://[2001:db8::1]:8080@STREAM"))
        .contains(endpoint);
  }

  @Test
  void withoutAnEndpointNothingIsAnnounced() {
    assertThat(Announcement.instance("7-123-0", null)).isEqualTo("7-123-0");
    assertThat(Announcement.announces("10.0.0.1@7-123-0")).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "none",
      value = {
        // configured, bound to, name servers, announced
        "etl-1.example.com:80, 0.0.0.0, 127.0.0.1:9876, http://etl-1.example.com:80",
        "etl-1, 10.0.0.1, 127.0.0.1:9876, http://etl-1:8080",
        "[2001:db8::1], 0.0.0.0, 127.0.0.1:9876, http://[2001:db8::1]:8080",
        "none, 10.0.0.1, 127.0.0.1:9876, http://10.0.0.1:8080",
        "none, 0.0.0.0, 127.0.0.1:9876, http://127.0.0.1:8080",
        "none, 0.0.0.0, 'no such name:1; 127.0.0.1', http://127.0.0.1:8080",
      })
  void defaultIsTheAddressTowardsTheNameServer(
      String given, String bound, String nameServers, String announced)
      throws UnknownHostException {
    assertThat(
            Announcement.own(
                given,
                new InetSocketAddress(InetAddress.getByName(bound), 8080),
                false,
                nameServers))
        .hasToString(announced);
  }
}
