package org.traceetl.server.features.pages;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.expose.Page;
import org.traceetl.server.expose.SpanNaming;

/** Reads pages as a scraper does. */
final class PageFixture {
  static final Duration LONG = Duration.ofSeconds(60);
  static final MetricsConfig OTEL = MetricsConfig.defaults();
  static final MetricsConfig OTEL_UTF8 =
      new MetricsConfig(null, null, null, null, MetricsConfig.Names.UTF_8, null, null);
  static final MetricsConfig TEMPO =
      new MetricsConfig(StandardProfile.TEMPO, null, null, null, null, null, null);
  static final HistogramConfig BOUNDS = new HistogramConfig(List.of(2.0, 10.5, 1_000.0));
  static final int STRIDE = 4;

  /** The encodings of pages without UTF-8 names. */
  static final List<Encoding> ENCODINGS =
      Stream.of(Encoding.values()).filter(encoding -> !encoding.format().hasUtf8Names()).toList();

  private PageFixture() {}

  static Naming naming(MetricsConfig metrics) {
    return naming(metrics, BOUNDS);
  }

  static Naming naming(MetricsConfig metrics, HistogramConfig histogram) {
    return new SpanNaming(
        metrics,
        new SeriesConfig(
            List.of(
                new SeriesConfig.Dimension("http.route", null, null),
                new SeriesConfig.Dimension("k8s.namespace.name", "namespace", null)),
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null),
        histogram);
  }

  static SpanPages started(Naming naming) {
    var pages = new SpanPages(naming, Clocks.SYSTEM, nanos -> {});
    pages.start();
    return pages;
  }

  /** The span families alone. */
  static String text(SpanPages pages, Encoding encoding) {
    return new String(bytes(pages, encoding), UTF_8);
  }

  /** The span families alone, decompressed; what was given before is on it. */
  static byte[] bytes(SpanPages pages, Encoding encoding) {
    try {
      pages.await(LONG);
      byte[] sent = sent(pages.page(encoding, LONG).with(new byte[0]));
      if (!encoding.gzip()) {
        return sent;
      }
      try (var in = new GZIPInputStream(new ByteArrayInputStream(sent))) {
        return in.readAllBytes();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (TimeoutException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  static byte[] sent(Page page) throws IOException {
    var out = new ByteArrayOutputStream();
    page.writeTo(out);
    if (out.size() != page.bytes()) {
      throw new AssertionError(page.bytes() + " bytes promised, " + out.size() + " written");
    }
    return out.toByteArray();
  }
}
