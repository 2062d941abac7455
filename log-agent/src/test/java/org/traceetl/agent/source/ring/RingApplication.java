package org.traceetl.agent.source.ring;

import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.traceetl.proto.ring.RingLayout;
import org.traceetl.proto.ring.RingSpan;
import org.traceetl.proto.ring.RingWriter;

/** An application in its own process; its first argument selects the action. */
final class RingApplication {
  private RingApplication() {}

  static Process start(String what, Path directory) throws Exception {
    return start(RingApplication.class, what, directory.toString());
  }

  static Process start(Class<?> program, String... arguments) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                program.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  public static void main(String[] args) throws Exception {
    Path directory = Path.of(args[1]);
    switch (args[0]) {
      case "claim" -> claim(directory);
      case "write" -> write(directory);
      case "cut" -> cut(directory);
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  private static RingWriter ring(Path directory, int number) throws Exception {
    return RingWriter.create(
        directory,
        String.format("%d-%016x.ring", ProcessHandle.current().pid(), number),
        RingWriter.Shape.smallest("other"));
  }

  /** Writes ten spans, begins two records, and stops. */
  private static void claim(Path directory) throws Exception {
    RingWriter writer = ring(directory, 1);
    for (int number = 1; number <= 10; number++) {
      boolean _ = writer.write(RingSpan.numbered(number));
    }
    byte[] body = writer.body(RingSpan.numbered(11));
    long claim = writer.claim(8 + body.length);
    long begun = writer.claim(8 + body.length);
    writer.begin(begun, 8 + body.length);
    writer.file().set(ValueLayout.JAVA_BYTE, 8_192 + begun + 20, (byte) 1);
    System.out.println("claimed " + claim);
    Thread.currentThread().join();
  }

  /** Writes spans until it is killed, and prints its progress. */
  private static void write(Path directory) throws Exception {
    RingWriter writer = ring(directory, 1);
    for (int number = 1; ; number++) {
      while (!writer.write(RingSpan.numbered(number))) {
        LockSupport.parkNanos(100_000);
      }
      if (number % 1_000 == 0) {
        System.out.println(number);
      }
    }
  }

  /** Creates rings, writes into them, and truncates them at random times. */
  private static void cut(Path directory) throws Exception {
    Random random = new Random(1);
    List<RingWriter> kept = new ArrayList<>();
    for (int i = 1; i <= 200; i++) {
      RingWriter writer = ring(directory, i);
      kept.add(writer);
      int spans = random.nextInt(400);
      for (int number = 1; number <= spans; number++) {
        boolean _ = writer.write(RingSpan.numbered(number));
      }
      LockSupport.parkNanos(random.nextInt(12_000_000));
      try (FileChannel file = FileChannel.open(writer.path(), StandardOpenOption.WRITE)) {
        // The rest ends within the ring, the dictionary or the header, or is empty.
        file.truncate(random.nextInt(3) * 4_096L + random.nextInt(2) * RingLayout.PAGE_BYTES);
      } catch (NoSuchFileException e) {
        throw new IllegalStateException("a ring of the living was removed", e);
      }
    }
    System.out.println("cut");
    Thread.currentThread().join();
  }
}
