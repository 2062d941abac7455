package org.traceetl.agent.config;

import java.net.URI;
import java.nio.file.Path;

/**
 * Where the agent reads which pods run on its node.
 *
 * @param enabled whether resources get attributes of their pod; the agent then reads the pods of
 *     its node from the API server
 * @param nodeName name of this agent's node, as in {@code spec.nodeName} of its pods; required
 * @param url address of the API server, {@code https}
 * @param tokenFile file with the token of a service account that may list and watch pods. Read for
 *     each request
 * @param caFile PEM file of the root certificates that the API server's certificate is verified
 *     with. Read for each connection
 */
public record KubernetesConfig(
    boolean enabled, String nodeName, URI url, Path tokenFile, Path caFile) {
  private static final Path SERVICE_ACCOUNT =
      Path.of("/var/run/secrets/kubernetes.io/serviceaccount");

  /** Returns a configuration that is not enabled, with the places that a container has. */
  public static KubernetesConfig defaults() {
    return new KubernetesConfig(
        false,
        "",
        URI.create("https://kubernetes.default.svc"),
        SERVICE_ACCOUNT.resolve("token"),
        SERVICE_ACCOUNT.resolve("ca.crt"));
  }
}
