package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.traceetl.proto.thrift.ozhera.TKind;
import org.traceetl.proto.thrift.ozhera.TStatus;
import org.traceetl.server.window.SealedWindow;

/** A secret is in no label and no document, whatever it looks like and wherever a text is cut. */
class OzheraSecretsTest {
  private static final String TEN = "aaaaaaaaa ";

  /** A text with a secret in it. */
  private record Form(String before, UnaryOperator<String> written, String behind) {
    String with(String secret) {
      return before + written.apply(secret) + behind;
    }
  }

  private static Form raw(String before, String behind) {
    return new Form(before, UnaryOperator.identity(), behind);
  }

  private static Form sql(String before, String behind) {
    return new Form(before + "'", secret -> secret.replace("'", "''"), "'" + behind);
  }

  private static Form json(String before, String behind) {
    return new Form(before + "\"", OzheraSecretsTest::escaped, "\"" + behind);
  }

  private static String escaped(String text) {
    return text.replace("\\", "\\\\").replace("\"", "\\\"");
  }

  /** In a path or a method. */
  private static final List<Form> NAMES =
      List.of(
          raw("GET http://user:", "@host/path"),
          raw("GET /login?token=", "&a=b"),
          raw("/users;access_key=", ";a=b HTTP/1.1"),
          raw("/login?user[password]=", ""));

  private static final List<Form> CONNECTIONS =
      List.of(
          raw("mysql://root:", "@db:3306/shop"),
          raw("jdbc:mysql://root:", "@a:1,b:2/shop?useSSL=false"),
          raw("mongodb://:", "@h/db?authSource=admin"),
          raw("root:", "@tcp(db:3306)/shop?charset=utf8"),
          raw("jdbc:mysql://db:3306/shop?user=a@b&password=", "&useSSL=false"),
          raw("Server=db;Uid=root;Pwd=", ";Database=shop"),
          raw("host=db password=", " user=root"),
          raw("AccountName=a;AccountKey=", "==;EndpointSuffix=b"));

  private static final List<Form> STATEMENTS =
      List.of(
          sql("create user x identified by ", " require ssl"),
          sql("create user x\nIDENTIFIED\n\tBY\n", ""),
          sql("create user x identified\\nby\\n", "\\nrequire ssl"),
          sql("alter user x identified by", ";"),
          new Form("alter user x identified by ", OzheraSecretsTest::bare, " account lock"),
          sql("/* it's */ SET PASSWORD FOR 'x'@'%' = ", ""),
          sql("\nset password = ", ""),
          sql("SET @password := ", ", @b = 2"),
          sql("select * from u where password != ", " and a = 1"),
          sql("select * from u where name = 'it\\'s' and password = ", " and a = 1"),
          sql("select * from u where token like ", " or b <> 'c'"),
          sql("select * from u where `token` in ('a', ", ", 'b')"),
          sql("select PASSWORD (", ")"),
          sql("insert into u (name, password) values ('tom', ", ", 'x')"),
          sql("update u set db_pass=", ", name='x'"),
          new Form("update u set pwd = ", OzheraSecretsTest::bare, " where id = 1"),
          raw("load data 'http://user:", "@host/x'"),
          json("{\"createUser\": \"x\", \"pwd\": ", ", \"roles\": []}"),
          json("{\"find\": \"x\",\n\"filter\": {\"token\"\n:\n", "}}"),
          json("{\"filter\": {\"token\": {\"$in\": [\"a\", ", "]}}, \"limit\": 1}"),
          new Form(
              "{\"body\": \"{\\\"password\\\":\\\"",
              secret -> escaped(escaped(secret)),
              "\\\"}\"}"));

  private static String bare(String secret) {
    return secret.replaceAll("[^a-z0-9]", "x");
  }

  /** Of a letter, so that it is no port, and then all but what ends it in each of the forms. */
  @Provide
  Arbitrary<String> secrets() {
    return Arbitraries.strings()
        .withCharRange('!', '~')
        .excludeChars('=', '@')
        .ofMinLength(7)
        .ofMaxLength(30)
        .map(text -> "s" + text);
  }

  @Provide
  Arbitrary<Form> names() {
    return Arbitraries.of(NAMES);
  }

  @Provide
  Arbitrary<Form> connections() {
    return Arbitraries.of(CONNECTIONS);
  }

  @Provide
  Arbitrary<Form> statements() {
    return Arbitraries.of(STATEMENTS);
  }

  @Property(tries = 300)
  void noNameHasOne(
      @ForAll("names") Form form,
      @ForAll("secrets") String secret,
      @ForAll @IntRange(max = 110) int at) {
    String name = padding(at) + form.with(secret);
    assertHidden(form, secret, name, TKind.SERVER, "http.method", "GET");
    assertHidden(
        form,
        secret,
        "call",
        TKind.CLIENT,
        "rpc.system",
        "dubbo",
        "rpc.service",
        name,
        "rpc.method",
        name);
    assertHidden(
        form,
        secret,
        name,
        TKind.PRODUCER,
        "messaging.system",
        "rocketmq",
        "messaging.destination",
        name);
  }

  @Property(tries = 300)
  void noConnectionHasOne(@ForAll("connections") Form form, @ForAll("secrets") String secret) {
    String text = form.with(secret);
    assertHidden(
        form,
        secret,
        "call",
        TKind.CLIENT,
        "db.system",
        "mysql",
        "db.connection_string",
        text,
        "db.name",
        text);
    assertHidden(
        form, secret, "call", TKind.CLIENT, "db.system", "mongodb", "db.connection_string", text);
  }

  @Property(tries = 600)
  void noStatementHasOne(
      @ForAll("statements") Form form,
      @ForAll("secrets") String secret,
      @ForAll @IntRange(max = 210) int at) {
    boolean isJson = form.before().startsWith("{");
    String text = isJson ? form.with(secret) : padding(at) + form.with(secret);
    for (String system : List.of("mysql", "mongodb")) {
      assertHidden(form, secret, "call", TKind.CLIENT, "db.system", system, "db.statement", text);
    }
  }

  @Property(tries = 50)
  void noCommandHasOne(@ForAll("secrets") String secret) {
    for (String blank : List.of(" ", "\t", "\n", "\r\n", "\\n", "  ")) {
      Form form = raw("AUTH" + blank, "");
      assertHidden(
          form,
          secret,
          "call",
          TKind.CLIENT,
          "db.system",
          "redis",
          "db.statement",
          form.with(secret));
    }
  }

  private static String padding(int length) {
    return TEN.repeat(length / TEN.length()) + " ".repeat(length % TEN.length());
  }

  /** No five characters of the secret, as it is written there, are shown. */
  private static void assertHidden(
      Form form, String secret, String name, TKind kind, String... attributes) {
    byte[] message =
        OzheraMessage.of(
            "shop", "10.0.0.1", new String[0], name, kind, TStatus.ERROR, 1_000, attributes);
    SealedWindow window = OzheraSpansTest.window(message);
    assertThat(window.documents()).hasSize(1);
    String shown = OzheraSpansTest.series(window) + " " + window.documents();
    String written = form.written().apply(secret);
    List<String> pieces =
        IntStream.rangeClosed(0, written.length() - 5)
            .mapToObj(i -> written.substring(i, i + 5))
            .filter(piece -> !piece.equals("xxxxx"))
            .toList();
    assertThat(pieces).as(shown).noneMatch(shown::contains);
  }
}
