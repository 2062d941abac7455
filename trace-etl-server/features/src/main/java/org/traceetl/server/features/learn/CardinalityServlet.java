package org.traceetl.server.features.learn;

import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.NameRule;
import org.traceetl.server.consume.CardinalityReports;
import org.traceetl.server.http.JsonServlet;
import org.traceetl.server.http.Parameters;
import org.traceetl.server.series.Cardinality;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code GET /api/cardinality}: the applications on this server's queues that are near or at a
 * limit of series, with the dimension that makes them many; those with most spans without room
 * first. Then, whichever server is asked, the rules by which span names are joined.
 */
public final class CardinalityServlet extends JsonServlet {
  public static final String PATH = "/api/cardinality";

  private static final long serialVersionUID = 1L;
  private static final int DEFAULT_LIMIT = 100;
  private static final int MAX_LIMIT = 1_000;

  private final transient CardinalityReports reports;
  private final transient Supplier<LearntNames> learnt;

  public CardinalityServlet(CardinalityReports reports, Supplier<LearntNames> learnt) {
    super(Set.of("limit"));
    this.reports = reports;
    this.learnt = learnt;
  }

  @Override
  protected void answer(Parameters given, JsonGenerator out) {
    int limit = given.number("limit", MAX_LIMIT, DEFAULT_LIMIT);
    ObjectNode root = JSON.createObjectNode();
    ArrayNode applications = root.putArray("applications");
    reports.all().stream().limit(limit).forEach(report -> put(applications.addObject(), report));
    put(root.putObject("learntNames"), learnt.get(), limit);
    out.writeTree(root);
  }

  private static void put(ObjectNode node, CardinalityReports.Report report) {
    Cardinality cardinality = report.cardinality();
    Cardinality.Dimension culprit = cardinality.culprit();
    node.put("application", cardinality.application())
        .put("queue", report.queue().toString())
        .put("series", cardinality.series())
        .put("limit", cardinality.limit())
        .put("max", cardinality.max())
        .put("overflowedSpans", report.overflowed())
        .put("overflowedInLastWindow", cardinality.overflowed())
        .put("overflowedEventsInLastWindow", cardinality.overflowedEvents())
        .put("culprit", culprit.name());
    ObjectNode values = node.putObject("values");
    cardinality.dimensions().forEach(d -> values.put(d.name(), d.values()));
    ArrayNode examples = node.putArray("examples");
    culprit.examples().forEach(examples::add);
    node.put("at", time(cardinality.atMillis()));
  }

  private static void put(ObjectNode node, LearntNames learnt, int limit) {
    node.put("epoch", learnt.epoch());
    ArrayNode rules = node.putArray("rules");
    new TreeMap<>(learnt.applications())
        .forEach((application, its) -> {
          for (NameRule rule : its.rules()) {
            if (rules.size() < limit) {
              rules
                  .addObject()
                  .put("application", application)
                  .put("rule", rule.text())
                  .put("tokensBehind", rule.behind())
                  .put("values", rule.values())
                  .put("since", time(rule.sinceMillis()));
            }
          }
        });
  }
}
