package org.traceetl.server.consume;

import java.util.List;
import org.apache.thrift.TException;
import org.apache.thrift.TSerializer;
import org.apache.thrift.protocol.TCompactProtocol;
import org.traceetl.proto.thrift.ozhera.TAttributeKey;
import org.traceetl.proto.thrift.ozhera.TAttributeType;
import org.traceetl.proto.thrift.ozhera.TAttributes;
import org.traceetl.proto.thrift.ozhera.TExtra;
import org.traceetl.proto.thrift.ozhera.TKind;
import org.traceetl.proto.thrift.ozhera.TResource;
import org.traceetl.proto.thrift.ozhera.TSpanData;
import org.traceetl.proto.thrift.ozhera.TStatus;
import org.traceetl.proto.thrift.ozhera.TValue;

/** A span for a test, as OzHera's agent would write it. */
final class OzheraMessage {
  private OzheraMessage() {}

  /**
   * A server's span of a few attributes.
   *
   * @param application null for none
   */
  static byte[] of(String application, String name, long durationNanos) {
    TAttributes attributes =
        new TAttributes()
            .setKeys(
                List.of(
                    new TAttributeKey().setType(TAttributeType.STRING).setValue("http.method"),
                    new TAttributeKey().setType(TAttributeType.LONG).setValue("http.status_code"),
                    new TAttributeKey().setType(TAttributeType.BOOLEAN).setValue("error")))
            .setValues(
                List.of(
                    new TValue().setStringValue("GET"),
                    new TValue().setLongValue(200),
                    new TValue().setBoolValue(false)));
    TAttributes resource =
        new TAttributes()
            .setKeys(
                List.of(new TAttributeKey().setType(TAttributeType.STRING).setValue("service.env")))
            .setValues(List.of(new TValue().setStringValue("staging")));
    TSpanData span =
        new TSpanData()
            .setTraceId("0af7651916cd43dd8448eb211c80319c")
            .setSpanId("b7ad6b7169203331")
            .setName(name)
            .setKind(TKind.SERVER)
            .setStatus(TStatus.UNSET)
            .setStartEpochNanos(1_700_000_000_000_000_000L)
            .setEndEpochNanos(1_700_000_000_000_000_000L + durationNanos)
            .setAttributes(attributes)
            .setResouce(new TResource().setAttributes(resource))
            .setExtra(
                new TExtra().setIp("10.1.2.3").setHostname("host").setServiceName(application));
    try {
      return new TSerializer(new TCompactProtocol.Factory()).serialize(span);
    } catch (TException e) {
      throw new IllegalStateException(e);
    }
  }
}
