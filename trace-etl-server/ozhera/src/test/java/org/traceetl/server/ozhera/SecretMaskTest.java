package org.traceetl.server.ozhera;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.server.ozhera.SecretMask.Kind;

class SecretMaskTest {
  private static String without(String text, Kind kind) {
    byte[] bytes = ("<" + text + ">").getBytes(UTF_8);
    SecretMask secrets = new SecretMask();
    int written = secrets.write(bytes, 1, bytes.length - 2, kind);
    return written == SecretMask.UNCHANGED ? text : new String(secrets.buffer(), 0, written, UTF_8);
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
        "redis://:s3#cret@cache | redis://:***@cache",
        "redis://:1/2@cache | redis://:***@cache",
        "mysql://root:s3?cret@db:3306 | mysql://root:***@db:3306",
        "mongodb://u:s3'cr\"et@h,i:1/?x=y@z | mongodb://u:***@h,i:1/?x=y@z",
        "jdbc:mysql://a:1,b:2/shop?user=x&password=s3cret&useSSL=false"
            + " | jdbc:mysql://a:1,b:2/shop?user=x&password=***&useSSL=false",
        "jdbc:mysql://db:3306/shop?user=a@b&password=s3cret"
            + " | jdbc:mysql://db:3306/shop?user=a@b&password=***",
        "jdbc:x://h;Password=s3cret;accessKeyId=s3cret | jdbc:x://h;Password=***;accessKeyId=***",
        "https://h/c?sv=1&sig=s3%2Bcret%3D | https://h/c?sv=1&sig=***",
        "http://h/?next=%2Fa%3Ftoken%3Ds3cret | http://h/?next=%2Fa%3Ftoken%3D***",
        "Account=a;AccountKey=s3cret==;Suffix=b | Account=a;AccountKey=***;Suffix=b",
        "db.pass=s3cret&dbpass=s3cret&x=y | db.pass=***&dbpass=***&x=y",
        "/?user[password]=s3cret&a=b | /?user[password]=***&a=b",
        "GET /login?token=s3cret&a=b | GET /login?token=***&a=b",
      })
  void secretsAreTakenOut(String text, String expected) {
    assertThat(without(text, Kind.STATEMENT)).isEqualTo(expected);
    assertThat(without(text, Kind.CONNECTION)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "mysql://root:s3 cret@db:3306/shop | mysql://root:***@db:3306/shop",
        "mysql://root:1/2@db:3306/shop | mysql://root:***@db:3306/shop",
        "root:s3cret@tcp(db:3306)/shop?proxy=http://h | root:***@tcp(db:3306)/shop?proxy=http://h",
        "host=h password=s3 cret user=x | host=h password=*** user=x",
        "Server=h;Password=\"s3;x=cret\";Database=d | Server=h;Password=\"***\";Database=d",
        "Server=h;PWD={s3;x=cret};Database=d | Server=h;PWD={***};Database=d",
        "h:6379,password=s3,cret,ssl=True | h:6379,password=***,ssl=True",
      })
  void aConnectionMayHaveBlanksAndNoScheme(String text, String expected) {
    assertThat(without(text, Kind.CONNECTION)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "set x = 1 where my_password = 's3''cret' and b = 2"
            + " | set x = 1 where my_password = '***' and b = 2",
        "create user x identified by 's3cret' | create user x identified by '***'",
        "~create user x IDENTIFIED BY'\ns3cret' require ssl~"
            + " | create user x IDENTIFIED BY'***' require ssl",
        "~identified\n\tby\ts3cret;~ | ~identified\n\tby\t***~",
        "identified\\nby\\ns3cret | identified\\nby\\n***",
        "SET PASSWORD FOR x = 's3cret' | SET PASSWORD FOR x = '***'",
        "~/* a */\nset password\n=\n's3cret'~ | ~/* a */\nset password\n=\n'***~",
        "set @password := 's3cret' | set @password := '***'",
        "where password != 's3cret' or token<>'s3cret' | where password != '***' or token<>'***'",
        "where token like 's3cret' | where token like '***'",
        "where token in ('s3cret', ?, \"s3cret\") | where token in ('***', ?, \"***\")",
        "alter role x password 's3cret' | alter role x password '***'",
        "select PASSWORD ('s3cret') | select PASSWORD ('***')",
        "insert into u (name, pwd) values ('?', 's3cret')"
            + " | insert into u (name, pwd) values ('?', '***')",
        "where pwd = 12345678 and a = 1 | where pwd = *** and a = 1",
        "where token = 's3cret | where token = '***",
        // Where the value ends is open: nothing behind it is kept.
        "where a = 'x\\'y' and pwd = 's3cret' | where a = '***",
        "~# it's\nwhere pwd = 's3cret'~ | ~# it'***~",
        "alter role x password $$s3cret$$ | alter role x password $$***",
      })
  void aStatementWithANameOfASecretLosesWhatIsInQuotes(String text, String expected) {
    assertThat(without(text, Kind.STATEMENT)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "{\"createUser\": \"x\", \"pwd\": \"s3\\\"cret\", \"roles\": []}"
            + " | {\"createUser\": \"x\", \"pwd\": \"***\", \"roles\": []}",
        "{\"a\": \"{\\\"password\\\": \\\"s3cret\\\", \\\"b\\\": 1}\"}"
            + " | {\"a\": \"{\\\"password\\\": \\\"***\\\", \\\"b\\\": 1}\"}",
        "~{\n\"pwd\"\n:\n\"s3cret\"\n}~ | ~{\n\"pwd\"\n:\n\"***\"\n}~",
        "{\"filter\": {\"token\": {\"$in\": [\"s3cret\"]}}, \"limit\": 1}"
            + " | {\"filter\": {\"token\": ***",
        "{\"filter\": {\"token\": \"?\"}} | {\"filter\": {\"token\": \"?\"}}",
      })
  void jsonLosesTheValuesOfSuchNames(String text, String expected) {
    assertThat(without(text, Kind.STATEMENT)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "mysql://db:3306/shop",
        "mongodb://a:27017,b:27017/shop?replicaSet=x",
        "root@db:3306",
        "com.shop.PasswordService/check",
        "select a from b where c = '=:@'",
      })
  void whatIsNoneStays(String text) {
    assertThat(without(text, Kind.CONNECTION)).isEqualTo(text);
    assertThat(without(text, Kind.STATEMENT)).isEqualTo(text);
    assertThat(without(text, Kind.NAME)).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "select * from users where password = ? and name = ?",
        "update users set password=?, name=? where id = ?",
        "insert into users (name, password) values (?, ?)",
        "select a from b where c = 'it\\'s' -- d's",
        "root:s3cret@tcp(db:3306)/shop",
      })
  void aStatementWithoutSecretsStays(String text) {
    assertThat(without(text, Kind.STATEMENT)).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"v1/token:revoke", "password 'a'", "Token(x)", "a?b=c", "http://host:80/a/@me"})
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
