package org.traceetl.perf.bench.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a JVM keeps on its heap. */
public final class LiveHeap {
  private static final Pattern USED = Pattern.compile("total \\d+K, used (\\d+)K");

  private LiveHeap() {}

  /**
   * Collects the garbage of a JVM of this user, and returns the bytes that remain.
   *
   * @throws IOException if the JVM does not answer
   */
  public static long bytes(long pid) throws IOException, InterruptedException {
    jcmd(pid, "GC.run");
    Matcher used = USED.matcher(jcmd(pid, "GC.heap_info"));
    long kibibytes = 0;
    while (used.find()) {
      kibibytes += Long.parseLong(used.group(1));
    }
    return kibibytes * 1024;
  }

  private static String jcmd(long pid, String command) throws IOException, InterruptedException {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    Process process =
        new ProcessBuilder(jcmd.toString(), Long.toString(pid), command)
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(command + " of process " + pid + " failed: " + output.strip());
    }
    return output;
  }
}
