package org.traceetl.server.web;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.security.crypto.password.PasswordEncoder;

/**
 * Compares passwords with bcrypt hashes. A browser sends its password with every request, and a
 * comparison takes 50 ms or more by design, so successful ones are remembered, as a code under a
 * key of this process. Few comparisons run at a time and waiting ones give up soon, so that
 * strangers cannot take processors or connections away from counting spans.
 */
final class RememberedPasswords implements PasswordEncoder {
  private static final String HMAC = "HmacSHA256";
  private static final int KEY_BYTES = 32;
  private static final int MAX_REMEMBERED = 1_000;
  private static final long WAIT_SECONDS = 1;

  private static final int MIN_COST = 4;

  private final PasswordEncoder bcrypt;
  private final SecretKeySpec key;
  private final Semaphore comparisons =
      new Semaphore(Math.max(1, Runtime.getRuntime().availableProcessors() / 2));
  private final Cache<String, Boolean> right =
      CacheBuilder.newBuilder().maximumSize(MAX_REMEMBERED).build();

  /**
   * @param cost of the hashes, so that an unknown name takes as long as a known one
   */
  RememberedPasswords(int cost) {
    bcrypt = new BCryptPasswordEncoder(Math.max(MIN_COST, cost));
    byte[] random = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(random);
    key = new SecretKeySpec(random, HMAC);
  }

  @Override
  public String encode(CharSequence password) {
    return bcrypt.encode(password);
  }

  /**
   * Returns whether the password matches the hash.
   *
   * @throws AuthenticationServiceException if too many comparisons are waiting
   */
  @Override
  public boolean matches(CharSequence password, String hash) {
    String code = code(password, hash);
    if (right.getIfPresent(code) != null) {
      return true;
    }
    begin();
    try {
      boolean matches = bcrypt.matches(password, hash);
      if (matches) {
        right.put(code, true);
      }
      return matches;
    } finally {
      comparisons.release();
    }
  }

  private void begin() {
    try {
      if (comparisons.tryAcquire(WAIT_SECONDS, TimeUnit.SECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new AuthenticationServiceException(
        "the server is comparing too many passwords; try again later");
  }

  private String code(CharSequence password, String hash) {
    try {
      Mac mac = Mac.getInstance(HMAC);
      mac.init(key);
      mac.update(hash.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of()
          .formatHex(mac.doFinal(password.toString().getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + HMAC, e);
    }
  }
}
