package org.traceetl.server.compare;

import com.google.common.html.HtmlEscapers;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;

/** The report as a page without scripts. All texts are escaped, because labels come from others. */
final class HtmlReport {
  private static final int CHARTS = 20;
  private static final int WIDTH = 900;
  private static final int HEIGHT = 120;

  private static final String HEAD =
      """
      <!DOCTYPE html>
      <html lang="en">
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
      <title>trace-etl compare</title>
      <style>
      body { font: 14px/1.5 system-ui, sans-serif; margin: 2em; max-width: 75em }
      table { border-collapse: collapse; margin: 1em 0 }
      th, td { padding: .2em .8em .2em 0; text-align: left; vertical-align: top; border-bottom: 1px solid #ddd }
      td.n { text-align: right; font-variant-numeric: tabular-nums }
      td.s, h3 { font: 12px/1.5 ui-monospace, monospace; overflow-wrap: anywhere }
      svg { width: 100%; height: 9em; background: #f7f7f7 }
      .line { fill: none; stroke: #1f5fa8; stroke-width: 1.5; vector-effect: non-scaling-stroke }
      .zero { stroke: #999; vector-effect: non-scaling-stroke }
      .step { fill: #c62828; opacity: .5 }
      .reset { stroke: #e08600; stroke-dasharray: 4 3; vector-effect: non-scaling-stroke }
      </style>
      """;

  private final Comparison comparison;
  private final Panes panes;
  private final int top;
  private final StringBuilder page = new StringBuilder(HEAD);

  HtmlReport(Comparison comparison, int top) {
    this.comparison = comparison;
    this.top = top;
    panes = comparison.panes();
  }

  String page() {
    element("h1", TextReport.verdict(comparison));
    page.append("<ul>\n");
    TextReport.facts(comparison).forEach(fact -> element("li", fact));
    comparison.notes().forEach(note -> element("li", note));
    page.append("</ul>\n");
    reasons();
    element("h2", "By how much the right side is ahead");
    element(
        "p",
        "Line: spans counted on the right less those on the left, since the start of the range. It"
            + " returns to its level if a side is late. Red: panes with a certain loss. Dashed:"
            + " restarts.");
    chart("all series", comparison.total());
    List<Pair> differing = comparison.differing();
    differing.stream()
        .limit(CHARTS)
        .forEach(
            pair -> chart(SeriesText.reason(pair) + " " + SeriesText.labels(pair.labels()), pair));
    if (!differing.isEmpty()) {
      pairs(differing);
    }
    return page.append("</html>\n").toString();
  }

  private void reasons() {
    page.append("<table><tr><th>reason<th>pairs<th>meaning\n");
    comparison
        .reasons()
        .forEach((reason, count) ->
            page.append("<tr><td>")
                .append(reason)
                .append("<td class=\"n\">")
                .append(count)
                .append("<td>")
                .append(reason.meaning())
                .append('\n'));
    page.append("</table>\n");
  }

  private void pairs(List<Pair> differing) {
    element("h2", "Series that differ");
    page.append(
        "<table><tr><th>right - left<th>left<th>right<th>most lost by<th>reason<th>series\n");
    for (Pair pair : differing.subList(0, Math.min(top, differing.size()))) {
      page.append("<tr>");
      element("td class=\"n\"", SeriesText.signed(pair.difference()));
      element("td class=\"n\"", SeriesText.count(pair.leftTotal()));
      element("td class=\"n\"", SeriesText.count(pair.rightTotal()));
      element("td", SeriesText.when(pair, panes));
      element("td", SeriesText.reason(pair));
      element("td class=\"s\"", SeriesText.labels(pair.labels()));
    }
    page.append("</table>\n");
    if (differing.size() > top) {
      element("p", (differing.size() - top) + " more pairs differ; --top shows more");
    }
  }

  private void chart(String title, Pair pair) {
    double[] all = pair.settled().ahead();
    double[] ahead = Arrays.copyOfRange(all, panes.settle(), panes.settle() + panes.count() + 1);
    double least = 0;
    double most = 0;
    for (double value : ahead) {
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    double height = most > least ? most - least : 1;
    element("h3", title);
    element(
        "p",
        "from %s to %s, at the end %s"
            .formatted(
                SeriesText.signed(least),
                SeriesText.signed(most),
                SeriesText.signed(ahead[ahead.length - 1])));
    page.append(
        "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\">\n"
            .formatted(WIDTH, HEIGHT));
    double[] steps = pair.steps();
    BitSet restarts = pair.restarts();
    for (int i = 0; i < steps.length; i++) {
      if (steps[i] != 0) {
        page.append(
            String.format(
                Locale.ROOT,
                "<rect class=\"step\" x=\"%.1f\" width=\"%.1f\" y=\"0\" height=\"%d\"><title>%s"
                    + " %s</title></rect>\n",
                x(i),
                Math.max(1, x(1)),
                HEIGHT,
                panes.endOf(panes.settle() + i),
                SeriesText.signed(steps[i])));
      }
      if (restarts.get(panes.settle() + i)) {
        vertical("reset", x(i));
      }
    }
    String zero = String.format(Locale.ROOT, "%.1f", HEIGHT * most / height);
    page.append(
        "<line class=\"zero\" x1=\"0\" x2=\"%d\" y1=\"%s\" y2=\"%s\"/>\n<polyline class=\"line\" points=\""
            .formatted(WIDTH, zero, zero));
    for (int i = 0; i < ahead.length; i++) {
      page.append(
          String.format(Locale.ROOT, "%.1f,%.1f ", x(i), HEIGHT * (most - ahead[i]) / height));
    }
    page.append("\"/>\n</svg>\n");
  }

  private void vertical(String kind, double x) {
    page.append(
        String.format(
            Locale.ROOT,
            "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\"/>\n",
            kind,
            x,
            x,
            HEIGHT));
  }

  private double x(int pane) {
    return (double) WIDTH * pane / panes.count();
  }

  private void element(String tag, String text) {
    page.append('<').append(tag).append('>');
    page.append(HtmlEscapers.htmlEscaper().escape(SeriesText.printable(text)));
    page.append("</").append(tag, 0, (tag + " ").indexOf(' ')).append(">\n");
  }
}
