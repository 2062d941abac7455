package org.traceetl.agent.http;

import io.grpc.netty.shaded.io.netty.handler.codec.TooLongFrameException;
import io.grpc.netty.shaded.io.netty.handler.codec.http.DefaultHttpHeaders;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpHeaders;
import io.grpc.netty.shaded.io.netty.handler.codec.http.HttpHeadersFactory;

/**
 * A request's headers, bounded in number, because a short header costs thirty times its bytes on
 * the heap.
 */
public final class FewHeaders extends DefaultHttpHeaders {
  /** Limit of headers; exporters send ten, and proxies add as many. */
  public static final int MOST = 64;

  static final HttpHeadersFactory FACTORY =
      new HttpHeadersFactory() {
        @Override
        public HttpHeaders newHeaders() {
          return new FewHeaders();
        }

        @Override
        public HttpHeaders newEmptyHeaders() {
          return new FewHeaders();
        }
      };

  private FewHeaders() {}

  @Override
  public HttpHeaders add(CharSequence name, Object value) {
    checkRoom();
    return super.add(name, value);
  }

  @Override
  public HttpHeaders add(String name, Object value) {
    checkRoom();
    return super.add(name, value);
  }

  private void checkRoom() {
    if (size() >= MOST) {
      throw new TooLongFrameException("more than " + MOST + " headers");
    }
  }
}
