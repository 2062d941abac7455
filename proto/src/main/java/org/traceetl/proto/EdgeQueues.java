package org.traceetl.proto;

import static org.traceetl.proto.RecordFormat.malformed;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.IntStream;
import org.traceetl.proto.MalformedDecisionsException.Reason;

/**
 * The queues to which agents send half-edges. Both halves of an edge must reach one queue, so
 * agents follow this list and not the queues that the topic has at the moment. A record of the
 * routing topic has all queues, so only the newest one is needed. Immutable.
 *
 * <p>In the layout of {@link RecordFormat}, the magic is {@code TEGR}, and the names are those of
 * at most {@value #MAX_BROKERS} brokers, of at most {@value #MAX_NAME_BYTES} bytes. The value of a
 * broker:
 *
 * <pre>
 *  0  queues  2 bytes  1 to 1,024 of all brokers together; then for each, ascending:
 *     number  4 bytes  0 to 2^31 - 1
 * </pre>
 *
 * @param epoch version of the list; rises with each change
 * @param decidedMillis when it was decided, milliseconds since 1970
 * @param brokers queues by the name of their broker; none if agents send no half-edges
 */
public record EdgeQueues(long epoch, long decidedMillis, Map<String, Queues> brokers)
    implements RoutingRecord {
  /** Most brokers in one record. */
  public static final int MAX_BROKERS = 256;

  /** Most bytes of a broker's name. */
  public static final int MAX_NAME_BYTES = 255;

  /** Most queues in one record. */
  public static final int MAX_QUEUES = 1_024;

  private static final int MAGIC = 0x54454752;

  /** Format of the record in the topic. */
  public static final RecordFormat<EdgeQueues, Queues> FORMAT =
      new RecordFormat<>(
          MAGIC,
          MAX_BROKERS,
          MAX_NAME_BYTES,
          MAX_BROKERS * Short.BYTES + MAX_QUEUES * Integer.BYTES,
          new QueuesFormat(),
          EdgeQueues::new);

  /** No queues decided yet. */
  public static final EdgeQueues NONE = new EdgeQueues(0, 0, Map.of());

  /** The queues of a broker. Immutable. */
  public static final class Queues {
    private final int[] numbers;

    /**
     * @param numbers ascending, 1 to {@value EdgeQueues#MAX_QUEUES} of them, each at least 0
     * @throws IllegalArgumentException if they are not
     */
    public Queues(int... numbers) {
      boolean ascending =
          IntStream.range(1, numbers.length).allMatch(i -> numbers[i - 1] < numbers[i]);
      if (numbers.length < 1 || numbers.length > MAX_QUEUES || numbers[0] < 0 || !ascending) {
        throw new IllegalArgumentException(numbers.length + " queues, or queues not in order");
      }
      this.numbers = numbers.clone();
    }

    /** Returns the numbers of the queues, ascending. */
    public IntStream numbers() {
      return Arrays.stream(numbers);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Queues && Arrays.equals(numbers, ((Queues) other).numbers);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(numbers);
    }

    @Override
    public String toString() {
      return Arrays.toString(numbers);
    }
  }

  /**
   * @throws IllegalArgumentException if there are more brokers or queues than a record holds, or a
   *     name that it cannot hold; see {@link #takes}
   */
  public EdgeQueues {
    brokers = Map.copyOf(brokers);
    int queues = brokers.values().stream().mapToInt(its -> its.numbers.length).sum();
    if (brokers.size() > MAX_BROKERS
        || queues > MAX_QUEUES
        || !brokers.keySet().stream().allMatch(EdgeQueues::takes)) {
      throw new IllegalArgumentException("too many brokers or queues, or too long a name");
    }
  }

  /** Returns whether a record can contain this broker. */
  public static boolean takes(String broker) {
    return FORMAT.takes(broker);
  }

  @Override
  public byte[] encode() {
    return FORMAT.encode(this, brokers);
  }

  private static final class QueuesFormat implements RecordFormat.Value<Queues> {
    @Override
    public int bytes(Queues queues) {
      return Short.BYTES + queues.numbers.length * Integer.BYTES;
    }

    @Override
    public void write(ByteBuffer out, Queues queues) {
      out.putShort((short) queues.numbers.length);
      queues.numbers().forEach(out::putInt);
    }

    @Override
    public Queues read(ByteBuffer in) throws MalformedDecisionsException {
      int count = RecordFormat.count(in, 1, MAX_QUEUES, "queues");
      RecordFormat.need(in, count * Integer.BYTES, "queues");
      int[] numbers = new int[count];
      for (int i = 0; i < count; i++) {
        numbers[i] = in.getInt();
      }
      try {
        return new Queues(numbers);
      } catch (IllegalArgumentException e) {
        throw malformed(Reason.CONTENT, e.getMessage());
      }
    }
  }
}
