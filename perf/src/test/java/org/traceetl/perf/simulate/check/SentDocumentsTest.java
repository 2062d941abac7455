package org.traceetl.perf.simulate.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class SentDocumentsTest {
  private static final Document SLOW = new Document("cart", "GET /", 2, 0, 7, 1_000, "slow");
  private static final Document FAILED = new Document("cart", "GET /", 2, 2, 7, 1_000, "error");

  private final SentDocuments documents = new SentDocuments();
  private final List<String> differences = new ArrayList<>();

  @Test
  void documentsAreInTheIndexAsTheyWereSent() {
    documents.add("a", SLOW, true);
    documents.add("b", FAILED, true);

    compare(Map.of("a", SLOW, "b", FAILED));

    assertThat(differences).isEmpty();
  }

  @Test
  void missingChangedAndForeignDocumentsAreFound() {
    documents.add("a", SLOW, true);
    documents.add("b", FAILED, true);

    compare(Map.of("b", SLOW, "c", SLOW));

    assertThat(differences)
        .containsExactly(
            "document a is missing in the index",
            "document b is in the index as " + SLOW + " instead of " + FAILED,
            "document c is in the index, and no sender sent it");
  }

  @Test
  void aSpanWhoseSenderGaveUpMayBeMissing() {
    documents.add("a", SLOW, false);

    compare(Map.of());
    compare(Map.of("a", SLOW));

    assertThat(differences).isEmpty();
  }

  @Test
  void aSpanThatCountsAndMayCountAgainIsInTheIndex() {
    documents.add("a", SLOW, true);
    documents.add("a", SLOW, false);

    compare(Map.of());

    assertThat(differences).containsExactly("document a is missing in the index");
  }

  @Test
  void forgottenDocumentsAreForeign() {
    documents.add("a", SLOW, true);
    documents.forget();

    compare(Map.of("a", SLOW));

    assertThat(differences).containsExactly("document a is in the index, and no sender sent it");
  }

  @Test
  void anExemplarWithOtherContentThanItsSpanIsFound() {
    String id = "00000000000000010000000000000002-" + hex(Document.spanId(2, "a", "b", 1, 0, 3, 4));
    SentDocuments.checkExemplars(
        Map.of(id, new Document("a", "b", 1, 0, 3, 4, "exemplar")), differences::add);
    assertThat(differences).isEmpty();

    SentDocuments.checkExemplars(
        Map.of(id, new Document("a", "b", 1, 0, 3, 5, "exemplar")), differences::add);

    assertThat(differences).singleElement().asString().contains("no sender sent");
  }

  @Test
  void onlyFaultsAreAReasonToWriteADocumentAgain() {
    SentDocuments.checkRepeats(0, true, differences::add);
    SentDocuments.checkRepeats(1, false, differences::add);
    assertThat(differences).isEmpty();

    SentDocuments.checkRepeats(1, true, differences::add);

    assertThat(differences).containsExactly("1 documents were written again without a fault");
  }

  private void compare(Map<String, Document> stored) {
    documents.compare(new TreeMap<>(stored), differences::add);
  }

  private static String hex(long id) {
    return HexFormat.of().toHexDigits(id);
  }
}
