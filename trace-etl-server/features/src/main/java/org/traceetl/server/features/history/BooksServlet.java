package org.traceetl.server.features.history;

import java.util.Comparator;
import java.util.Set;
import org.traceetl.server.http.Parameters;
import org.traceetl.server.window.Books;
import tools.jackson.core.JsonGenerator;

/** {@code GET /api/books}: what became of the spans that were received in the last minutes. */
final class BooksServlet extends FleetServlet {
  static final String PATH = "/api/books";

  private static final long serialVersionUID = 1L;
  private static final Comparator<Books> ORDER =
      Comparator.comparingLong(Books::overflowed)
          .thenComparingLong(Books::received)
          .reversed()
          .thenComparing(Books::application);

  BooksServlet(History history) {
    super(history, Set.of("minutes", "search", "limit", "offset"));
  }

  @Override
  protected void answer(Parameters given, JsonGenerator out) {
    int minutes = given.number("minutes", History.MINUTES, DEFAULT_MINUTES);
    History.BooksOfFleet books = history().books(minutes);
    ListPage<Books> page =
        ListPage.of(
            given, books.applications(), ListPage.searched(given, Books::application), ORDER);
    begin(out);
    out.writeNumberProperty("minutes", minutes);
    begin(out, page);
    out.writeObjectPropertyStart("fleet");
    put(out, books.fleet());
    out.writeEndObject();
    out.writeArrayPropertyStart("applications");
    for (Books application : page.items()) {
      out.writeStartObject();
      out.writeStringProperty("application", application.application());
      put(out, application);
      out.writeEndObject();
    }
    out.writeEndArray();
    out.writeEndObject();
  }

  private static void put(JsonGenerator out, Books books) {
    out.writeNumberProperty("received", books.received());
    out.writeNumberProperty("recorded", books.recorded());
    out.writeNumberProperty("overflowed", books.overflowed());
    out.writeNumberProperty("filtered", books.filtered());
    out.writeNumberProperty("duplicate", books.duplicate());
    out.writeObjectPropertyStart("rejected");
    books.rejected().forEach(out::writeNumberProperty);
    out.writeEndObject();
    out.writeNumberProperty("heldBack", books.heldBack());
  }
}
