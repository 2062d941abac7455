package org.traceetl.server.ozhera;

import org.traceetl.server.series.SeriesTable;

/**
 * What a series is made of in profile {@code ozhera}. Its kind is the number of a {@link SpanType},
 * its status an outcome; its application is the service's name as the span has it, hyphens and all.
 *
 * <pre>
 *               name       {@link #TARGET}     {@link #DETAIL}
 *   http        method
 *   dubbo, grpc method     service
 *   redis       command    host       port
 *   mysql       SQL method data source SQL
 *   mongodb     method     data source command
 *   rocketmq    topic
 *   custom      method
 * </pre>
 *
 * <p>Failed HTTP spans have an {@link #ERROR_CODE} besides.
 */
public final class SeriesLayout {
  // Outcomes. Failed is 2, as in OTLP, so that searches for failed spans find them.
  public static final int FAST = 0;
  public static final int SLOW = 1;
  public static final int FAILED = 2;

  // Positions among the dimensions of OzheraConfig.dimensions.
  public static final int SERVER_IP = 0;
  public static final int SERVER_ENV = 1;
  public static final int SERVER_ENV_ID = 2;
  public static final int TARGET = 3;
  public static final int DETAIL = 4;
  public static final int ERROR_CODE = 5;

  private SeriesLayout() {}

  /** Kind and status of a series. */
  public static int kindAndStatus(SpanType type, int outcome) {
    return SeriesTable.kindAndStatus(type.number(), outcome);
  }
}
