package org.traceetl.server.http;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The range of a parameter that is a number; of a text, how many characters it may have. */
@Target({ElementType.PARAMETER, ElementType.RECORD_COMPONENT})
@Retention(RetentionPolicy.RUNTIME)
public @interface Allowed {
  /** The longest name, in characters; by default no series has a longer one. */
  int NAME = 20_000;

  /** The largest number of shards of a page: each scrape has costs that shards do not divide. */
  int SHARDS = 64;

  /** The longest text to search for, in characters. */
  int SEARCH = 1_000;

  int min() default 1;

  int max();
}
