package org.traceetl.server.features.learn;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.NameRule;
import org.traceetl.proto.NameRules;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

final class NameVarietyTest {
  private static final int MORE_THAN = 100;
  private static final int MAX_VALUE_BYTES = 500;

  private long nowMillis = 1_795_255_000_000L;
  private final NameVariety variety =
      new NameVariety(
          MORE_THAN,
          MAX_VALUE_BYTES,
          (application, name) -> application.equals("patterned") && name.endsWith("/*"),
          found -> found.prefix().equals("/kept/"),
          () -> Instant.ofEpochMilli(nowMillis));

  @Test
  void onePlaceWithMoreTokensThanThatIsFoundOnce() {
    make("shop", MORE_THAN, i -> "/users/" + word(i) + "/cart");
    make("shop", MORE_THAN, i -> "/users/" + word(i) + "/cart"); // another kind or status
    assertThat(variety.found()).isEmpty();

    make("shop", 2 * MORE_THAN, i -> "/users/" + word(i) + "/cart");
    assertThat(variety.found()).containsExactly(new Variety("shop", "/users/", 1, MORE_THAN + 1));
  }

  @Test
  void namesOfOneTokenAndFirstTokensAreNeverFound() {
    make("shop", 5_000, i -> "get" + word(i));
    make("shop", 5_000, i -> "/" + word(i));
    make("shop", 5_000, i -> word(i) + " publish");
    make("shop", 5_000, i -> "{id}/" + word(i));

    assertThat(variety.found()).isEmpty();
  }

  @Test
  void genuineResourcesStayApart() {
    for (String action : List.of("", "/list", "/find", "/{id}", "/{id}/history")) {
      make("shop", MORE_THAN, i -> "GET /api/" + word(i) + action);
      make("shop", MORE_THAN, i -> "POST /api/" + word(i) + action);
    }

    assertThat(variety.found()).isEmpty();
  }

  @Test
  void oneApplicationsTokensAreNotAnothersNorOnePlacesAnothers() {
    make("shop", MORE_THAN, i -> "/users/" + word(i));
    make("bank", MORE_THAN, i -> "/users/" + word(MORE_THAN + i));
    make("shop", MORE_THAN, i -> "/users/" + word(MORE_THAN + i) + "/cart");

    assertThat(variety.found()).isEmpty();
  }

  @Test
  void behindATokenThatVariesTheNextOneIsFound() {
    Variety users = new Variety("shop", "/users/", 2, MORE_THAN + 1);
    Variety orders = new Variety("shop", "/users/{*}/orders/", 0, MORE_THAN + 1);
    IntFunction<String> name = i -> "/users/" + word(i % 151) + "/orders/" + word(i % 149);
    make("shop", 20_000, name);
    assertThat(variety.found()).containsExactly(users, orders);

    learn(new NameRule("/users/", 2, MORE_THAN + 1, 1));
    make("shop", 20_000, name);
    assertThat(variety.found()).containsExactly(orders);
    learn(
        new NameRule("/users/", 2, MORE_THAN + 1, 1),
        new NameRule("/users/{*}/orders/", 0, MORE_THAN + 1, 1));
    make("shop", 20_000, name);
    assertThat(variety.found()).isEmpty();
  }

  @Test
  void seriesOfASnapshotCount() {
    QueueImage image = new QueueImage(1, 1, 1);
    image.apply(window("shop", MORE_THAN + 1, i -> "GET product-" + word(i)));
    variety.series(image);

    assertThat(variety.found()).containsExactly(new Variety("shop", "GET ", 0, MORE_THAN + 1));
  }

  @Test
  void overflowSeriesDoNotCount() {
    List<String> values = Arrays.asList("shop", null, null, null);
    variety.window(window(List.of(new SeriesDefinition(0, 1, true, values))));

    assertThat(variety.found()).isEmpty();
  }

  @Test
  void whatCameLongAgoDoesNotCount() {
    make("shop", MORE_THAN, i -> "/users/" + word(i));
    nowMillis += 3_600_001;
    make("shop", 1, i -> "/users/" + word(MORE_THAN));
    assertThat(variety.found()).isEmpty();

    make("shop", MORE_THAN, i -> "/users/" + word(i));
    assertThat(variety.found()).hasSize(1);
  }

  @Test
  void hostileNamesAreForgottenAndKeepNobodyFromBeingLearnt() {
    Random random = new Random(1);
    for (int application = 0; application < 20; application++) {
      make("hostile" + application, 5_000, i -> hostile(random));
    }
    long forgotten = variety.forgotten();
    assertThat(forgotten).isPositive();
    make("hostile0", 5_000, i -> i % 10 == 0 ? "/users/" + word(i / 10) : hostile(random));

    assertThat(variety.found()).contains(new Variety("hostile0", "/users/", 0, MORE_THAN + 1));
    make("quiet", MORE_THAN + 1, i -> "/users/" + word(i));
    assertThat(variety.found()).contains(new Variety("quiet", "/users/", 0, MORE_THAN + 1));
  }

  @Test
  void applicationsAreBounded() {
    for (int application = 0; application < 20_050; application++) {
      make("shop" + application, 1, i -> "/users/{id}");
    }

    assertThat(variety.forgotten()).isEqualTo(50);
  }

  @Test
  void whatNoRecordTakesIsNotFound() {
    make("x".repeat(300), MORE_THAN + 1, i -> "/users/" + word(i));
    make("shop", MORE_THAN + 1, i -> "/" + "u".repeat(300) + "/" + word(i));
    make("shop", MORE_THAN + 1, i -> "/users/" + "u".repeat(2_000) + word(i));
    make("shop", MORE_THAN + 1, i -> "/users/" + word(i) + "/x".repeat(31));

    assertThat(variety.found()).isEmpty();
  }

  @Test
  void whatIsFoundIsBounded() {
    for (int place = 0; place < 1_100; place++) {
      String prefix = "a" + word(place) + "/";
      make("shop" + place, MORE_THAN + 1, i -> prefix + word(i));
    }

    assertThat(variety.found()).hasSize(LearntNames.MAX_RULES);
  }

  @Test
  void namesThatMayHaveBeenCutDoNotCount() {
    for (int length = MAX_VALUE_BYTES - 3; length <= MAX_VALUE_BYTES + 9; length++) {
      int tail = length - 4;
      make("shop", 5 * MORE_THAN, i -> filled("/u/", i, tail) + "/end");
    }
    assertThat(variety.found()).isEmpty();

    make("shop", 5 * MORE_THAN, i -> filled("/u/", i, MAX_VALUE_BYTES - 8) + "/end");
    assertThat(variety.found()).containsExactly(new Variety("shop", "/u/", 1, MORE_THAN + 1));
  }

  private static String filled(String prefix, int number, int length) {
    String name = prefix + word(number);
    return name + "x".repeat(length - name.length());
  }

  @Test
  void namesThatAPatternMayHaveMadeDoNotCount() {
    make("patterned", 5 * MORE_THAN, i -> "/tenants/" + word(i) + "/*");
    assertThat(variety.found()).isEmpty();

    make("patterned", 5 * MORE_THAN, i -> "/tenants/" + word(i) + "/cart");
    assertThat(variety.found()).hasSize(1);
  }

  @Test
  void whatIsKeptApartIsNotJoinedHereEither() {
    make("shop", 5 * MORE_THAN, i -> "/kept/" + word(i) + "/" + word(i));
    assertThat(variety.found()).isEmpty();

    make("shop", 5 * MORE_THAN, i -> "/kept/api/" + word(i));
    assertThat(variety.found())
        .containsExactly(new Variety("shop", "/kept/api/", 0, MORE_THAN + 1));
  }

  @Test
  void oneApplicationDoesNotTakeTheRoomOfAll() {
    for (int application = 0; application < 5; application++) {
      for (int place = 0; place < 250; place++) {
        String prefix = word(place) + "/";
        make("hostile" + application, MORE_THAN + 1, i -> prefix + word(i));
      }
    }
    make("quiet", MORE_THAN + 1, i -> "/users/" + word(i));

    assertThat(variety.found())
        .hasSize(5 * NameVariety.MAX_RULES_OF_APPLICATION + 1)
        .contains(new Variety("quiet", "/users/", 0, MORE_THAN + 1));
  }

  @Test
  void whatFoundNoRoomIsFoundOnceThereIsSome() {
    for (int application = 0; application < LearntNames.MAX_RULES; application++) {
      make("shop" + application, MORE_THAN + 1, i -> "/users/" + word(i));
    }
    make("late", MORE_THAN + 1, i -> "/users/" + word(i));
    assertThat(variety.found()).hasSize(LearntNames.MAX_RULES);

    NameRule users = new NameRule("/users/", 0, MORE_THAN + 1, 1);
    variety.learnt(new LearntNames(1, 1, Map.of("shop0", new NameRules(List.of(users)))));
    make("late", MORE_THAN + 2, i -> "/users/" + word(i));
    assertThat(variety.found())
        .hasSize(LearntNames.MAX_RULES)
        .contains(new Variety("late", "/users/", 0, MORE_THAN + 1));
  }

  @Test
  void whatIsNoLongerLearntIsFoundStill() {
    make("shop", MORE_THAN + 1, i -> "/users/" + word(i));
    List<Variety> users = variety.found();
    learn(new NameRule("/users/", 0, MORE_THAN + 1, 1));
    assertThat(variety.found()).isEmpty();

    learn(new NameRule("/orders/", 0, MORE_THAN + 1, 1));
    assertThat(variety.found()).isEqualTo(users).hasSize(1);
  }

  /** Anything: long, of many tokens or few, with separators in a row. */
  private static String hostile(Random random) {
    StringBuilder name = new StringBuilder();
    int length = random.nextInt(200);
    for (int i = 0; i < length; i++) {
      name.append("abcdefgh/ ?:{}*ü".charAt(random.nextInt(16)));
    }
    return name.toString();
  }

  private void learn(NameRule... rules) {
    variety.learnt(new LearntNames(1, 1, Map.of("shop", new NameRules(List.of(rules)))));
  }

  private void make(String application, int count, IntFunction<String> name) {
    variety.window(window(application, count, name));
  }

  /** Letters alone, another word for each number. */
  static String word(int number) {
    StringBuilder word = new StringBuilder("w");
    for (int left = number; left > 0; left /= 20) {
      word.append((char) ('a' + left % 20));
    }
    return word.toString();
  }

  /** A window with the first spans of series of these names. */
  static SealedWindow window(String application, int count, IntFunction<String> name) {
    List<SeriesDefinition> created = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      created.add(new SeriesDefinition(i, 1, false, List.of(application, name.apply(i), "2", "0")));
    }
    return window(created);
  }

  private static SealedWindow window(List<SeriesDefinition> created) {
    return new RowlessWindow(new QueueId("a", 0), 0, 1, 1, 2).created(created).seal();
  }
}
