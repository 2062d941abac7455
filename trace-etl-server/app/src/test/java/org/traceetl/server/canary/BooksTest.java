package org.traceetl.server.canary;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** The books hold for any order of answers, repeats, arrivals and reads. */
final class BooksTest {
  private static final int SPANS = 4;

  /** What happens next. */
  enum Move {
    ANSWERED,
    ACCEPTED_BUT_NOT_ANSWERED,
    NEITHER_RECEIVED_NOR_ANSWERED,
    REFUSED,
    GIVEN_UP,
    ONE_SPAN_ARRIVES,
    ALL_SPANS_ARRIVE,
    READ
  }

  /** The agent, which counts a repeated request once, and the pages behind it. */
  private static final class World {
    private final Books books = new Books();
    private boolean hasAcceptedOpen;
    private long accepted;
    private long shown;

    /** Spans that pages show in addition, or less. */
    private long twice;

    private long lost;

    void apply(Move move) {
      switch (move) {
        case ONE_SPAN_ARRIVES -> shown = Math.min(shown + 1, accepted - lost);
        case ALL_SPANS_ARRIVE -> shown = accepted - lost;
        case READ -> books.show(shown + twice);
        default -> send(move);
      }
    }

    private void send(Move move) {
      if (!books.isOpen()) {
        if (books.missing() > 0 || move == Move.GIVEN_UP) {
          return;
        }
        books.open(SPANS);
        hasAcceptedOpen = false;
      }
      switch (move) {
        case ANSWERED -> {
          accept();
          books.accepted(SPANS);
        }
        case ACCEPTED_BUT_NOT_ANSWERED -> {
          accept();
          books.maybeAccepted();
        }
        case NEITHER_RECEIVED_NOR_ANSWERED -> books.maybeAccepted();
        case GIVEN_UP -> books.giveUpOpen();
        default -> {}
      }
    }

    private void accept() {
      accepted += hasAcceptedOpen ? 0 : SPANS;
      hasAcceptedOpen = true;
    }

    void end() {
      if (books.isOpen()) {
        apply(Move.ANSWERED);
      }
      apply(Move.ALL_SPANS_ARRIVE);
      apply(Move.READ);
    }
  }

  @Property
  void nothingIsWrongWithoutAFault(@ForAll @Size(max = 200) List<Move> moves) {
    World world = new World();
    for (Move move : moves) {
      world.apply(move);
      assertThat(world.books.wrong()).isZero();
    }
    world.end();

    assertThat(world.books.wrong()).isZero();
    assertThat(world.books.missing()).isZero();
    assertThat(world.books.seen())
        .isEqualTo(world.accepted)
        .isBetween(world.books.answered(), world.books.answered() + world.books.unanswered());
  }

  @Property
  void withoutRequestsThatAreGivenUpEachSpanIsExpectedAndSeen(
      @ForAll @Size(max = 200) List<Move> moves) {
    World world = new World();
    moves.stream().filter(move -> move != Move.GIVEN_UP).forEach(world::apply);
    world.end();

    assertThat(world.books.answered()).isEqualTo(world.accepted);
    assertThat(world.books.seen()).isEqualTo(world.accepted);
    assertThat(world.books.unanswered()).isZero();
  }

  @Property
  void eachSpanThatCountsTwiceIsFound(
      @ForAll @Size(max = 100) List<Move> before,
      @ForAll @IntRange(min = 1, max = 10) int twice,
      @ForAll @Size(max = 100) List<Move> after) {
    World world = new World();
    before.stream().filter(move -> move != Move.GIVEN_UP).forEach(world::apply);
    world.end();
    world.twice = twice;
    world.apply(Move.READ);
    assertThat(world.books.wrong()).isEqualTo(twice);

    after.stream().filter(move -> move != Move.GIVEN_UP).forEach(world::apply);
    world.end();

    assertThat(world.books.wrong()).isEqualTo(twice);
    assertThat(world.books.missing()).isZero();
  }

  @Property
  void eachLostSpanIsFoundAndHidesNoLaterOne(
      @ForAll @Size(max = 100) List<Move> before,
      @ForAll @IntRange(min = 1, max = SPANS) int lost,
      @ForAll @Size(max = 100) List<Move> after) {
    World world = new World();
    before.stream().filter(move -> move != Move.GIVEN_UP).forEach(world::apply);
    world.end();
    world.apply(Move.ANSWERED);
    world.lost = lost;
    world.apply(Move.ALL_SPANS_ARRIVE);
    world.apply(Move.READ);

    assertThat(world.books.missing()).isEqualTo(lost);
    assertThat(world.books.giveUpMissing()).isEqualTo(lost);
    assertThat(world.books.missing()).isZero();

    after.stream().filter(move -> move != Move.GIVEN_UP).forEach(world::apply);
    world.end();

    assertThat(world.books.wrong()).isEqualTo(lost);
    assertThat(world.books.missing()).isZero();
  }
}
