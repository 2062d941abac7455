package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NameTemplateTest {
  private final NameTemplate template = new NameTemplate();

  private String of(String name) {
    byte[] bytes = ("_" + name + "_").getBytes(UTF_8);
    int length = template.write(bytes, 1, bytes.length - 2);
    return length == NameTemplate.UNCHANGED
        ? name
        : new String(template.buffer(), 0, length, UTF_8);
  }

  private static byte[] of(byte[] name) {
    NameTemplate template = new NameTemplate();
    int length = template.write(name, 0, name.length);
    return length == NameTemplate.UNCHANGED ? name : Arrays.copyOf(template.buffer(), length);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/users/42                                              | /users/{id}",
        "GET /users/42/orders/7                                 | GET /users/{id}/orders/{id}",
        "GET /orders/550e8400-e29b-41d4-a716-446655440000       | GET /orders/{id}",
        "Workflow-550E8400-E29B-41D4-A716-446655440000          | Workflow-{id}",
        "GET /objects/5f3e9c2a7b                                | GET /objects/{id}",
        "/blob/da39a3ee5e6b4b0d3255bfef95601890afd80709/raw     | /blob/{id}/raw",
        "POST /invite/jane.doe+x@mail.example.com               | POST /invite/{email}",
        "report 2026-01-31                                      | report {date}",
        "report 2026-01-31T10:15:00.5Z done                     | report {date} done",
        "report 2026-01-31T10:15+02:00/x                        | report {date}/x",
        "order12345 placed                                      | order{id} placed",
        "ABC-1234                                               | ABC-{id}",
        "connect 10.1.20.3:6379                                 | connect {id}:{id}",
        "call 0x7ffe12ab                                        | call {id}",
        "/s/01ARZ3NDEKTSV4RRFFQ69G5FAV                          | /s/{id}",
        "token eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9             | token {id}",
        "SELECT * FROM t WHERE id = 42                          | SELECT * FROM t WHERE id = {id}",
        "file.12345.log                                         | file.{id}.log",
        "at 1700000000.123                                      | at {id}",
        "/用户/42                                                | /用户/{id}",
        "pod checkout-7d9f8b6c5d                                | pod checkout-{id}",
        "?page=3&size=50                                        | ?page={id}&size={id}",
        "GET http/42                                            | GET http/{id}",
        "GET /xhttp/7                                           | GET /xhttp/{id}",
        "GET /graphttp/12345                                    | GET /graphttp/{id}",
      })
  void identifiersAreReplaced(String name, String expected) {
    assertThat(of(name)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "GET",
        "GET /api/v1/users",
        "Redis.HGET",
        "SELECT orders",
        "sha256",
        "SHA-1 utf-8 utf8 us-east-1",
        "Sha256WithRsa2048Encryption",
        "log4j",
        "java.util.List",
        "HTTP/1.1",
        "HTTP/2",
        "TLSv1.2",
        "python 3.11.4",
        "deadbeef facade",
        "getCustomerAddressLine2ByZip5Code",
        "/users/{id}",
        "/users/:id",
        "a@b",
        "x509 rfc3339 iso8601",
        "é1",
        "%20a",
      })
  void otherNamesStay(String name) {
    byte[] bytes = name.getBytes(UTF_8);
    assertThat(template.write(bytes, 0, bytes.length)).isEqualTo(NameTemplate.UNCHANGED);
  }

  /** Pieces of which nearly every rule is made, in any order. */
  @Provide
  Arbitrary<String> names() {
    return Arbitraries.of(
            "a",
            "bob",
            "z",
            "0",
            "1",
            "7",
            "42",
            "123",
            "2026",
            "12345",
            "0x",
            "abcdef01",
            "deadbeef",
            "aaaaaaaa",
            "-aaaa-aaaa-aaaa-",
            "aaaaaaaaaaaa",
            "x.com",
            ".",
            "-",
            "_",
            "/",
            "@",
            "%",
            "{",
            "}",
            ":",
            " ",
            "http/",
            "HTTP/",
            "2026-01-31",
            "T10:00",
            "Z",
            "+02:00",
            ".5",
            "{id}",
            "é",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "550e8400-e29b-41d4-a716-446655440000")
        .list()
        .ofMaxSize(12)
        .map(pieces -> String.join("", pieces));
  }

  @Property(tries = 20_000)
  void aTemplateIsItsOwnTemplate(@ForAll("names") String name) {
    String once = of(name);
    assertThat(of(once)).isEqualTo(once);
  }

  @Property
  void anyBytesHaveATemplateThatIsItsOwn(@ForAll byte[] bytes) {
    byte[] once = of(bytes);
    assertThat(of(once)).isEqualTo(once);
    assertThat(once.length).isLessThanOrEqualTo(bytes.length / 2 * 5 + 4);
  }

  @Property
  void segmentsAreReplacedEachByItself(
      @ForAll("names") String first, @ForAll("names") String second) {
    String before = "/" + first + "x";
    assertThat(of(before + "/" + second)).isEqualTo(of(before) + "/" + of(second));
  }

  @Property
  void whatIsNotReplacedStaysInItsOrder(@ForAll("names") String name) {
    String left = of(name).replaceAll("\\{(id|email|date)}", "");
    int at = 0;
    for (char c : left.toCharArray()) {
      at = name.indexOf(c, at) + 1;
      assertThat(at).isPositive();
    }
  }

  @Property
  void anEarlierNameDoesNotShow(@ForAll("names") String earlier, @ForAll("names") String name) {
    String alone = new NameTemplateTest().of(name);
    of(earlier);
    assertThat(of(name)).isEqualTo(alone);
  }

  @Test
  void allocatesNothingOnceTheBufferHasGrown() {
    byte[][] names =
        Arrays.stream(
                new String[] {
                  "GET /users/42", "GET /api/v1/users", "to a@b.cc", "2026-01-31T10:00Z", "x"
                })
            .map(name -> name.getBytes(ISO_8859_1))
            .toArray(byte[][]::new);
    Runnable round =
        () -> {
          for (byte[] name : names) {
            template.write(name, 0, name.length);
          }
        };
    for (int i = 0; i < 1_000; i++) {
      round.run();
    }

    assertThat(AllocatedBytes.by(round)).isEqualTo(AllocatedBytes.by(() -> {}));
  }
}
