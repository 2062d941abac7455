package org.traceetl.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Hosts with addresses of their own on this machine: network namespaces on one bridge. The machine
 * itself is the bridge's address. Connections between two hosts can be cut. For one thread.
 */
public final class Network implements AutoCloseable {
  /** Reserved for network benchmarks. */
  private static final String PREFIX = "198.18.";

  private static final Path NAMESPACES = Path.of("/run/netns");
  private static final Path LINKS = Path.of("/sys/class/net");

  /** Names of bridges and namespaces, with the ID of the process that created them. */
  private static final Pattern MADE = Pattern.compile("ch(\\d+)(?:-\\d+)?");

  /**
   * A place to run programs.
   *
   * @param address by which others reach it
   * @param prefix of the command that runs a program there
   */
  record Host(String address, List<String> prefix) {
    static final Host LOOPBACK = new Host("127.0.0.1", List.of());
  }

  private record Cut(Host host, Host other) {}

  private final long id = ProcessHandle.current().pid();
  private final String bridge = "ch" + id;
  private final String subnet = PREFIX + id % 250 + ".";
  private final List<String> namespaces = new ArrayList<>();
  private final List<Host> hosts = new ArrayList<>();
  private final List<Cut> cuts = new ArrayList<>();

  private Network() {}

  /** Creates a network of hosts; returns null if the user or the kernel does not permit it. */
  public static Network open(int hosts) throws IOException, InterruptedException {
    deleteStale();
    Network network = new Network();
    boolean made =
        run("ip", "link", "add", network.bridge, "type", "bridge")
            && run("ip", "address", "add", network.machine().address + "/24", "dev", network.bridge)
            && run("ip", "link", "set", network.bridge, "up");
    for (int i = 0; made && i < hosts; i++) {
      made = network.add();
    }
    if (made) {
      return network;
    }
    network.close();
    return null;
  }

  /** Deletes the networks of processes that were killed. */
  private static void deleteStale() throws IOException, InterruptedException {
    for (String namespace : stale(NAMESPACES)) {
      run("ip", "netns", "delete", namespace);
    }
    for (String bridge : stale(LINKS)) {
      run("ip", "link", "delete", bridge);
    }
  }

  private static List<String> stale(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> {
            Matcher made = MADE.matcher(name);
            return made.matches() && ProcessHandle.of(Long.parseLong(made.group(1))).isEmpty();
          })
          .toList();
    }
  }

  /** Returns this machine, as the hosts reach it. */
  Host machine() {
    return new Host(subnet + 1, List.of());
  }

  List<Host> hosts() {
    return hosts;
  }

  private boolean add() throws IOException, InterruptedException {
    int number = namespaces.size();
    String namespace = bridge + "-" + number;
    String link = bridge + "v" + number;
    String address = subnet + (10 + number);
    if (!run("ip", "netns", "add", namespace)) {
      return false;
    }
    namespaces.add(namespace);
    hosts.add(new Host(address, List.of("ip", "netns", "exec", namespace)));
    return run(
            "ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", namespace)
        && run("ip", "link", "set", link, "master", bridge, "up")
        && run("ip", "-n", namespace, "address", "add", address + "/24", "dev", "eth0")
        && run("ip", "-n", namespace, "link", "set", "lo", "up")
        && run("ip", "-n", namespace, "link", "set", "eth0", "up");
  }

  /**
   * Drops all packets between two hosts. Connections that are open get no answer; a new one fails
   * at once, because its own host has no route.
   */
  void cut(Host one, Host other) throws IOException, InterruptedException {
    for (Cut cut : List.of(new Cut(one, other), new Cut(other, one))) {
      change("add", cut);
      cuts.add(cut);
    }
  }

  /** Ends all cuts. */
  public void heal() throws IOException, InterruptedException {
    for (Cut cut : cuts) {
      change("del", cut);
    }
    cuts.clear();
  }

  private static void change(String what, Cut cut) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(cut.host.prefix);
    command.addAll(List.of("ip", "route", what, "blackhole", cut.other.address + "/32"));
    if (!run(command.toArray(String[]::new))) {
      throw new IOException(String.join(" ", command) + " failed");
    }
  }

  private static boolean run(String... command) throws IOException, InterruptedException {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (IOException e) {
      return false; // not installed
    }
  }

  /** Deletes the network. Call this when the programs on the hosts have ended. */
  @Override
  public void close() throws IOException {
    try {
      for (String namespace : namespaces) {
        run("ip", "netns", "delete", namespace);
      }
      run("ip", "link", "delete", bridge);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
