package org.traceetl.server.ozhera;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.server.ozhera.Secrets.Kind;

class SecretsTest {
  private static String without(String text, Kind kind) {
    byte[] bytes = ("<" + text + ">").getBytes(UTF_8);
    Secrets secrets = new Secrets();
    int written = secrets.write(bytes, 1, bytes.length - 2, kind);
    return written == Secrets.UNCHANGED ? text : new String(secrets.buffer(), 0, written, UTF_8);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "mysql://root:s3cret@db:3306/shop | mysql://root:***@db:3306/shop",
        "mysql://root:s3c:r@t@db:3306/shop | mysql://root:***@db:3306/shop",
        "mysql://root:s3/cret@db:3306/shop | mysql://root:***@db:3306/shop",
        "redis://:s3cret@cache | redis://:***@cache",
        "jdbc:mysql://a:1,b:2/shop?user=x&password=s3cret&useSSL=false"
            + " | jdbc:mysql://a:1,b:2/shop?user=x&password=***&useSSL=false",
        "jdbc:x://h;Password=s3cret;accessKeyId=s3cret | jdbc:x://h;Password=***;accessKeyId=***",
        "set x = 1 where my_password = 's3''cr\\'et' and b = 2"
            + " | set x = 1 where my_password = '***' and b = 2",
        "create user x identified by 's3cret' | create user x identified by '***'",
        "SET PASSWORD FOR x = 's3cret' | SET PASSWORD FOR x = '***'",
        "alter role x password 's3cret' | alter role x password '***'",
        "select password('s3cret') | select password('***')",
        "{\"createUser\": \"x\", \"pwd\": \"s3cret\", \"roles\": []}"
            + " | {\"createUser\": \"x\", \"pwd\": \"***\", \"roles\": []}",
        "GET /login?token=s3cret&a=b | GET /login?token=***&a=b",
      })
  void secretsAreTakenOut(String text, String expected) {
    assertThat(without(text, Kind.STATEMENT)).isEqualTo(expected);
    assertThat(without(text, Kind.CONNECTION)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "select * from users where password = ? and name = ?",
        "update users set password=?, name=? where id = ?",
        "mysql://db:3306/shop",
        "mongodb://a:27017,b:27017/shop?replicaSet=x",
        "http://host:80/a/@me",
        "root@db:3306",
        "com.shop.PasswordService/check",
        "select a from b where c = '=:@'",
      })
  void whatIsNoneStays(String text) {
    assertThat(without(text, Kind.CONNECTION)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"root:s3cret@tcp(db:3306)/shop, root:***@tcp(db:3306)/shop"})
  void aConnectionNeedsNoScheme(String text, String expected) {
    assertThat(without(text, Kind.CONNECTION)).isEqualTo(expected);
    assertThat(without(text, Kind.STATEMENT)).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"v1/token:revoke", "password 'a'", "Token(x)", "a?b=c"})
  void aNameIsNoStatement(String text) {
    assertThat(without(text, Kind.NAME)).isEqualTo(text);
  }

  @Test
  void aNameMayBeAUrl() {
    assertThat(without("GET http://a:b@c/?token=d&e=f", Kind.NAME))
        .isEqualTo("GET http://a:***@c/?token=***&e=f");
  }

  @Property
  void anyTextIsTaken(@ForAll String text, @ForAll Kind kind) {
    assertThat(without(text, kind)).isNotNull();
  }
}
