package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class BatchAgesTest {
  private final BatchAges ages = new BatchAges();
  private long sum;

  private static String text(long... millis) {
    return BatchAges.text(millis, millis.length);
  }

  private void assertAges(String text, int... millis) {
    assertThat(ages.read(text)).isTrue();
    for (int part = 0; part < millis.length; part++) {
      assertThat(ages.of(part)).as("part %d of %s", part, text).isEqualTo(millis[part]);
    }
  }

  @Test
  void agesAreWrittenAsDifferences() {
    assertThat(text(1_520)).isEqualTo("1520");
    assertThat(text(1_520, 1_500, 1_500)).isEqualTo("1520,-20");
    assertThat(text(0, 0, 7, 7, 9, 9, 9)).isEqualTo("0,0,7,0,2");
    assertThat(BatchAges.text(new long[] {5, 6, 7}, 2)).isEqualTo("5,1");
  }

  @Test
  void agesOutOfRangeBecomeTheNearestInRange() {
    assertThat(text(-1, Long.MIN_VALUE)).isEqualTo("0");
    assertThat(text(604_800_001, Long.MAX_VALUE)).isEqualTo("604800000");
  }

  @Test
  void textsAreRead() {
    assertAges("0", 0, 0);
    assertAges("1520", 1_520, 1_520);
    assertAges("1520,-20", 1_520, 1_500, 1_500);
    assertAges("0,0,7,0,2", 0, 0, 7, 7, 9, 9);
    assertAges("604800000,-604800000,604800000", 604_800_000, 0, 604_800_000);
    assertAges("7,-0,0001", 7, 7, 8);
  }

  @Test
  void ageOfMissingBatchesIsWrittenAfterASemicolon() {
    assertThat(BatchAges.text(new long[] {1_520, 1_500}, 2, 4_200)).isEqualTo("1520,-20;4200");
    assertThat(BatchAges.text(new long[] {1_520, 1_500}, 2, 0)).isEqualTo("1520,-20;");
    assertThat(BatchAges.text(new long[] {7}, 1, -1)).isEqualTo("7");
    assertThat(BatchAges.text(new long[] {7}, 1, Long.MIN_VALUE)).isEqualTo("7;");
    assertThat(BatchAges.text(new long[] {7}, 1, Long.MAX_VALUE)).isEqualTo("7;604800000");
    assertThat(BatchAges.text(new long[0], 0, 4_200)).isEqualTo(";4200");
    assertThat(BatchAges.text(new long[0], 0, 0)).isEqualTo(";");
  }

  @Test
  void ageOfMissingBatchesIsRead() {
    assertUnconfirmed("1520", -1);
    assertUnconfirmed("1520;", 0);
    assertUnconfirmed("1520,-20;4200", 4_200);
    assertUnconfirmed("7;0000", 0);
    assertUnconfirmed(";", 0);
    assertUnconfirmed(";4200", 4_200);
    assertUnconfirmed(null, -1);
    assertAges("1520,-20;4200", 1_520, 1_500);
    assertAges(";4200", 0, 0);
  }

  private void assertUnconfirmed(String text, int millis) {
    assertThat(ages.read(text)).isTrue();
    assertThat(ages.unconfirmedMillis()).as(text).isEqualTo(millis);
  }

  @Test
  void olderMissingBatchesHaveTheMaximumAge() {
    assertUnconfirmed("7;604800000", BatchAges.MAX_MILLIS);
    assertUnconfirmed("7;604800001", BatchAges.MAX_MILLIS);
    assertUnconfirmed("7;999999999", BatchAges.MAX_MILLIS);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1,",
        "1,2",
        ",",
        "x",
        "1x",
        "1.5",
        "0x1",
        "٣",
        "1\n",
        "1000000000"
      })
  void malformedAgeOfMissingBatchesIsUnknown(String part) {
    assertAges("1520,-20;" + part, 1_520, 1_500);
    assertThat(ages.unconfirmedMillis()).isEqualTo(BatchAges.UNKNOWN);
    assertUnconfirmed(";" + part, BatchAges.UNKNOWN);
    assertUnconfirmed("7;" + part + ";4200", BatchAges.UNKNOWN);
  }

  @Test
  void malformedAgesMakeTheAgeOfMissingBatchesUnknown() {
    assertUnconfirmed("7;4200", 4_200);

    assertThat(ages.read("7,x;4200")).isFalse();

    assertThat(ages.unconfirmedMillis()).isEqualTo(BatchAges.UNKNOWN);
  }

  @Test
  void whatFollowsASecondSemicolonIsIgnored() {
    assertUnconfirmed("1520;;x", 0);
    assertUnconfirmed("1520;4200;x", 4_200);
    assertUnconfirmed(";4200;" + "9".repeat(1 << 20), 4_200);
    assertAges("1520,-20;90000;x", 1_520, 1_500);
    assertAges("3;" + "9".repeat(1 << 20), 3);
  }

  @Test
  void messagesWithoutAgesAreNew() {
    assertAges("5;4200", 5);
    assertAges(null, 0, 0);
    assertThat(ages.unconfirmedMillis()).isEqualTo(BatchAges.UNKNOWN);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1,",
        ",1",
        "1,,2",
        "1,-",
        "1,--2",
        "1,+2",
        "1,2,",
        "1.5",
        "x",
        "0x1",
        "٣",
        "1,٣",
        "1\n",
        "1000000000",
        "0000000001",
        "1,1000000000",
        "604800001",
        "604800000,1",
        "5,-6",
        "1,2,-4",
        "999999999",
        "1,999999999",
        "1,-999999999",
        ",;5",
        "-;5"
      })
  void malformedTextsAreVoid(String text) {
    assertAges("5,6", 5, 11);

    assertThat(ages.read(text)).isFalse();

    assertThat(ages.of(0)).isZero();
    assertThat(ages.of(1)).isZero();
  }

  @ParameterizedTest
  @CsvSource({"1500, true", "1501, false", "500000, false"})
  void longTextsAreVoid(int numbers, boolean valid) {
    // The last number has no comma.
    String text = "0,".repeat(numbers - 1) + "1";

    assertThat(ages.read(text)).isEqualTo(valid);

    assertThat(ages.of(numbers - 1)).isEqualTo(valid ? 1 : 0);
  }

  @Property(tries = 1_000)
  void anyAgesAreReadBack(@ForAll long seed) {
    Random random = new Random(seed);
    long[] millis = new long[1 + random.nextInt(BundleReader.MAX_PARTS)];
    int most = random.nextBoolean() ? 3 : BatchAges.MAX_MILLIS + 1;
    for (int part = 0; part < millis.length; part++) {
      millis[part] = random.nextInt(most);
    }
    int unconfirmed = random.nextInt(-1, most);

    assertThat(ages.read(BatchAges.text(millis, millis.length, unconfirmed))).isTrue();

    assertThat(ages.unconfirmedMillis()).isEqualTo(unconfirmed);

    for (int part = 0; part < millis.length; part++) {
      assertThat(ages.of(part)).isEqualTo((int) millis[part]);
    }
    assertThat(ages.of(millis.length + random.nextInt(1_000)))
        .isEqualTo((int) millis[millis.length - 1]);
  }

  @Test
  void theLongestTextIsRead() {
    long[] millis = new long[BundleReader.MAX_PARTS];
    for (int part = 0; part < millis.length; part += 2) {
      millis[part] = BatchAges.MAX_MILLIS;
    }
    String longest = text(millis);
    assertThat(longest).hasSizeGreaterThan(2_600);

    assertAges(longest, BatchAges.MAX_MILLIS, 0, BatchAges.MAX_MILLIS, 0);
  }

  @Property(tries = 2_000)
  void anyTextIsReadInRangeOrVoid(@ForAll long seed) {
    Random random = new Random(seed);
    String letters = "0123456789,-;9x";
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(20); i > 0; i--) {
      text.append(letters.charAt(random.nextInt(letters.length())));
    }

    boolean valid = ages.read(text.toString());

    for (int part = 0; part < 20; part++) {
      assertThat(ages.of(part)).isBetween(0, valid ? BatchAges.MAX_MILLIS : 0);
    }
    assertThat(ages.unconfirmedMillis()).isBetween(-1, valid ? BatchAges.MAX_MILLIS : -1);
  }

  @Test
  void readingAllocatesNothing() {
    String text = "1520" + ",-1,2".repeat(100) + ";4200";
    Runnable work =
        () -> {
          for (int i = 0; i < 2_000; i++) {
            sum += ages.read(text) ? ages.of(i) + ages.unconfirmedMillis() : 0;
            sum += ages.read("1,x") ? 1 : ages.of(i);
          }
        };
    work.run();

    assertThat(AllocatedBytes.by(work)).isZero();
    assertThat(sum).isPositive();
  }
}
