package org.traceetl.agent.edge;

import org.traceetl.agent.flow.Attributes;

/**
 * Finds the name of the other side of a request. The first of these attributes that has a value
 * counts:
 *
 * <ol>
 *   <li>What a user configured: {@code service.peer.name}, formerly {@code peer.service}.
 *   <li>What is requested, which has one name on all hosts: {@code db.namespace}, formerly {@code
 *       db.name}; {@code messaging.destination.template}, {@code messaging.destination.name},
 *       formerly {@code messaging.destination}.
 *   <li>The host: {@code server.address}, formerly {@code net.peer.name}.
 *   <li>The product: {@code db.system.name}, formerly {@code db.system}; {@code messaging.system}.
 * </ol>
 *
 * <p>A {@code db.namespace} that is a number counts last, because it is the index of a Redis
 * database. Addresses of connections, such as {@code network.peer.address}, do not count: a service
 * has many, and they change.
 */
final class PeerAttributes {
  /** Between the ranks of keys and {@link PeerKeys#NONE}: a name that counts last. */
  private static final int LAST = PeerKeys.NONE - 1;

  private PeerAttributes() {}

  /**
   * Sets the peer's name, or removes it if no attribute names the peer.
   *
   * @param additional attributes that a first reading did not put with the others
   * @return whether an attribute of a database has a value
   */
  static boolean read(Attributes attributes, Attributes additional, HalfEdge half) {
    half.forgetPeer();
    half.peerRank = PeerKeys.NONE;
    return read(attributes, half) | read(additional, half);
  }

  private static boolean read(Attributes attributes, HalfEdge half) {
    boolean database = false;
    int name = -1;
    int size = attributes.size();
    for (int i = 0; i < size; i++) {
      int rank = PeerKeys.rank(attributes.key(i), attributes.keyOffset(i), attributes.keyLength(i));
      if (rank == PeerKeys.NONE || attributes.valueLength(i) == 0) {
        continue;
      }
      database |= PeerKeys.isDatabase(rank);
      if (rank == PeerKeys.NAMESPACE && isNumber(attributes, i)) {
        rank = LAST;
      }
      if (rank < half.peerRank) {
        half.peerRank = rank;
        name = i;
      }
    }
    if (name >= 0) {
      setPeer(attributes, name, half);
    }
    return database;
  }

  private static boolean isNumber(Attributes attributes, int i) {
    byte[] value = attributes.value(i);
    int at = attributes.valueOffset(i);
    int end = at + attributes.valueLength(i);
    while (at < end && value[at] >= '0' && value[at] <= '9') {
      at++;
    }
    return at == end;
  }

  /** Sets a value as the name, at most as many of its characters as fit. */
  private static void setPeer(Attributes attributes, int i, HalfEdge half) {
    byte[] value = attributes.value(i);
    int offset = attributes.valueOffset(i);
    int length = attributes.valueLength(i);
    if (length > HalfEdge.MAX_PEER_BYTES) {
      length = HalfEdge.MAX_PEER_BYTES;
      while (length > 0 && continuesCharacter(value[offset + length])) {
        length--;
      }
    }
    half.setPeer(value, offset, length);
  }

  private static boolean continuesCharacter(byte utf8) {
    return (utf8 & 0xc0) == 0x80;
  }
}
