package org.traceetl.perf.bench.overhead.app;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32;

final class StoredLinks implements Links {
  private static final int RADIX = 36;

  private final Map<String, String> urls = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> followed = new ConcurrentHashMap<>();

  @Override
  public String encode(String url) {
    CRC32 checksum = new CRC32();
    checksum.update(url.getBytes(StandardCharsets.UTF_8));
    return Long.toString(checksum.getValue(), RADIX);
  }

  @Override
  public void store(String code, String url) {
    urls.put(code, url);
  }

  @Override
  public String find(String code) {
    return urls.get(code);
  }

  @Override
  public void count(String code) {
    followed.computeIfAbsent(code, unused -> new LongAdder()).increment();
  }
}
