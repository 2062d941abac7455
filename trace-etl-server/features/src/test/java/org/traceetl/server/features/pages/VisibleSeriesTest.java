package org.traceetl.server.features.pages;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.server.http.Access;

/** Which lines of a page are visible. */
class VisibleSeriesTest {
  private static String visible(boolean ofEdges, String page, String... patterns) {
    byte[] bytes = page.getBytes(UTF_8);
    var whole = new ByteArrayOutputStream();
    new VisibleSeries(Access.to(List.of(patterns)), ofEdges, whole, 10_000)
        .write(bytes, 0, bytes.length);
    for (int piece = 1; piece < 4; piece++) {
      var pieces = new ByteArrayOutputStream();
      var out = new VisibleSeries(Access.to(List.of(patterns)), ofEdges, pieces, 10_000);
      for (int at = 0; at < bytes.length; at += piece) {
        out.write(bytes, at, Math.min(piece, bytes.length - at));
      }
      assertThat(pieces.toString(UTF_8)).isEqualTo(whole.toString(UTF_8));
    }
    return whole.toString(UTF_8);
  }

  @Test
  void samplesOfVisibleApplicationsStayUnderTheirHeaders() {
    assertThat(
            visible(
                false,
                """
                # HELP a_total A.
                # TYPE a_total counter
                a_total{service_name="shop-1",span_name="service_name=\\"bank\\""} 1
                a_total{service_name="bank",span_name="service_name=\\"shop-1\\""} 2
                a_total{service_name="shop-2"} 3
                # HELP empty_of_bank_total E.
                # TYPE empty_of_bank_total counter
                # HELP of_bank_total B.
                # TYPE of_bank_total counter
                of_bank_total{service_name="bank"} 4
                # HELP later_of_bank_total D.
                # TYPE later_of_bank_total counter
                # HELP c_total C.
                c_total{service_name="shop-1"} 5 # {trace_id="00"} 1 1
                {"d.total",service_name="shop-1"} 6
                {"d.total",service_name="bank"} 7
                up 8
                up{} 9
                {"up"} 10
                """,
                "shop-*"))
        .isEqualTo(
            """
            # HELP a_total A.
            # TYPE a_total counter
            a_total{service_name="shop-1",span_name="service_name=\\"bank\\""} 1
            a_total{service_name="shop-2"} 3
            # HELP c_total C.
            c_total{service_name="shop-1"} 5 # {trace_id="00"} 1 1
            {"d.total",service_name="shop-1"} 6
            """);
  }

  @Test
  void namesAreComparedAsTheyAre() {
    String page = "a{service_name=\"a\\\\b\\\"c\\nd\"} 1\n";

    assertThat(visible(false, page, "a\\b\"c\nd")).isEqualTo(page);
    assertThat(visible(false, page, "a\\\\b*")).isEmpty();
    assertThat(
            visible(
                false,
                "a{service_name=\"_other\"} 1\na{service_name=\"unknown_service\"} 1\n"
                    + "a{service_name=\"\"} 1\n",
                "*o*",
                "_*"))
        .isEmpty();
  }

  @Test
  void edgesNeedBothEndsUnlessOneSendsNoSpans() {
    String visible =
        """
        a{client="shop",server="shop"} 1
        a{client="user",server="shop",connection_type="virtual_node"} 1
        a{client="shop",server="bank",connection_type="virtual_node"} 1
        a{client="shop",server="db",connection_type="database",queue="q"} 1
        a{client="shop",queue="q"} 1
        a{server="shop"} 1
        """;
    String hidden =
        """
        a{client="shop",server="bank"} 1
        a{client="bank",server="shop"} 1
        a{client="shop",server="bank",connection_type="messaging_system"} 1
        a{client="user",server="shop"} 1
        a{client="user",server="bank",connection_type="virtual_node"} 1
        a{client="bank",server="shop",connection_type="database"} 1
        a{client="bank"} 1
        a{server="bank"} 1
        a{client="_other"} 1
        a{queue="shop"} 1
        """;

    assertThat(visible(true, hidden + visible, "shop")).isEqualTo(visible);

    // Requests from outside have the name of an application.
    assertThat(visible(true, hidden + visible, "u*")).isEmpty();
    assertThat(visible(true, "a{client=\"user\",overflow=\"true\"} 1\n", "user")).isEmpty();
  }

  @Test
  void tooManySeriesAreRefused() {
    byte[] page = "a{service_name=\"shop\"} 1\n".repeat(10).getBytes(UTF_8);
    var out = new VisibleSeries(Access.to(List.of("shop")), false, new ByteArrayOutputStream(), 99);

    assertThatThrownBy(() -> out.write(page, 0, page.length))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("exceed 99 bytes: scrape them in several shards");
  }
}
