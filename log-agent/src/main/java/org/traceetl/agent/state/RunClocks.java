package org.traceetl.agent.state;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How long the agent was down since its earlier runs. The spool's clock does not advance while the
 * agent is down, so the difference of the wall clock to it grows by the down time.
 *
 * <p>A file has the difference at the start of each of the newest runs: a line with epoch, space
 * and milliseconds. Batches whose run has no line have an age without down time.
 */
public final class RunClocks {
  private static final Logger log = LoggerFactory.getLogger(RunClocks.class);
  private static final String FILE = "run-clocks";
  private static final int MAX_RUNS = 64;
  private static final Pattern LINE = Pattern.compile("([0-9]{1,18}) (-?[0-9]{1,18})");

  private final AgentIdentity run;
  private final long offsetMillis;

  /** Of earlier runs by epoch; not changed after the start. */
  private final NavigableMap<Long, Long> offsets = new TreeMap<>();

  private RunClocks(AgentIdentity run, long offsetMillis) {
    this.run = run;
    this.offsetMillis = offsetMillis;
  }

  /**
   * Reads the differences of earlier runs and stores that of this one. If the file cannot be used,
   * this is logged, and ages have no down time.
   *
   * @param offsetMillis the wall clock less the spool's clock now
   */
  public static RunClocks start(StateDirectory state, AgentIdentity run, long offsetMillis) {
    RunClocks clocks = new RunClocks(run, offsetMillis);
    try {
      clocks.read(new String(state.read(FILE).orElse(new byte[0]), US_ASCII));
    } catch (IOException e) {
      clocks.offsets.clear();
      log.warn(
          "Cannot read {}: {}. Batches of earlier runs count later, by the time for which the agent"
              + " was down",
          state.path().resolve(FILE),
          e.toString());
    }
    try {
      state.write(FILE, clocks.text().getBytes(US_ASCII));
    } catch (IOException e) {
      log.warn(
          "Cannot write {}: {}. After the next start, batches of this run count later, by the time"
              + " for which the agent was down",
          state.path().resolve(FILE),
          e.toString());
    }
    return clocks;
  }

  private void read(String text) throws IOException {
    for (String line : text.lines().toList()) {
      Matcher matcher = LINE.matcher(line);
      if (!matcher.matches()) {
        throw new IOException("it has a line that is not an epoch and milliseconds");
      }
      offsets.put(Long.valueOf(matcher.group(1)), Long.valueOf(matcher.group(2)));
    }
    // Only a restored directory has later epochs, which are of other runs.
    offsets.tailMap(run.epoch(), true).clear();
    while (offsets.size() >= MAX_RUNS) {
      offsets.pollFirstEntry();
    }
  }

  private String text() {
    StringBuilder text = new StringBuilder();
    offsets.forEach((epoch, millis) -> text.append(epoch + " " + millis + "\n"));
    return text.append(run.epoch() + " " + offsetMillis + "\n").toString();
  }

  /**
   * Returns for how many milliseconds the agent was down between the start of a run and that of
   * this one, as far as is known. If the wall clock was set back by more, this is 0.
   */
  public long downMillis(AgentIdentity since) {
    boolean own = since.high() == run.high() && since.low() == run.low();
    Long itsOffset = own ? offsets.get(since.epoch()) : null;
    return itsOffset == null ? 0 : Math.max(0, offsetMillis - itsOffset);
  }
}
