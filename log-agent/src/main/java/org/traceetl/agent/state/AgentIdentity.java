package org.traceetl.agent.state;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.util.Optional;
import java.util.UUID;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The agent's identity: the first two parts of the names of its batches.
 *
 * @param high first half of the agent's ID, a random UUID of its first start
 * @param low second half
 * @param epoch number of the start, from 1
 */
public record AgentIdentity(long high, long low, long epoch) {
  private static final String FILE = "agent-id";
  private static final Pattern CONTENT = Pattern.compile("([0-9a-f-]{36}) ([0-9]{1,18})\\s*");

  /**
   * Reads the identity, increments its epoch and stores it. No earlier run has used the returned
   * epoch.
   *
   * @param random chooses the ID at the first start; a different one for each agent
   * @throws IOException if the file cannot be read or written, or has no valid identity
   */
  public static AgentIdentity next(StateDirectory state, RandomGenerator random)
      throws IOException {
    Optional<byte[]> content = state.read(FILE);
    UUID id;
    long epoch;
    if (content.isEmpty()) {
      id = randomId(random);
      epoch = 1;
    } else {
      Matcher matcher = CONTENT.matcher(new String(content.get(), US_ASCII));
      if (!matcher.matches()) {
        throw new IOException(
            state.path().resolve(FILE).toAbsolutePath()
                + " does not hold an agent's ID and epoch: restore it, or delete it to become a new"
                + " agent");
      }
      id = UUID.fromString(matcher.group(1));
      epoch = Long.parseLong(matcher.group(2)) + 1;
    }
    state.write(FILE, (id + " " + epoch + "\n").getBytes(US_ASCII));
    return new AgentIdentity(id.getMostSignificantBits(), id.getLeastSignificantBits(), epoch);
  }

  /** Returns a UUID of version 4. */
  private static UUID randomId(RandomGenerator random) {
    return new UUID(
        random.nextLong() & ~0xf000L | 0x4000L, random.nextLong() & ~(3L << 62) | 1L << 63);
  }

  /** Returns the ID without the epoch, as text. */
  public String id() {
    return new UUID(high, low).toString();
  }
}
