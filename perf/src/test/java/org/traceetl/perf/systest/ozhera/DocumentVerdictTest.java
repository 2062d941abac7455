package org.traceetl.perf.systest.ozhera;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class DocumentVerdictTest {
  private final Map<String, ExpectedDocument> expected =
      Map.of("01", document("01", "/orders"), "02", document("02", "/items"));
  private final Map<String, List<DocumentVerdict.Found>> found = new HashMap<>();

  DocumentVerdictTest() {
    expected.forEach((id, document) -> found.put(id, List.of(indexed(document))));
  }

  private static ExpectedDocument document(String trace, String url) {
    return ExpectedDocument.of(Map.of("traceId", trace, "url", url, "dataSource", ""));
  }

  private static DocumentVerdict.Found indexed(ExpectedDocument document) {
    return new DocumentVerdict.Found("errors-2026.11.22", document);
  }

  @Test
  void expectedDocumentsAreEqual() {
    assertThat(DocumentVerdict.of(expected, found).isEqual()).isTrue();
  }

  @Test
  void eachKindOfDifferenceIsReported() {
    found.remove("01");
    found.put("02", List.of(indexed(document("02", "/items/" + DatabaseSecret.PASSWORD))));
    found.put("03", List.of(indexed(document("03", "/more"))));
    DocumentVerdict verdict = DocumentVerdict.of(expected, found);
    assertThat(verdict.missing()).isEqualTo(1);
    assertThat(verdict.wrong()).isEqualTo(2);
    assertThat(verdict.secrets()).isEqualTo(1);
    assertThat(verdict.differences()).hasSize(4);
    assertThat(verdict.isEqual()).isFalse();
  }

  @Test
  void repeatedDocumentIsWrong() {
    DocumentVerdict.Found one = indexed(expected.get("01"));
    found.put("01", List.of(one, one));
    assertThat(DocumentVerdict.of(expected, found).wrong()).isEqualTo(1);
  }
}
