package org.traceetl.agent.edge;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;
import org.traceetl.agent.flow.Attributes;

/**
 * Reads the attributes of a half-edge: the name of the other side, and whether it is a database or
 * a broker that is asked for messages. The first of these attributes that has a value is the name:
 *
 * <ol>
 *   <li>What a user configured: {@code service.peer.name}, formerly {@code peer.service}.
 *   <li>What is requested, which has one name on all hosts: {@code db.namespace}, formerly {@code
 *       db.name}; {@code messaging.destination.template}, {@code messaging.destination.name},
 *       formerly {@code messaging.destination}.
 *   <li>The host: {@code server.address}, formerly {@code net.peer.name}; that of {@code url.full},
 *       formerly {@code http.url}. Most HTTP clients in Python give only a URL.
 *   <li>The product: {@code db.system.name}, formerly {@code db.system}; {@code messaging.system}.
 * </ol>
 *
 * <p>A {@code db.namespace} that is a number counts last, because it is the index of a Redis
 * database. Addresses of connections, such as {@code network.peer.address}, do not count: a service
 * has many, and they change.
 */
final class PeerAttributes {
  /** Bit of {@link #read}: an attribute of a database has a value. */
  static final int DATABASE = 1;

  /** Bit of {@link #read}: the messaging operation is one of a receiver with its broker. */
  static final int RECEIVES = 2;

  /** Between the ranks of keys and {@link PeerKeys#NONE}: a name that counts last. */
  private static final int LAST = PeerKeys.NONE - 1;

  private static final byte[] RECEIVE = "receive".getBytes(US_ASCII);
  private static final byte[] SETTLE = "settle".getBytes(US_ASCII);

  private PeerAttributes() {}

  /**
   * Sets the peer's name, or removes it if no attribute names the peer.
   *
   * @param additional attributes that a first reading did not put with the others
   * @return {@link #DATABASE} and {@link #RECEIVES} as bits
   */
  static int read(Attributes attributes, Attributes additional, HalfEdge half) {
    half.forgetPeer();
    half.peerRank = PeerKeys.NONE;
    return read(attributes, half) | read(additional, half);
  }

  private static int read(Attributes attributes, HalfEdge half) {
    int found = 0;
    int name = -1;
    int size = attributes.size();
    for (int i = 0; i < size; i++) {
      int rank = PeerKeys.rank(attributes.key(i), attributes.keyOffset(i), attributes.keyLength(i));
      if (rank == PeerKeys.NONE || attributes.valueLength(i) == 0) {
        continue;
      }
      if (PeerKeys.isOperation(rank)) {
        found |= isValue(attributes, i, RECEIVE) || isValue(attributes, i, SETTLE) ? RECEIVES : 0;
        continue;
      }
      found |= PeerKeys.isDatabase(rank) ? DATABASE : 0;
      if (rank == PeerKeys.NAMESPACE && isNumber(attributes, i)) {
        rank = LAST;
      }
      if (rank < half.peerRank) {
        if (!PeerKeys.isUrl(rank)) {
          half.peerRank = rank;
          name = i;
        } else if (setHost(attributes, i, half)) {
          half.peerRank = rank;
          name = -1;
        }
      }
    }
    if (name >= 0) {
      setPeer(
          attributes.value(name), attributes.valueOffset(name), attributes.valueLength(name), half);
    }
    return found;
  }

  private static boolean isValue(Attributes attributes, int i, byte[] value) {
    int from = attributes.valueOffset(i);
    int to = from + attributes.valueLength(i);
    return Arrays.equals(attributes.value(i), from, to, value, 0, value.length);
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

  /** Sets the host of a URL as the name; returns false without a host. */
  private static boolean setHost(Attributes attributes, int i, HalfEdge half) {
    byte[] url = attributes.value(i);
    int urlEnd = attributes.valueOffset(i) + attributes.valueLength(i);
    int start = UrlHost.start(url, attributes.valueOffset(i), urlEnd);
    int end = UrlHost.end(url, start, urlEnd);
    if (start == end) {
      return false;
    }
    setPeer(url, start, end - start, half);
    return true;
  }

  private static void setPeer(byte[] value, int offset, int length, HalfEdge half) {
    half.setPeer(value, offset, cut(value, offset, length, HalfEdge.MAX_PEER_BYTES));
  }

  /** Returns the bytes of as many characters of a slice as fit. */
  static int cut(byte[] text, int offset, int length, int mostBytes) {
    if (length <= mostBytes) {
      return length;
    }
    int kept = mostBytes;
    while (kept > 0 && continuesCharacter(text[offset + kept])) {
      kept--;
    }
    return kept;
  }

  private static boolean continuesCharacter(byte utf8) {
    return (utf8 & 0xc0) == 0x80;
  }
}
